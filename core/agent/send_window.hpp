// The requests of this node's session that are not known to be applied: one stream of numbers
// without a gap (S17, docs/decisions/0039). They are sent in the order of their numbers. After a
// change of the leader or of the connection, and when nothing was applied for too long, they are
// sent again from the first one on; and from another one on when the leader says so (go-back-N).
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/agent/call.hpp"
#include "core/base/ids.hpp"
#include "core/base/instant.hpp"
#include "core/base/ring.hpp"
#include "core/codec/command_codec.hpp"
#include "core/locks/command.hpp"

namespace mortise::core {

// A request before its answer, and whom the answer is for.
struct Outgoing {
    RequestBody body;
    CallTag tag;  // not set: nobody waits for the answer
    Seq hold;     // of an Upgrade, and of its Cancel: what was to be upgraded
    std::size_t names = 1;
};

class SendWindow {
public:
    SendWindow(Nanoseconds resend_after, std::size_t calls_max)
        : resend_after_{resend_after}, calls_max_{calls_max} {}

    // Room for one more that takes something up, and for one that ends something. The latter have
    // a part of the window to themselves, so that no number of acquires delays a release (S21).
    [[nodiscard]] bool has_room_for_calls() const { return sent_.size() < calls_max_; }
    [[nodiscard]] bool has_room() const { return sent_.size() < 2 * calls_max_; }

    // Numbers it. Requires room.
    Seq add(Outgoing request, Now now);
    // What was applied next: its outcome was seen. Empty when `seq` is not the next one.
    [[nodiscard]] bool is_next(Seq seq) const { return !sent_.empty() && seq == first_; }
    Outgoing take_next(Now now);
    // Null when it is not here: it was applied, or never numbered.
    [[nodiscard]] Outgoing* find(Seq seq);
    [[nodiscard]] const Outgoing* find(Seq seq) const;

    // Everything is to be sent again, from the first one on.
    void send_again();
    // Sends everything from that request on again. Does nothing when the request was not sent yet,
    // or when it is known to be applied: then the leader said so too early or too late.
    void go_back_to(Seq next);
    // Sends everything again when nothing was applied for too long, and returns whether it does.
    // Perhaps the leader is only slow, or this node learns nothing. So until something is applied
    // the leader gets no more than a part of the window, less and less often.
    bool on_timer(Now now);
    // Adds what is to be sent next. Returns false when there is nothing, or no capacity.
    bool send(SessionId session, BatchBuilder& batch);
    [[nodiscard]] bool has_unsent() const { return next_to_send_ < end() && allowance_ != 0; }

    // The session is over, and with it the stream.
    void clear();

    [[nodiscard]] std::size_t size() const { return sent_.size(); }
    [[nodiscard]] Seq first() const { return first_; }
    // The newest number that was given; not set: none yet.
    [[nodiscard]] Seq newest() const { return end().previous(); }
    [[nodiscard]] Instant deadline() const { return resend_at_; }
    template <class Visit>
    void each(const Visit& visit) const {
        for (std::size_t at = 0; at < sent_.size(); ++at)
            visit(Seq{first_.raw() + at}, sent_[at]);
    }

private:
    [[nodiscard]] Seq end() const { return Seq{first_.raw() + sent_.size()}; }

    Nanoseconds resend_after_;
    std::size_t calls_max_;
    Ring<Outgoing> sent_;
    Seq first_{1};  // the number of the first of them
    Seq next_to_send_{1};
    Seq sent_to_{1};                    // the first that was never sent
    std::size_t allowance_ = SIZE_MAX;  // how many more may be sent
    Instant resend_at_ = Instant::never();
    unsigned resends_ = 0;  // by the timer, since something was applied
};

}  // namespace mortise::core
