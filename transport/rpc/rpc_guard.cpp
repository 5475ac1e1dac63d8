#include "transport/rpc/rpc_guard.hpp"

#include <algorithm>

namespace mortise::transport {
namespace {

// A program requests the bootstrap capability once. For each request Cap'n Proto counts one more
// reference, which only the other side can release.
constexpr std::size_t bootstraps_max = 4;
// The longest path: HelloResults.answer, and in it the peer or the member. Cap'n Proto keeps every
// path as long as the question is open.
constexpr std::size_t path_max = 2;

}  // namespace

RpcVerdict RpcGuard::received(const RpcFrame& frame) {
    using Kind = RpcFrame::Kind;
    switch (frame.kind) {
        case Kind::bootstrap: return bootstrap(frame);
        case Kind::call: return call(frame);
        case Kind::answer: return answer(frame);
        case Kind::finish: return finish(frame);
        case Kind::release: return release(frame);
        case Kind::abort: return RpcVerdict::ended;
        case Kind::other: break;
    }
    return refuse("a kind of message that no node sends");
}

void RpcGuard::sent(const RpcFrame& frame) {
    using Kind = RpcFrame::Kind;
    if (frame.kind == Kind::bootstrap || frame.kind == Kind::call) {
        asked_.push_back(frame.question);
        if (frame.is_hello) hello_ = frame.question;
    } else if (frame.kind == Kind::answer) {
        auto* const open = find(frame.question);
        if (open == nullptr) return;
        if (open->is_hello && frame.capability) offered_ = frame.capability;
        open->is_answered = true;
        forget_if_over(*open);
    }
}

bool RpcGuard::is_awaited() const {
    return std::ranges::any_of(open_, [](const Open& open) { return !open.is_answered; });
}

RpcVerdict RpcGuard::refuse(const char* cause) {
    cause_ = cause;
    return RpcVerdict::refused;
}

const char* RpcGuard::wrong_with_question(const RpcFrame& frame) const {
    if (rules_.questions_max == 0) return "a question to a node that only asks";
    if (open_.size() >= rules_.questions_max) return "too many questions open at a time";
    if (find(frame.question) != nullptr) return "the number of a question that is still open";
    return nullptr;
}

RpcVerdict RpcGuard::bootstrap(const RpcFrame& frame) {
    if (const auto* wrong = wrong_with_question(frame)) return refuse(wrong);
    if (++bootstraps_ > bootstraps_max) return refuse("asks too often for what is offered");
    open_.push_back({.question = frame.question, .is_bootstrap = true});
    return RpcVerdict::ok;
}

RpcVerdict RpcGuard::call(const RpcFrame& frame) {
    if (const auto* wrong = wrong_with_question(frame)) return refuse(wrong);
    if (const auto* wrong = wrong_with_call(frame)) return refuse(wrong);
    open_.push_back({.question = frame.question,
                     .words = frame.words,
                     .is_hello = frame.is_hello,
                     .is_direct = is_direct(frame)});
    words_ += frame.words;
    return open_.back().is_direct ? RpcVerdict::direct : RpcVerdict::ok;
}

// A call of anything else is for Cap'n Proto, which knows what it has offered.
bool RpcGuard::is_direct(const RpcFrame& call) const {
    return rules_.is_peer && call.is_send && call.capability && call.capability == offered_;
}

const char* RpcGuard::wrong_with_call(const RpcFrame& frame) const {
    if (rules_.only_hello && !frame.is_hello) return "a call before hello";
    if (!frame.is_plain) return "results or capabilities of a kind that no node asks for";
    if (frame.capabilities > 0) return "capabilities in a call";
    if (frame.words > rules_.words_max - std::min(words_, rules_.words_max))
        return "too many bytes in open calls";
    return frame.is_of_answer ? wrong_with_target(frame) : nullptr;
}

// Only these answers offer something that can be called. So a chain of calls, each of which waits
// for the one before, is never longer than this: bootstrap, hello, a call.
const char* RpcGuard::wrong_with_target(const RpcFrame& frame) const {
    const auto* const open = find(frame.of);
    if (open == nullptr || open->is_finished) return "a call of the answer to no open question";
    if (!open->is_bootstrap && !open->is_hello) return "a call of an answer that offers nothing";
    const auto longest = open->is_bootstrap ? 0 : path_max;
    if (frame.path > longest || !frame.is_first_path)
        return "a call of a capability that no answer has";
    return nullptr;
}

RpcVerdict RpcGuard::answer(const RpcFrame& frame) {
    if (std::erase(asked_, frame.question) == 0) return refuse("an answer to no question");
    if (!frame.is_plain) return refuse("an answer of a kind that no node gives");
    if (frame.capabilities > 1) return refuse("too many capabilities in an answer");
    if (frame.question == hello_) {
        hello_.reset();
        offer_ = frame.capability;
    }
    return frame.question >= send_questions_from ? RpcVerdict::direct : RpcVerdict::ok;
}

RpcVerdict RpcGuard::finish(const RpcFrame& frame) {
    auto* const open = find(frame.question);
    if (open == nullptr || open->is_finished)
        return refuse("the end of a question that is not open");
    open->is_finished = true;
    const bool direct = open->is_direct;
    forget_if_over(*open);
    return direct ? RpcVerdict::direct : RpcVerdict::ok;
}

// Cap'n Proto has to know as well.
RpcVerdict RpcGuard::release(const RpcFrame& frame) {
    if (frame.capability == offered_) offered_.reset();
    return RpcVerdict::ok;
}

const RpcGuard::Open* RpcGuard::find(std::uint32_t question) const {
    const auto found = std::ranges::find(open_, question, &Open::question);
    return found == open_.end() ? nullptr : &*found;
}

RpcGuard::Open* RpcGuard::find(std::uint32_t question) {
    const auto found = std::ranges::find(open_, question, &Open::question);
    return found == open_.end() ? nullptr : &*found;
}

void RpcGuard::forget_if_over(const Open& open) {
    if (!open.is_answered || !open.is_finished) return;
    words_ -= open.words;
    open_.erase(open_.begin() + (&open - open_.data()));
}

}  // namespace mortise::transport
