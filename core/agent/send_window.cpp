#include "core/agent/send_window.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "core/base/check.hpp"
#include "core/locks/limits.hpp"

namespace mortise::core {

namespace {

// How many requests are resent to a leader that may only be slow.
constexpr std::size_t resent_max = 1'024;
// How often the delay before the next attempt doubles.
constexpr unsigned resends_max = 4;
// The maximum number of names in a batch, without those of the commands that open or acknowledge.
constexpr std::size_t names_per_batch_max = entry_commands_max - 4;

constexpr auto unlimited = std::numeric_limits<std::size_t>::max();

bool has_capacity(const BatchBuilder& batch, std::size_t bytes_max) {
    return batch.names() < names_per_batch_max && batch.bytes() < bytes_max;
}

}  // namespace

void SendWindow::add(AgentRequest request, Now now) {
    MORTISE_CHECK(has_room());
    if (sent_.empty()) resend_at_ = now.steady + resend_after_;
    request.seq = next();
    sent_.push_back(std::move(request));
}

AgentRequest SendWindow::take_next(Now now) {
    auto request = sent_.pop_front();
    first_ = first_.next();
    // An old copy of a resent request may be applied. So each applied request allows one more to be
    // resent, until all those that had been sent before are resent.
    if (allowance_ != unlimited) ++allowance_;
    resends_ = 0;
    resend_at_ = sent_.empty() ? Instant::never() : now.steady + resend_after_;
    next_to_send_ = std::max(next_to_send_, first_);
    return request;
}

AgentRequest* SendWindow::find(Seq seq) {
    return seq < first_ || seq >= next() ? nullptr : &sent_[seq.raw() - first_.raw()];
}

const AgentRequest* SendWindow::find(Seq seq) const {
    return const_cast<SendWindow*>(this)->find(seq);
}

void SendWindow::send_again() {
    next_to_send_ = first_;
    allowance_ = unlimited;
}

void SendWindow::go_back_to(Seq next) {
    if (next < first_ || next >= next_to_send_) return;
    next_to_send_ = next;
    allowance_ = unlimited;
}

bool SendWindow::on_timer(Now now) {
    if (now.steady < resend_at_) return false;
    send_again();
    allowance_ = resent_max;
    resends_ = std::min(resends_ + 1, resends_max);
    resend_at_ = now.steady + resend_after_ * (1U << resends_);
    return true;
}

bool SendWindow::send(SessionId session, BatchBuilder& batch) {
    const auto before = next_to_send_;
    while (has_unsent() && has_capacity(batch, batch_bytes_)) {
        const auto& request = *find(next_to_send_);
        batch.add(Request{session, next_to_send_, request.body}, request.names);
        next_to_send_ = next_to_send_.next();
        if (allowance_ != unlimited) --allowance_;
        if (next_to_send_ >= sent_to_) allowance_ = unlimited;
        sent_to_ = std::max(sent_to_, next_to_send_);
    }
    return next_to_send_ != before;
}

void SendWindow::clear() {
    sent_.clear();
    first_ = Seq{1};
    sent_to_ = Seq{1};
    resends_ = 0;
    resend_at_ = Instant::never();
    send_again();
}

}  // namespace mortise::core
