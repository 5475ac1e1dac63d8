// The holder's part of its session's lease (S2, S3). It starts when the renewal *with that number*
// was first sent, on the clock that counts suspend, and is trusted for ttl*(1-rho) less a margin.
// If it were measured from the answer, or from the newest request instead of the one that was
// applied, it would be longer than the cluster's.
#pragma once

#include <cstdint>
#include <map>

#include "core/base/instant.hpp"

namespace mortise::core {

class OwnLease {
public:
    OwnLease(std::uint32_t ttl_ms, std::uint32_t rho_ppm);

    // Returns the number of a request that is about to be sent. Read the clock before its first
    // byte is sent.
    std::uint64_t next_request(Instant boot);
    // The request with that number was sent before, at `boot`: the opening of the session is
    // request 0.
    void sent(std::uint64_t number, Instant boot);
    // The cluster applied the renewal that names `number`.
    void applied(std::uint64_t number);

    // The newest number of a request.
    [[nodiscard]] std::uint64_t newest() const { return newest_; }
    // The lease is trusted until then. Before any renewal was applied: the distant past.
    [[nodiscard]] Instant valid_until() const { return valid_until_; }
    [[nodiscard]] bool is_valid(Instant boot) const { return boot < valid_until_; }

private:
    Nanoseconds trust_;
    std::map<std::uint64_t, Instant> sent_;  // by number, the ones that are not applied yet
    std::uint64_t newest_ = 0;
    Instant valid_until_;
};

}  // namespace mortise::core
