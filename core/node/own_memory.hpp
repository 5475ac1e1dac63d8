// How a node that may have forgotten entries recovers: it asks its leader for a linearizable read.
// When its log has everything up to the index of the answer, it has all that it acknowledged before
// and that was committed (docs/decisions/0095).
#pragma once

#include "core/node/node_options.hpp"
#include "core/raft/raft.hpp"

namespace mortise::core {

class OwnMemory {
public:
    OwnMemory(const NodeOptions& options, Raft& raft) : options_{options}, raft_{raft} {}

    // Asks, again after a time, and at once when there is another leader.
    void recover(Instant now);
    // Returns whether it was the answer to this question.
    bool granted(ReadId id, LogIndex index);
    [[nodiscard]] Instant deadline() const;

private:
    const NodeOptions& options_;
    Raft& raft_;
    std::uint64_t asked_ = 0;
    ReadId question_;  // not set: none is open
    std::optional<NodeId> leader_;
    Instant ask_at_ = Instant::never();
};

}  // namespace mortise::core
