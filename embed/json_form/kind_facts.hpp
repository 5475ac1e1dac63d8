// What names of each kind tell besides their holders and waiters, for JSON and for people.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <mortise/enums.hpp>
#include <mortise/info.hpp>

namespace mortise::json_form {

struct KindFacts {
    using Value = std::variant<std::uint64_t, bool>;

    NameKind kind = NameKind::lock;
    // The key of its object in the JSON of the name: the kind, except for semaphores.
    std::string_view key{};
    std::vector<std::pair<std::string_view, Value>> values{};  // of that object
    std::string words{};
};

inline KindFacts facts_of(const SemaphoreLimit& limit) {
    return {NameKind::semaphore,
            "limit",
            {{"permits", limit.permits}, {"version", limit.version}},
            "semaphore: " + std::to_string(limit.permits) + " permits, version " +
                std::to_string(limit.version) + " of the limit"};
}

inline KindFacts facts_of(const LatchCount& latch) {
    return {NameKind::latch,
            "latch",
            {{"remaining", latch.remaining}},
            "latch: " + std::to_string(latch.remaining) + " remaining to be counted"};
}

inline KindFacts facts_of(const BarrierPhase& phase) {
    return {NameKind::barrier,
            "barrier",
            {{"parties", phase.parties},
             {"arrived", phase.arrived},
             {"phase", phase.number},
             {"broken", phase.is_broken}},
            "barrier: " + std::to_string(phase.arrived) + " of " + std::to_string(phase.parties) +
                " have arrived in phase " + std::to_string(phase.number) +
                (phase.is_broken ? ", broken" : "")};
}

// Empty for a lock. Otherwise a name is of one kind, the first one.
inline std::vector<KindFacts> facts_of(const LockInfo& lock) {
    std::vector<KindFacts> all;
    if (lock.limit) all.push_back(facts_of(*lock.limit));
    if (lock.latch) all.push_back(facts_of(*lock.latch));
    if (lock.barrier) all.push_back(facts_of(*lock.barrier));
    return all;
}

inline NameKind kind_of(const LockInfo& lock) {
    const auto facts = facts_of(lock);
    return facts.empty() ? NameKind::lock : facts.front().kind;
}

}  // namespace mortise::json_form
