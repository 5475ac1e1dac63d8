// The writes to the disk of the log.
#pragma once

#include <optional>
#include <vector>

#include "core/raft/entry.hpp"
#include "core/raft/log_base.hpp"

namespace mortise::core {

// The values that must survive a restart besides the log. The vote was given in that term.
struct HardState {
    Term term;
    NodeId voted_for;

    friend constexpr bool operator==(const HardState&, const HardState&) = default;
};

// One atomic, synced write: all of it is durable or none. Writes are made in the order of their
// ids.
struct Write {
    WriteId id;
    // Executed first: all entries are removed, and the log begins here. The state on disk is at
    // this entry.
    std::optional<LogBase> reset;
    std::optional<HardState> hard_state;
    std::optional<LogIndex> truncate_from;  // remove this index and all above, before appending
    std::vector<Entry> append;
};

}  // namespace mortise::core
