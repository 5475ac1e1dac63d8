// The requests of this node's session that are not known to be applied: one stream of sequence
// numbers without gaps (S17, docs/decisions/0039). They are sent in that order. When the leader or
// the connection has changed, and when nothing was applied for too long, they are resent from the
// first one on; if the leader reports a gap, from the request that it expects (go-back-N).
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/agent/agent_request.hpp"
#include "core/base/ids.hpp"
#include "core/base/instant.hpp"
#include "core/base/ring.hpp"
#include "core/codec/command_codec.hpp"
#include "core/locks/command.hpp"

namespace mortise::core {

class SendWindow {
public:
    SendWindow(Nanoseconds resend_after, std::size_t calls_max,
               std::size_t batch_bytes = batch_bytes_max / 4)
        : resend_after_{resend_after}, calls_max_{calls_max}, batch_bytes_{batch_bytes} {}

    // Capacity for one more acquiring request, and for a releasing one. The latter have a part of
    // the window to themselves, so that no number of acquires delays a release (S21).
    [[nodiscard]] bool has_capacity_for_calls() const { return sent_.size() < calls_max_; }
    [[nodiscard]] bool has_room() const { return sent_.size() < 2 * calls_max_; }

    // Gives the request the sequence number next(). Requires capacity.
    void add(AgentRequest request, Now now);
    // True if `seq` is the oldest request.
    [[nodiscard]] bool is_next(Seq seq) const { return !sent_.empty() && seq == first_; }
    // Removes the oldest request, whose outcome was seen.
    AgentRequest take_next(Now now);
    // Null if it is not here: it was applied, or never got a number.
    [[nodiscard]] AgentRequest* find(Seq seq);
    [[nodiscard]] const AgentRequest* find(Seq seq) const;

    // Everything is to be resent, from the first request on.
    void send_again();
    // Resends everything from that request on. Does nothing if that request was not sent yet or is
    // known to be applied: then the leader's message was early or late.
    void go_back_to(Seq next);
    // Resends everything if nothing was applied for too long, and returns whether it does. The
    // leader may only be slow, or this node may not receive the log, so until something is applied
    // the leader gets only a part of the window, at growing intervals.
    bool on_timer(Now now);
    // Adds the next requests to the batch. Returns false if there is none, or no capacity.
    bool send(SessionId session, BatchBuilder& batch);
    [[nodiscard]] bool has_unsent() const { return next_to_send_ < next() && allowance_ != 0; }

    // The session has ended, and the stream with it.
    void clear();

    [[nodiscard]] std::size_t size() const { return sent_.size(); }
    [[nodiscard]] Seq first() const { return first_; }
    // The newest sequence number; not set if there is none yet.
    [[nodiscard]] Seq newest() const { return next().previous(); }
    [[nodiscard]] Seq next() const { return Seq{first_.raw() + sent_.size()}; }
    [[nodiscard]] Instant deadline() const { return resend_at_; }
    template <class Visit>
    void each(const Visit& visit) const {
        for (std::size_t at = 0; at < sent_.size(); ++at)
            visit(Seq{first_.raw() + at}, sent_[at]);
    }

private:
    Nanoseconds resend_after_;
    std::size_t calls_max_;
    std::size_t batch_bytes_;
    Ring<AgentRequest> sent_;
    Seq first_{1};  // the number of the oldest request
    Seq next_to_send_{1};
    Seq sent_to_{1};                    // the first that was never sent
    std::size_t allowance_ = SIZE_MAX;  // how many more may be sent
    Instant resend_at_ = Instant::never();
    unsigned resends_ = 0;  // by the timer, since something was applied
};

}  // namespace mortise::core
