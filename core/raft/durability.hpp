// What an acknowledgement of this cluster means (docs/decisions/0095).
#pragma once

#include <cstdint>

namespace mortise::core {

enum class Durability : std::uint8_t {
    synced,      // a majority of disks has it
    replicated,  // a majority of memories has it, and the disks follow
};

// What this node's disk may lack of what the node acknowledged. Synced, as terms and votes are.
enum class Unsynced : std::uint8_t {
    nothing,    // what was acknowledged is synced
    entries,    // the newest entries may be in the page cache alone
    forgotten,  // such entries may be lost: the node gives no vote until it has recovered
};

}  // namespace mortise::core
