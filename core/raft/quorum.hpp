// Majorities, also those of joint configurations. Every decision by majority uses this header.
#pragma once

#include <algorithm>
#include <array>
#include <functional>
#include <limits>
#include <span>
#include <vector>

#include "core/base/instant.hpp"
#include "core/raft/configuration.hpp"

namespace mortise::core {

constexpr std::size_t majority_of(std::size_t members) {
    return members / 2 + 1;
}

static_assert(majority_of(1) == 1 && majority_of(2) == 2 && majority_of(3) == 2);
static_assert(majority_of(4) == 3 && majority_of(5) == 3);

// The value of a member about which nothing is known.
template <class Value>
constexpr Value nothing_reached() {
    return {};
}
template <>
constexpr Instant nothing_reached<Instant>() {
    return {std::numeric_limits<std::int64_t>::min()};
}

// True if `agrees(id)` holds for a majority of the voters, and of the outgoing ones while joint.
// Without voters there is no agreement, and nobody agrees for a member that another incarnation
// replaces.
template <class Agrees>
bool has_quorum(const Configuration& configuration, const Agrees& agrees) {
    const auto carries = [&](const std::vector<Member>& members) {
        const auto votes = std::ranges::count_if(members, [&](const Member& member) {
            return configuration.is_current(member) && agrees(member.id);
        });
        return static_cast<std::size_t>(votes) >= majority_of(members.size());
    };
    return carries(configuration.voters) &&
           (!configuration.is_joint() || carries(configuration.outgoing));
}

// The greatest value that a quorum has reached, where `reached(id)` is the value of a voter: with
// match indexes this is the commit index, with times of contact the time of the last contact with a
// majority. There must be at least one voter.
template <class Reached>
auto quorum_value(const Configuration& configuration, const Reached& reached) {
    const auto agreed = [&](const std::vector<Member>& members) {
        using Value = std::decay_t<decltype(reached(NodeId{}))>;
        // This runs in each step of a leader, so it allocates nothing in an ordinary cluster.
        std::array<Value, 16> few;
        std::vector<Value> many(members.size() > few.size() ? members.size() : 0);
        const auto values = many.empty() ? std::span{few}.first(members.size()) : std::span{many};
        std::ranges::transform(members, values.begin(), [&](const Member& member) {
            return configuration.is_current(member) ? reached(member.id) : nothing_reached<Value>();
        });
        const auto place =
            values.begin() + static_cast<std::ptrdiff_t>(majority_of(values.size())) - 1;
        std::ranges::nth_element(values, place, std::greater<>{});
        return *place;
    };
    auto value = agreed(configuration.voters);
    if (configuration.is_joint()) value = std::min(value, agreed(configuration.outgoing));
    return value;
}

}  // namespace mortise::core
