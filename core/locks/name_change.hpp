// What happened to the holders of a name or to its value, for observers (S46).
#pragma once

#include <cstdint>
#include <string>

#include "core/locks/command.hpp"
#include "core/locks/outcome.hpp"

namespace mortise::core {

struct NameChange {
    enum class Kind : std::uint8_t {
        granted,
        converted,  // `mode` and `token` are the new ones, and the hold is not cached any more
        published,  // a cached grant became an ordinary one, with this token and owner (S45)
        released,   // the hold ended as `how` says, whether or not it still keeps the name closed
        value_set,
        value_removed,
        value_dirty,       // the exclusive hold was lost, and may have left the value half changed
        value_consistent,  // it is not dirty any more
    };

    Kind kind = Kind::granted;
    LockMode mode = LockMode::exclusive;
    Predecessor how = Predecessor::none;  // released
    bool dirty = false;                   // value_set
    std::uint32_t cached_tokens = 0;      // granted; as in Grant
    std::string name;
    OperationId hold;  // the hold that changed, or that has written the value
    NodeId node{};     // of its session; not set if that had ended before
    FencingToken token;
    LogIndex since;  // of its grant
    LogIndex asked;  // granted: of the request; otherwise not set
    std::string label;
    LockerTag locker;
    Slots slots;                // of permits; otherwise empty
    std::string bytes;          // value_set
    std::uint64_t version = 0;  // value_set; as in LockValue

    friend bool operator==(const NameChange&, const NameChange&) = default;
};

}  // namespace mortise::core
