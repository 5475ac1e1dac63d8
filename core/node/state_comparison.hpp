// The comparison of replicas: at intervals the leader logs a checksum of its state as of some
// index, and every node compares its own checksum of that index. A node whose checksum differs has
// an error somewhere before that index, and stops (P5).
#pragma once

#include <deque>

#include "core/codec/state_sum_codec.hpp"
#include "core/node/node_options.hpp"
#include "core/raft/entry.hpp"

namespace mortise::core {

class StateComparison {
public:
    explicit StateComparison(const NodeOptions& options) : options_{options} {}

    // A checksum as of this index is kept.
    [[nodiscard]] bool is_due(LogIndex applied) const {
        return applied.raw() % options_.compare_every == 0;
    }
    void keep(const StateSum& own);
    // The state was replaced.
    void forget_own() { sums_.clear(); }
    // Throws if the entry, which has a leader's checksum, differs from this node's own.
    void compare(const Entry& entry, LogIndex applied);

    // For a leader: the newest checksum, unless the log has one of that index; otherwise null.
    [[nodiscard]] const StateSum* to_propose() const;
    void proposed(const StateSum& sum) { proposed_ = sum.at; }
    // Each checksum is proposed once in a term.
    void begin_term() { proposed_ = {}; }

private:
    const NodeOptions& options_;
    std::deque<StateSum> sums_;  // of this node's own state
    LogIndex proposed_;          // the index of the newest one in the log, as far as known
};

}  // namespace mortise::core
