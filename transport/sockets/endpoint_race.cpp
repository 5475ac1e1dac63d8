#include "transport/sockets/endpoint_race.hpp"

#include <algorithm>
#include <chrono>

namespace mortise::transport {

std::optional<EndpointRace::Begin> EndpointRace::take_due(core::Instant now) {
    if (begun_ == known_ || now < due_) return std::nullopt;
    Begin begin{begun_++, std::nullopt};
    // The oldest attempt is the least likely to succeed.
    if (open_.size() >= open_max) {
        begin.instead_of = open_.front();
        open_.pop_front();
    }
    open_.push_back(begin.place);
    due_ = now + pause();
    return begin;
}

// With little patience, or many endpoints, the pauses are shorter: every endpoint is tried within
// the first half of the time, so that the last one has the other half.
core::Nanoseconds EndpointRace::pause() const {
    constexpr core::Nanoseconds usual = std::chrono::milliseconds{250};
    constexpr core::Nanoseconds least = std::chrono::milliseconds{10};
    const auto others = static_cast<core::Nanoseconds::rep>(std::max<std::size_t>(known_, 2));
    return std::clamp(patience_ / 2 / others, least, usual);
}

void EndpointRace::failed(std::size_t place) {
    if (std::erase(open_, place) != 0) due_ = {};
}

}  // namespace mortise::transport
