#include "core/leases/own_lease.hpp"

#include <algorithm>
#include <limits>

#include "core/leases/lease_times.hpp"

namespace mortise::core {

namespace {

// Requests that were never applied are kept as long as an answer may come; the oldest is the least
// useful.
constexpr std::size_t requests_max = 256;

}  // namespace

OwnLease::OwnLease(std::uint32_t ttl_ms, std::uint32_t rho_ppm)
    : trust_{holder_trust(ttl_ms, rho_ppm)},
      valid_until_{std::numeric_limits<std::int64_t>::min()} {}

std::uint64_t OwnLease::next_request(Instant boot) {
    ++newest_;
    sent(newest_, boot);
    return newest_;
}

void OwnLease::sent(std::uint64_t number, Instant boot) {
    sent_.emplace(number, boot);  // the first time counts: sending it again changes nothing
    if (sent_.size() > requests_max) sent_.erase(sent_.begin());
}

void OwnLease::applied(std::uint64_t number) {
    const auto named = sent_.find(number);
    if (named == sent_.end()) return;
    valid_until_ = std::max(valid_until_, named->second + trust_);
    sent_.erase(sent_.begin(), sent_.upper_bound(number));
}

}  // namespace mortise::core
