// What waits to be sent to one peer on one lane. Bounded: beyond it something is lost, as the
// network may lose it, and whoever needs it sends it again.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "core/node/message.hpp"
#include "transport/greeting.hpp"
#include "transport/limits.hpp"

namespace mortise::transport {

// The lane a message travels on.
[[nodiscard]] Lane lane_of(const core::PeerMessage& message);

// What fits into one frame there.
constexpr std::size_t frame_words_max(Lane lane) {
    return lane == Lane::forwarding ? forwarding_frame_words_max : peer_frame_words_max;
}

struct OutboxLimits {
    std::size_t bytes_max = std::size_t{16} << 20U;
    std::size_t batch_bytes_max = send_bytes_max;
    std::size_t batch_messages_max = send_messages_max;
};

class Outbox {
public:
    explicit Outbox(Lane lane, OutboxLimits limits = {}) : lane_{lane}, limits_{limits} {}

    // When there is no room, replication drops the entries that wait, all of them, since those
    // behind a gap are of no use, and forwarding refuses the newcomer, all but its renewal.
    void push(core::PeerMessage message);
    // What travels in one call: in order, but votes and renewals first, which are small and urgent.
    // Empty when nothing waits.
    [[nodiscard]] std::vector<core::PeerMessage> take_batch();
    // The connection is over.
    void clear();

    [[nodiscard]] bool empty() const { return urgent_.empty() && waiting_.empty(); }
    [[nodiscard]] std::size_t size() const { return urgent_.size() + waiting_.size(); }
    [[nodiscard]] std::size_t bytes() const { return bytes_; }
    // For want of room; what clear() threw away does not count.
    [[nodiscard]] std::uint64_t dropped() const { return dropped_; }

private:
    struct Waiting {
        core::PeerMessage message;
        std::size_t bytes = 0;
    };
    using Queue = std::deque<Waiting>;

    [[nodiscard]] bool fits(std::size_t bytes) const;
    void push_renewal(const core::Renewal& renewal);
    void drop_entries();
    void drop_all(Queue& queue);
    bool move_to(std::vector<core::PeerMessage>& batch, Queue& from, std::size_t& room);

    Lane lane_;
    OutboxLimits limits_;
    Queue urgent_;  // votes; or, on the forwarding lane, renewals alone
    Queue waiting_;
    std::size_t bytes_ = 0;
    std::uint64_t dropped_ = 0;
};

}  // namespace mortise::transport
