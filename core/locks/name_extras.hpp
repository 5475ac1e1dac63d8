// What only a few names have besides holders and waiters: a value (S36), and quorum timers (S8, S9,
// S24).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/locks/command.hpp"

namespace mortise::core {

struct LockValue {
    std::string bytes;
    std::uint64_t version = 0;  // grows with every write, as long as there is a value
    bool dirty = false;         // an exclusive hold was lost since it was declared consistent

    friend bool operator==(const LockValue&, const LockValue&) = default;
};

// A quorum timer: a time that a quorum counts down, and the hold that it belongs to, if any.
struct Closure {
    // `broken`: the hold was broken, and its node may rely on it for as long as the renewal at
    // `since` allowed. `era`: no session opens (Eras). The other kinds are the time limits of the
    // hold. A hold has at most one of each kind.
    enum class Kind : std::uint8_t { broken, min_hold, max_hold, lock_delay, era };

    ClosureId id;
    Kind kind = Kind::broken;
    OperationId hold;
    LogIndex since;
    std::uint32_t time_ms = 0;
    std::uint32_t rho_ppm = 0;

    friend bool operator==(const Closure&, const Closure&) = default;
};

// The timers of a hold are numbered from Grant::closures on.
[[nodiscard]] constexpr ClosureId closure_of(ClosureId first, Closure::Kind kind) {
    return ClosureId{first.raw() + static_cast<std::uint64_t>(kind) - 1};
}
constexpr std::uint64_t closures_of_a_hold = 3;

struct NameExtras {
    std::optional<LockValue> value;
    std::vector<Closure> closures;  // oldest first

    [[nodiscard]] bool is_empty() const { return !value && closures.empty(); }
};

}  // namespace mortise::core
