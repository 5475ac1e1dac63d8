#include "transport/peers/dial_plan.hpp"

#include <utility>

namespace mortise::transport {

DialTarget DialPlan::next(const PeerAddress& peer, core::Nanoseconds patience,
                          EndpointMemory& memory) {
    const auto unproven = std::exchange(dialled_, std::nullopt);
    // Another endpoint of its address may be the right one.
    if (unproven && !is_proven_) memory.failed(address_, *unproven);
    is_proven_ = false;
    const std::size_t addresses = peer.also.empty() ? 1 : 2;
    const auto number = next_++;
    address_ = number % addresses == 0 ? peer.address : peer.also;
    const bool is_known = last_ && last_->address == address_ && number / addresses % 2 == 0;
    return {address_, is_known ? last_->endpoint : std::nullopt, peer.loopback_only, patience};
}

void DialPlan::proven(const PeerAddress& peer, EndpointMemory& memory) {
    is_proven_ = true;
    if (dialled_) memory.worked(address_, *dialled_);
    last_ = {address_, dialled_};
    next_ = address_ == peer.address ? 0 : 1;
}

}  // namespace mortise::transport
