#include "transport/peers/link_machine.hpp"

#include <algorithm>
#include <utility>

namespace mortise::transport {

using core::Instant;
using core::Nanoseconds;

std::vector<LinkAction> LinkMachine::on(const LinkEvent& event, Instant now) {
    std::visit([&](const auto& e) { handle(e, now); }, event);
    return std::exchange(out_, {});
}

void LinkMachine::handle(const link_event::Start& /*event*/, Instant now) {
    if (state_ == State::idle) connect(now);
}

void LinkMachine::handle(const link_event::Connected& event, Instant now) {
    if (!is(State::connecting, event.attempt)) return;
    state_ = State::greeting;
    deadline_ = now + options_.hello_timeout;
    out_.emplace_back(link_action::DropFormer{});
    out_.emplace_back(link_action::SendHello{attempt_});
}

void LinkMachine::handle(const link_event::ConnectFailed& event, Instant now) {
    if (!is(State::connecting, event.attempt)) return;
    ++counters_.connect_failures;
    back_off(now);
}

void LinkMachine::handle(const link_event::Greeted& event, Instant now) {
    if (!is(State::greeting, event.attempt)) return;
    // An address may have been reassigned to another node, of another cluster.
    const auto refusal = judge_answer(event.theirs, event.ours, options_.expected);
    if (refusal) {
        ++counters_.refused_by_us;
        out_.emplace_back(link_action::Close{attempt_});
        back_off_refused(*refusal, now);
        return;
    }
    state_ = State::up;
    deadline_ = Instant::never();
    up_since_ = now;
    refusal_.reset();
    out_.emplace_back(link_action::PublishUp{attempt_, event.theirs});
}

void LinkMachine::handle(const link_event::Refused& event, Instant now) {
    const bool is_early = is(State::connecting, event.attempt);  // the peer refused our certificate
    if (!is_early && !is(State::greeting, event.attempt)) return;
    ++counters_.refused_by_peer;
    out_.emplace_back(link_action::Close{attempt_});
    // These refusals may resolve by themselves.
    const bool passes = event.reason == Refusal::busy || event.reason == Refusal::stopping;
    if (!passes) return back_off_refused(event.reason, now);
    refusal_ = event.reason;
    back_off(now);
}

void LinkMachine::handle(const link_event::Lost& event, Instant now) {
    if (event.attempt != attempt_) return;
    if (state_ == State::up) {
        ++counters_.losses;
        if (now - up_since_ >= options_.steady_after) backoff_ = {};
        out_.emplace_back(link_action::PublishDown{attempt_});
    } else if (state_ == State::connecting || state_ == State::greeting) {
        ++counters_.connect_failures;
    } else {
        return;
    }
    out_.emplace_back(link_action::Close{attempt_});
    back_off(now);
}

void LinkMachine::handle(const link_event::TimerFired& /*event*/, Instant now) {
    if (now < deadline_) return;
    switch (state_) {
        case State::backing_off: return connect(now);
        case State::connecting:
        case State::greeting:
            ++counters_.timeouts;
            out_.emplace_back(link_action::Close{attempt_});
            return back_off(now);
        case State::idle:
        case State::up: return;
    }
}

void LinkMachine::handle(const link_event::PeerSeen& /*event*/, Instant now) {
    // An earlier refusal by the peer, or by another node at one of its addresses, does not count
    // any more: the peer calls now and is accepted, so it may accept this node.
    if (state_ != State::backing_off) return;
    deadline_ = std::min(deadline_, now + jittered(options_.backoff_min));
}

void LinkMachine::handle(const link_event::NetworkSeen& /*event*/, Instant now) {
    if (state_ == State::backing_off && !refusal_)
        deadline_ = std::min(deadline_, now + jittered(options_.backoff_min));
    if (state_ != State::connecting) return;
    const auto began = deadline_ - options_.connect_timeout;
    if (now < began + options_.connect_soon) return;
    out_.emplace_back(link_action::Close{attempt_});
    connect(now);
}

void LinkMachine::handle(const link_event::Stop& /*event*/, Instant /*now*/) {
    if (state_ == State::up) out_.emplace_back(link_action::PublishDown{attempt_});
    const bool open = state_ != State::idle && state_ != State::backing_off;
    if (open) out_.emplace_back(link_action::Close{attempt_});
    state_ = State::idle;
    deadline_ = Instant::never();
    backoff_ = {};
}

void LinkMachine::connect(Instant now) {
    state_ = State::connecting;
    attempt_ = attempt_.next();
    deadline_ = now + options_.connect_timeout;
    ++counters_.attempts;
    out_.emplace_back(link_action::Connect{attempt_});
}

void LinkMachine::back_off(Instant now) {
    state_ = State::backing_off;
    backoff_ = std::clamp(backoff_, options_.backoff_min, options_.backoff_max);
    deadline_ = now + jittered(backoff_);
    backoff_ = std::min(backoff_ * 2, options_.backoff_max);
}

void LinkMachine::back_off_refused(Refusal reason, Instant now) {
    state_ = State::backing_off;
    refusal_ = reason;
    deadline_ = now + jittered(options_.backoff_refused);
}

// Between half and all of it, so that nodes which lost each other at the same time do not dial each
// other again at the same time.
Nanoseconds LinkMachine::jittered(Nanoseconds wait) {
    return Nanoseconds{prng_.between(wait.count() / 2, wait.count())};
}

}  // namespace mortise::transport
