// What few names have besides holders and waiters: a value (S36), and what keeps them closed (S24).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/locks/command.hpp"

namespace mortise::core {

struct LockValue {
    std::string bytes;
    std::uint64_t version = 0;  // rises with every write, as long as there is a value
    bool dirty = false;         // an exclusive holder was lost since it was vouched for

    friend bool operator==(const LockValue&, const LockValue&) = default;
};

// A time that a quorum counts down, and the hold that it is about: one that was broken, and whose
// node may go on believing in it for as long as the renewal at `since` let it.
struct Closure {
    ClosureId id;
    OperationId hold;
    LogIndex since;
    std::uint32_t time_ms = 0;
    std::uint32_t rho_ppm = 0;

    friend bool operator==(const Closure&, const Closure&) = default;
};

struct NameExtras {
    std::optional<LockValue> value;
    std::vector<Closure> closures;  // oldest first

    [[nodiscard]] bool is_empty() const { return !value && closures.empty(); }
};

}  // namespace mortise::core
