#include "core/client/member_balance.hpp"

#include <algorithm>

namespace mortise::core {

void MemberBalance::settled(Instant now) {
    doublings_ = 0;
    pause(now);
}

// Between half and all of it.
void MemberBalance::pause(Instant now) {
    if (members_ < 2) return;
    const auto longest = pause_min_ * (1U << static_cast<unsigned>(doublings_));
    due_ = now + Nanoseconds{prng_.between(longest.count() / 2, longest.count())};
}

std::size_t MemberBalance::take_due(std::size_t own) {
    due_ = Instant::never();
    return (own + 1 + static_cast<std::size_t>(prng_.below(members_ - 1))) % members_;
}

// A quarter of difference is no reason: the numbers change while clients come and go.
bool MemberBalance::is_better(const MemberLoad& own, const MemberLoad& other, Instant now) {
    const bool has_place = other.clients < other.places;
    const bool is_less = own.places != 0 && own.clients > other.clients + 1 + other.clients / 4;
    if (has_place && is_less) return true;
    doublings_ = std::min(doublings_ + 1, doublings_max);
    pause(now);
    return false;
}

}  // namespace mortise::core
