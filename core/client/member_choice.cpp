#include "core/client/member_choice.hpp"

#include <algorithm>

namespace mortise::core {

namespace {

constexpr Nanoseconds pause_min = std::chrono::milliseconds{50};
constexpr std::size_t doublings_max = 5;  // 1.6 s

}  // namespace

MemberChoice::MemberChoice(std::size_t members, Prng prng)
    : members_{members}, prng_{prng}, place_{static_cast<std::size_t>(prng_.below(members))} {}

std::optional<std::size_t> MemberChoice::take_due(Instant now) {
    if (now < due_) return std::nullopt;
    due_ = Instant::never();
    return place_;
}

// Clients that lost their members at the same time do not come back at the same time.
void MemberChoice::failed(Instant now) {
    place_ = (place_ + 1) % members_;
    const auto rounds = ++failures_ / members_;
    const auto longest = pause_min * (1U << std::min(rounds, doublings_max));
    const Nanoseconds pause{prng_.between(longest.count() / 2, longest.count())};
    due_ = now + (failures_ % members_ == 0 ? pause : pause / 8);
}

}  // namespace mortise::core
