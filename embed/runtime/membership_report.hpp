// Reports who the members of the cluster are, in the log and as events.
#pragma once

#include <map>
#include <string>

#include "core/raft/configuration.hpp"
#include "embed/host/log_sink.hpp"
#include "embed/threads/event_hub.hpp"
#include <mortise/config.hpp>

namespace mortise::detail {

// For one run of a node, on its core thread.
class MembershipReport {
public:
    // References outlive it.
    MembershipReport(const Config& config, NodeLog& log, EventHub& events)
        : config_{config}, log_{log}, events_{events} {}

    // Is called first. The members and the durability at the start are not reported as changes.
    void begin_with(const core::Configuration& present);
    // The node has formed its cluster.
    void formed();
    void changed(const core::Configuration& present);
    // If this node loses its directory, only its configuration can say who the members are. With a
    // list of itself alone, the next start depends on a call from a member in time.
    void warn_of_missing_peers();

private:
    using Members = std::map<core::NodeId, std::string>;

    [[nodiscard]] static Members members_of(const core::Configuration& present);
    void follow_durability(const core::Configuration& present);

    // the configuration of this node, its log and its subscribers: set by the constructor
    const Config& config_;
    NodeLog& log_;
    EventHub& events_;
    // the members and their addresses as they were reported last: set by begin_with() and changed()
    Members members_;
    // the same in words, and the durability of the cluster
    std::string text_;
    core::Durability durability_ = core::Durability::synced;
};

}  // namespace mortise::detail
