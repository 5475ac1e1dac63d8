// The changes of the machine for the state on disk: its rows, the configuration in force, and the
// entry up to which both contain the log.
#pragma once

#include <vector>

#include "core/locks/row.hpp"
#include "core/raft/configuration.hpp"
#include "core/raft/entry.hpp"

namespace mortise::core {

// Applying all deltas of a node in order to the state at its start gives its machine as of
// `applied` of the last delta.
struct StateDelta {
    LogId applied;
    Configuration configuration;  // in force at `applied`
    std::vector<Row> rows;        // ascending by key, each key once; may be empty
    std::size_t log_bytes = 0;    // the size of the entries since the previous delta
};

}  // namespace mortise::core
