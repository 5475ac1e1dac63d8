// The transfer of a state to a follower whose next entry is purged: what the core asks of whoever
// keeps the state on disk, and what that answers. The leader reads a view of its state, piece by
// piece; the follower writes the pieces beside its own state, and puts them in its place when the
// last one is there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/locks/row.hpp"
#include "core/raft/configuration.hpp"
#include "core/raft/entry.hpp"

namespace mortise::core {

// Leader: the next rows for this peer. Answered by one SnapshotRows, in the order of the questions.
struct SnapshotRead {
    NodeId peer;
    std::optional<std::string> after;  // the last key it was given; empty: open a view, anew
    std::size_t bytes_max = 0;         // of keys and values; one row may be more
    std::uint64_t transfer = 0;        // which one for this peer: its answers carry it
};

// Rows of the view that was opened for `peer`: ascending by key, at least one unless `done`.
struct SnapshotRows {
    NodeId peer;
    LogId last;                        // what the view contains
    Configuration configuration;       // in force there
    std::optional<std::string> after;  // as it was asked for
    std::vector<Row> rows;
    bool done = false;           // no row follows
    std::uint64_t transfer = 0;  // as it was asked for
};

// Follower: a piece of the state that is to take the place of its own. The first one, at position
// 0, drops what an unfinished install has left; the one that is `done` makes the switch. Until then
// the state on disk is the old one.
struct InstallStep {
    std::uint64_t position = 0;
    LogId last;
    Configuration configuration;
    std::vector<Row> rows;
    bool done = false;
};

// One more of the steps that were handed over is not in memory any more; in their order.
struct InstallTaken {};

// The switch is made and durable. A start finds the new state now, and a log that may still be the
// old one: it then begins at `last`.
struct StateInstalled {
    LogId last;
};

}  // namespace mortise::core
