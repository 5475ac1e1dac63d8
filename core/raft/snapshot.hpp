// The transfer of a snapshot to a follower whose next entry is purged: the requests of the core to
// the state store, and the answers. The leader reads a consistent view of its state, piece by
// piece. The follower writes the pieces beside its own state, and replaces it when the last piece
// has arrived.
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

// The leader requests the next rows for this peer. Each request is answered by one SnapshotRows, in
// the order of the requests.
struct SnapshotRead {
    NodeId peer;
    std::optional<std::string> after;  // the last key it received; empty: open a new view
    std::size_t bytes_max = 0;         // of keys and values; a single row may be larger
    std::uint64_t transfer = 0;        // the number of the transfer; its answers have the same
};

// Rows of the view that was opened for `peer`, ascending by key. There is at least one unless
// `done`.
struct SnapshotRows {
    NodeId peer;
    LogId last;                        // the last entry in the view
    Configuration configuration;       // in force there
    std::optional<std::string> after;  // as in the request
    std::vector<Row> rows;
    bool done = false;           // no rows follow
    std::uint64_t transfer = 0;  // as in the request
};

// A piece of the state that will replace that of a follower. The first one, at position 0, drops
// the rows of an unfinished install; the one with `done` replaces the state. Until then the old
// state is in force on disk.
struct InstallStep {
    std::uint64_t position = 0;
    LogId last;
    Configuration configuration;
    std::vector<Row> rows;
    bool done = false;
};

// The store has taken one more step, whose memory is free. There is one such answer for each step,
// in their order.
struct InstallTaken {};

// The new state is in force and durable. After a restart the node finds it, and perhaps still the
// old log, which it then makes begin at `last`.
struct StateInstalled {
    LogId last;
};

}  // namespace mortise::core
