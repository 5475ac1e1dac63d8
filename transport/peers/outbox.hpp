// The messages that wait to be sent to one peer on one lane. The queue is bounded. Beyond that
// messages are lost, as in a network, and their senders repeat them.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "core/node/message.hpp"
#include "transport/wire/greeting.hpp"
#include "transport/wire/message_limits.hpp"

namespace mortise::transport {

// The lane on which a message travels.
[[nodiscard]] Lane lane_of(const core::PeerMessage& message);

// The largest frame on that lane.
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

    // If the queue is full, replication drops all entries that wait in it, since entries after a
    // gap are useless; forwarding rejects the new message, unless it is a renewal.
    void push(core::PeerMessage message);
    // The messages of one call, in order, except that votes and renewals come first, which are
    // small and urgent. Empty if nothing waits.
    [[nodiscard]] std::vector<core::PeerMessage> take_batch();
    // Called when the connection has ended.
    void clear();

    [[nodiscard]] bool empty() const { return urgent_.empty() && waiting_.empty(); }
    [[nodiscard]] std::size_t size() const { return urgent_.size() + waiting_.size(); }
    [[nodiscard]] std::size_t bytes() const { return bytes_; }
    // Messages dropped because the queue was full; clear() does not count.
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
    Queue urgent_;  // votes; on the forwarding lane only renewals
    Queue waiting_;
    std::size_t bytes_ = 0;
    std::uint64_t dropped_ = 0;
};

}  // namespace mortise::transport
