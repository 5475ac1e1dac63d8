// Which endpoints of an address are tried, and when (RFC 8305). A firewall may drop the packets to
// one of them while another one works, so the next attempt begins while the former ones are still
// open: after a moment, or at once when one has failed. Without sockets and clocks.
#pragma once

#include <cstddef>
#include <deque>
#include <optional>

#include "core/base/instant.hpp"

namespace mortise::transport {

class EndpointRace {
public:
    static constexpr std::size_t open_max = 4;  // attempts at a time

    // All attempts together may take that long.
    explicit EndpointRace(core::Nanoseconds patience) : patience_{patience} {}

    // So many more endpoints are known. Their places follow those of the earlier ones.
    void add(std::size_t endpoints) { known_ += endpoints; }
    struct Begin {
        std::size_t place = 0;
        std::optional<std::size_t> instead_of;  // this attempt is given up
    };
    // The attempt that is to begin now. Ask again, until there is none.
    [[nodiscard]] std::optional<Begin> take_due(core::Instant now);
    void failed(std::size_t place);
    // The next attempt would be due, but no more endpoints are known.
    [[nodiscard]] bool wants_more(core::Instant now) const {
        return has_begun_all() && now >= due_;
    }
    [[nodiscard]] bool has_begun_all() const { return begun_ == known_; }
    // All attempts have failed.
    [[nodiscard]] bool is_lost() const { return has_begun_all() && open_.empty(); }
    // When to ask again if no attempt fails before.
    [[nodiscard]] core::Instant due() const { return due_; }

private:
    [[nodiscard]] core::Nanoseconds pause() const;

    core::Nanoseconds patience_;
    std::size_t known_ = 0;
    std::size_t begun_ = 0;
    std::deque<std::size_t> open_;  // in the order in which they were begun
    core::Instant due_;             // long ago: at once
};

}  // namespace mortise::transport
