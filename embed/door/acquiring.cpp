#include "embed/door/acquiring.hpp"

#include <chrono>
#include <utility>

#include <mortise/errc.hpp>
#include <mortise/lock_error.hpp>

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

http::Refusal session_over() {
    return {410, "session_expired", "its session has ended"};
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

Acquiring::~Acquiring() {
    if (claim_) claim_->leave(number(), may_know_);
}

void Acquiring::begin(Node& node, Wish wish, std::shared_ptr<http::Waker> waker, RequestKey key) {
    const auto own = std::make_shared<Claim>(std::move(waker), session_, std::move(key));
    claim_ = session_->enter(own, number());
    if (!claim_) throw Refused{{503, "resource_exhausted", "the session has too many holds"}};
    if (claim_ == own) return own->begin(node, std::move(wish), place_);
    if (claim_->key().asked != own->key().asked)
        throw Refused{{422, "key_reused", "another request of this session has this key"}};
}

bool Acquiring::say(std::string& text, bool all_received) {
    if (is_told_) return go_on(text, all_received);
    const auto* const decided = claim_->decided();
    if (decided == nullptr) return true;
    const bool goes_on = tell(*decided, text);
    is_told_ = true;  // without memory it is told later
    return goes_on;
}

http::Refusal Acquiring::refusal_of(const Decided& decided) {
    if (decided.error == Errc::timed_out) return {409, "timed_out", "the wait ended first"};
    if (decided.error == Errc::session_expired) return session_over();
    if (decided.error == Errc::lock_lost)
        return {410, "lock_lost",
                "the session has lost a hold of this name: release that one, and acquire again"};
    if (decided.error) return http::refusal_of(LockError{decided.error, decided.detail});
    return {409, "busy", "another holder has it"};
}

// A repeated request may come late: the hold that the first one was granted may be lost by now.
bool AcquireAnswer::tell(const Decided& decided, std::string& text) {
    auto now = decided;
    if (const auto failure = session().failure()) now.error = failure;
    if (now.error || !now.grant) {
        text += whole_answer(refusal_of(now));
        return false;
    }
    if (const auto failure = now.grant->failure()) {
        text += whole_answer(now.grant->refusal(failure));
        return false;
    }
    Json json{{"session", session().facts().id}, {"hold", claim().id()}};
    json.update(decided.grant->json());
    json["valid_ms"] = ms_between(received(), session().promise(*decided.grant));
    text += whole_answer(201, json);
    was_said_ = true;
    return true;
}

// The client knows of the hold when its system has acknowledged the answer.
bool AcquireAnswer::go_on(std::string& /*text*/, bool all_received) {
    may_know_ = all_received;
    return !all_received;
}

// A client that has closed its connection does not know of the hold. A client that is silent may
// know of it, so the hold ends with the time of its session.
void AcquireAnswer::gone(Gone how) noexcept {
    may_know_ = was_said_ && how == Gone::silent;
}

HoldStream::~HoldStream() {
    if (!may_know_) session().end();
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
    lost_.emplace(grant_->lost(), [this] { claim().wake(); });
    Json json{{"event", "granted"}, {"session", session().facts().id}, {"hold", claim().id()}};
    json.update(grant_->json());
    json["valid_ms"] = promised_ms();
    text += stream_head("application/x-ndjson") + line_of(json);
    return true;
}

bool HoldStream::go_on(std::string& text, bool all_received) {
    const auto now = BootClock::now();
    if (session().has_ended()) {
        text += last_line(session_over());
        return false;
    }
    if (session().failure()) return says_that_the_door_closes(text, all_received);
    if (const auto failure = grant_->failure()) {
        text += last_line(grant_->refusal(failure));
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

// Until the client has received that line, it may rely on what it was told last.
bool HoldStream::says_that_the_door_closes(std::string& text, bool all_received) {
    if (!std::exchange(knows_that_it_closes_, true)) {
        text += last_line(http::refusal_of(LockError{Errc::node_stopped}));
        return true;
    }
    return !all_received && !session().end_if_promised_over(BootClock::now());
}

void HoldStream::gone(Gone how) noexcept {
    lost_.reset();
    may_know_ = grant_ && how == Gone::silent;
    if (may_know_)
        session().end_at(session().promised());
    else
        session().end();
}

}  // namespace mortise::door
