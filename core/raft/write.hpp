// The writes to the disk of the log.
#pragma once

#include <optional>
#include <vector>

#include "core/raft/durability.hpp"
#include "core/raft/entry.hpp"
#include "core/raft/log_base.hpp"

namespace mortise::core {

// The values that must survive a restart besides the log. The vote was given in that term.
struct HardState {
    Term term;
    NodeId voted_for;

    friend constexpr bool operator==(const HardState&, const HardState&) = default;
};

// One atomic write. Writes are made, and reported, in the order of their ids.
struct Write {
    WriteId id;
    // It is reported when it is synced, and with it all writes before it. If not, it only has
    // entries, and is reported when it survives the death of the process.
    bool synced = true;
    std::optional<Unsynced> unsynced;  // the new mark; durable before every later write
    // Executed first: all entries are removed, and the log begins here. The state on disk is at
    // this entry.
    std::optional<LogBase> reset;
    std::optional<HardState> hard_state;
    std::optional<LogIndex> truncate_from;  // remove this index and all above, before appending
    std::vector<Entry> append;
};

}  // namespace mortise::core
