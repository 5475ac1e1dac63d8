// What others say of this node's own life: that its directory was rolled back, or that a copy of it
// is at work. The word of one member is not enough to give a directory up, for it may be a mistake;
// until there is a second one this node takes no part in elections (docs/decisions/0029).
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
        outlived,  // by a later start: begin anew
        copied,    // another one uses a copy now: stop
    };

    // A word counts for so long after it was said last.
    explicit LifeDoubts(Nanoseconds lasts) : lasts_{lasts} {}

    // A peer said hello. What it says after that is not what it said before.
    void heard_hello(NodeId peer) { ++hellos_[peer]; }
    // Said on a connection that is up, or as the answer to this node's own hello, each of which is
    // another one. True when it is the first word of that peer.
    bool said(NodeId by, Instant now);
    bool refused(NodeId by, bool as_copy, Instant now);
    // What counts is what members say, other than `self`: two of them, or the only one there is,
    // twice.
    [[nodiscard]] Verdict judge(const Configuration& configuration, NodeId self) const;
    // Forgets what was said too long ago.
    void advance(Instant now);
    [[nodiscard]] bool is_empty() const { return words_.empty(); }
    [[nodiscard]] Instant deadline() const;

private:
    struct Word {
        Instant until;
        std::uint64_t hello = 0;  // before it was said first
        bool is_repeated = false;
        bool is_copied = false;
    };

    bool add(NodeId by, std::uint64_t hello, bool is_copied, Instant now);

    Nanoseconds lasts_;
    std::map<NodeId, std::uint64_t> hellos_;
    std::map<NodeId, Word> words_;
};

}  // namespace mortise::core
