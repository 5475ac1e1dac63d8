#include "embed/door/acquiring.hpp"

#include <algorithm>
#include <chrono>
#include <new>
#include <utility>

#include <mortise/detail/start.hpp>
#include <mortise/errc.hpp>

namespace mortise::door {

namespace {

using http::Json;
using http::Parked;
using Time = Session::Time;

// A client counts on its own clock from when it sent its request. That clock may be slower than
// ours by this fraction, so after a while what it is told is less.
constexpr std::int64_t clock_rate_difference = 1'000;  // one in so many

std::int64_t told_ms(Received received, Time until) {
    const auto ms = ms_between(received, until);
    return ms - ms / clock_rate_difference;
}

std::string head_of(int status, std::string_view type, const std::string& more) {
    return "HTTP/1.1 " + std::to_string(status) + (status < 400 ? " OK" : " Refused") +
           "\r\nContent-Type: " + std::string{type} +
           "\r\nCache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n" + more +
           "Connection: close\r\n\r\n";
}

std::string line_of(const Json& json) {
    return http::text_of(json) + "\n";
}

}  // namespace

std::string stream_head(std::string_view type) {
    // Some proxies would collect lines before they pass them on.
    return head_of(200, type, "X-Accel-Buffering: no\r\n");
}

std::string whole_answer(int status, const Json& json) {
    const auto body = line_of(json);
    return head_of(status, "application/json",
                   "Content-Length: " + std::to_string(body.size()) + "\r\n") +
           body;
}

std::string whole_answer(const http::Refusal& refusal) {
    return whole_answer(refusal.status, http::json_of(refusal));
}

// Called by the node at the end of the acquire.
class Acquiring::Then final : public detail::Finish {
public:
    explicit Then(std::shared_ptr<Acquiring> acquiring) : acquiring_{std::move(acquiring)} {}
    void operator()(std::error_code error, Hold hold) override {
        acquiring_->decide(error, std::move(hold));
    }

private:
    const std::shared_ptr<Acquiring> acquiring_;
};

Acquiring::Acquiring(std::shared_ptr<http::Waker> waker, std::shared_ptr<Session> session,
                     Received received, std::shared_ptr<void> place)
    : waker_{std::move(waker)},
      session_{std::move(session)},
      received_{received},
      place_{std::move(place)} {}

Acquiring::~Acquiring() = default;

void Acquiring::begin(Node& node, Wish wish) {
    auto& order = wish.order;
    order.options.cancel = cancel_.get_token();
    order.detail = &decided_.detail;
    if (!order.permits) order.options.locker = session_->facts().locker;
    if (order.options.label.empty()) order.options.label = session_->facts().label;
    if (wish.published && order.attempt == detail::Attempt::once)
        order.options.wait_max = Duration::zero();
    const auto& runtime = detail::runtime_of(node);
    auto then = std::make_unique<Then>(shared_from_this());
    session_->begin_wait();
    try {
        ended_.emplace(session_->ending(), [this] {
            cancel_.request_stop();
            wake();
        });
        if (wish.published)
            detail::start_campaign(runtime, std::move(order), *std::move(wish.published),
                                   std::move(then));
        else
            detail::start_acquire(runtime, std::move(order), std::move(then));
    } catch (...) {  // no memory: nothing was begun
        session_->end_wait();
        throw;
    }
}

// On a callback thread of the node.
void Acquiring::decide(std::error_code error, Hold hold) noexcept {
    session_->end_wait();
    Decided now{error, {}, {}, {}};
    try {
        if (!error && hold) now.grant = std::make_shared<Grant>(std::move(hold));
        if (now.grant) now.hold = session_->add(now.grant);
        if (now.grant && now.hold.empty()) now = {Errc::session_expired, {}, {}, {}};
    } catch (const std::bad_alloc&) {
        now = {Errc::resource_exhausted, {}, {}, {}};
    }
    if (session_->has_ended() && now.error == Errc::cancelled) now.error = Errc::session_expired;
    bool has_gone = false;
    {
        const std::lock_guard lock{mutex_};
        now.detail = std::move(decided_.detail);
        decided_ = std::move(now);
        is_decided_ = true;
        has_gone = has_gone_;
    }
    if (has_gone) left(Gone::closed, decided_);
    wake();
}

bool Acquiring::say(std::string& text, bool all_received) {
    if (is_told_) return go_on(text, all_received);
    {
        const std::lock_guard lock{mutex_};
        if (!is_decided_) return true;
    }
    const bool goes_on = tell(decided_, text);
    is_told_ = true;  // without memory it is told later
    return goes_on;
}

void Acquiring::gone(Gone how) noexcept {
    cancel_.request_stop();
    {
        const std::lock_guard lock{mutex_};
        has_gone_ = true;
        if (!is_decided_) return;
    }
    left(how, decided_);
}

http::Refusal Acquiring::refusal_of(const Decided& decided) {
    if (decided.error == Errc::timed_out) return {409, "timed_out", "the wait ended first"};
    if (decided.error) return http::refusal_of(LockError{decided.error, decided.detail});
    return {409, "busy", "another holder has it"};
}

bool AcquireAnswer::tell(const Decided& decided, std::string& text) {
    if (!decided.grant) {
        text += whole_answer(refusal_of(decided));
        return false;
    }
    Json json{{"session", session().facts().id}, {"hold", decided.hold}};
    json.update(decided.grant->json());
    json["valid_ms"] = ms_between(received(), session().promise(*decided.grant));
    text += whole_answer(201, json);
    was_said_ = true;
    return true;
}

// Whoever asked does not know that it was granted. One that is silent may: the time of its session
// decides.
void AcquireAnswer::left(Gone how, const Decided& decided) noexcept {
    if (was_said_ && how == Gone::silent) return;
    if (const auto given_back = session().take(decided.hold)) given_back->unlock();
}

HoldStream::~HoldStream() {
    if (!may_be_believed_) session().end();
}

// The node may vouch for less than the `ttl`: the next line has to come before that is over.
std::int64_t HoldStream::promised_ms() {
    const auto now = BootClock::now();
    const auto promise = session().promise(*grant_, now + session().facts().ttl);
    next_line_ = now + (promise - now) / 3;
    return told_ms(received(), promise);
}

std::string HoldStream::last_line(const http::Refusal& why) {
    Json json{{"event", "lost"}};
    json.update(http::json_of(why));
    return line_of(json);
}

bool HoldStream::tell(const Decided& decided, std::string& text) {
    if (!decided.grant) {
        session().end();
        text += whole_answer(refusal_of(decided));
        return false;
    }
    grant_ = decided.grant;
    lost_.emplace(grant_->lost(), [this] { wake(); });
    Json json{{"event", "granted"}, {"session", session().facts().id}, {"hold", decided.hold}};
    json.update(grant_->json());
    json["valid_ms"] = promised_ms();
    text += stream_head("application/x-ndjson") + line_of(json);
    return true;
}

bool HoldStream::go_on(std::string& text, bool all_received) {
    const auto now = BootClock::now();
    if (session().has_ended()) {
        text += last_line({410, "session_expired", "its session has ended"});
        return false;
    }
    if (const auto failure = grant_->failure()) {
        auto why = http::refusal_of(LockError{failure});
        if (grant_->state() == HoldState::lost)
            why.reason = "why: " + std::string{to_string(grant_->why_lost())};
        text += last_line(why);
        session().end();
        return false;
    }
    // Who has not received the last promise gets no other one: it may have gone.
    if (now >= next_line_ && all_received) {
        const auto ms = promised_ms();
        if (now < session().promised()) {
            text += line_of({{"event", "alive"}, {"valid_ms", ms}});
            return true;
        }
    }
    if (!session().end_if_promised_over(now)) return true;
    text += last_line({410, "lock_lost",
                       all_received ? "the node does not vouch for it any longer"
                                    : "the client has not acknowledged in time"});
    return false;
}

void HoldStream::left(Gone how, const Decided& /*decided*/) noexcept {
    lost_.reset();
    may_be_believed_ = how == Gone::silent;
    if (may_be_believed_)
        session().end_at(session().promised());
    else
        session().end();
}

}  // namespace mortise::door
