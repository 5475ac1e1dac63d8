// How nodes that find their peers join a cluster without an operator (docs/decisions/0099): its
// leader adds those that it found, as learners, and a learner that is configured as a voter asks to
// be promoted. Both are the requests of `mortise members`, with the rights of the node that asks.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/agent/call.hpp"
#include "core/node/node_core.hpp"
#include "embed/host/log_sink.hpp"
#include "embed/runtime/found_peers.hpp"
#include <mortise/config.hpp>

namespace mortise::detail {

class OwnJoining {
public:
    using Answered = std::function<void(core::CallAnswer&)>;
    // Nothing is done if a change of the members is in force that is newer than `seen`; if that is
    // not set, the members are looked at first.
    using Request = std::function<void(const core::MembershipGoal& goal, core::LogIndex seen,
                                       Answered answered)>;

    // References outlive it.
    OwnJoining(const Config& config, NodeLog& log, Request request)
        : config_{config}, log_{log}, request_{std::move(request)} {}

    // Requests what is to be done now, one change at a time.
    void look(const core::Raft& raft, const std::vector<FoundPeers::Node>& found);

private:
    [[nodiscard]] const FoundPeers::Node* next_to_add(const core::Raft& raft,
                                                      const std::vector<FoundPeers::Node>& found);
    void request(const core::MembershipGoal& goal, core::LogIndex seen);
    void answered(const core::MembershipGoal& goal, const core::CallAnswer& answer);

    const Config& config_;
    NodeLog& log_;
    Request request_;
    bool is_asking_ = false;
    core::NodeId added_last_;  // or was tried to
};

// Whether the leader adds that node: it is empty, no member has its id, and it was asked after the
// newest change of the members, which is at `changed_at`. An older answer may be
// from before the node was added and removed.
[[nodiscard]] bool is_to_be_added(const FoundPeers::Node& node, const core::Configuration& present,
                                  core::LogId changed_at);

}  // namespace mortise::detail
