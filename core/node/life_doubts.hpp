// What peers say about this node's own generation: that its directory was rolled back, or that a
// copy of it is in use. The word of one member may be an error and is not enough to give a
// directory up. Until there is a second one this node takes no part in elections
// (docs/decisions/0029).
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "core/base/ids.hpp"
#include "core/base/instant.hpp"
#include "core/raft/configuration.hpp"

namespace mortise::core {

class LifeDoubts {
public:
    enum class Verdict {
        unproven,
        outlived,  // by a later start: start with an empty directory
        copied,    // another node uses a copy now: stop
    };

    // A statement counts for this long after it was last repeated.
    explicit LifeDoubts(Nanoseconds lasts) : lasts_{lasts} {}

    // A peer said hello. A statement that it makes after that is a new one.
    void heard_hello(NodeId peer) { ++hellos_[peer]; }
    // The peer made the statement on an established connection. True if it is its first one.
    bool said(NodeId by, Instant now);
    // The peer made it in its answer to a hello of this node, which counts as a new hello of that
    // peer. True if it is its first one.
    bool refused(NodeId by, bool as_copy, Instant now);
    // Only statements of members other than `self` count: two members must agree, or the only other
    // member must say it twice, before the cluster has accepted this run. It may have said so when
    // there were more members.
    [[nodiscard]] Verdict judge(const Configuration& configuration, NodeId self,
                                bool is_accepted = false) const;
    // Forgets statements that are too old.
    void advance(Instant now);
    [[nodiscard]] bool is_empty() const { return words_.empty(); }
    [[nodiscard]] Instant deadline() const;
    // The members whose statements count, in ascending order, and the time of the first statement.
    [[nodiscard]] std::vector<NodeId> by() const;
    [[nodiscard]] Instant since() const;

private:
    struct Word {
        Instant since;
        Instant until;
        std::uint64_t hello = 0;  // the number of its hellos before its first statement
        bool is_repeated = false;
        bool is_copied = false;
    };

    bool add(NodeId by, std::uint64_t hello, bool is_copied, Instant now);

    Nanoseconds lasts_;
    std::map<NodeId, std::uint64_t> hellos_;
    std::map<NodeId, Word> words_;
};

}  // namespace mortise::core
