#include "core/node/pending_reads.hpp"

#include <algorithm>

#include "core/base/check.hpp"

namespace mortise::core {

void PendingReads::add(Call call, Instant gives_up, OperationId behind) {
    const auto tag = tag_of(call);
    // A read may only use a question that was sent after the call, so the call starts without a
    // question.
    const auto question = ReadId{};
    const bool is_new =
        pending_.emplace(tag, Pending{std::move(call), gives_up, question, {}, behind}).second;
    MORTISE_CHECK(is_new);
    questions_[question].calls.insert(tag);
    by_end_.emplace(gives_up, tag);
}

void PendingReads::ask(ReadId id, Instant again) {
    auto question = questions_.extract(ReadId{});
    MORTISE_CHECK(!question.empty() && (questions_.empty() || questions_.rbegin()->first < id));
    question.key() = id;
    question.mapped().again = again;
    for (const auto tag : question.mapped().calls)
        pending_.at(tag).question = id;
    questions_.insert(std::move(question));
}

void PendingReads::granted(ReadId id, LogIndex index) {
    const auto question = questions_.extract(id);
    if (question.empty()) return;
    for (const auto tag : question.mapped().calls) {
        auto& pending = pending_.at(tag);
        pending.question = {};
        pending.readable_at = index;
        readable_.emplace(index, tag);
    }
}

std::optional<Call> PendingReads::cancel(CallTag tag) {
    if (!pending_.contains(tag)) return std::nullopt;
    return take(tag);
}

// Skips calls that have ended.
CallTag PendingReads::first_behind() {
    while (!behind_.empty() && !pending_.contains(behind_.front()))
        behind_.pop_front();
    return behind_.empty() ? CallTag{} : behind_.front();
}

std::vector<Call> PendingReads::take_given_up(Instant now) {
    std::vector<Call> given_up;
    while (!by_end_.empty() && by_end_.begin()->first <= now)
        given_up.push_back(take(by_end_.begin()->second));
    return given_up;
}

void PendingReads::ask_again(Instant now, Nanoseconds ahead) {
    const auto oldest = questions_.upper_bound(ReadId{});
    if (oldest == questions_.end() || oldest->second.again > now) return;
    for (auto it = oldest; it != questions_.end() && it->second.again <= now + ahead;)
        take_back(it++);
}

void PendingReads::ask_all_again() {
    for (auto it = questions_.upper_bound(ReadId{}); it != questions_.end();)
        take_back(it++);
}

void PendingReads::take_back(std::map<ReadId, Question>::iterator question) {
    for (const auto tag : question->second.calls)
        pending_.at(tag).question = {};
    questions_[ReadId{}].calls.merge(question->second.calls);
    questions_.erase(question);
}

std::vector<Call> PendingReads::take_all() {
    std::vector<Call> all;
    while (!pending_.empty())
        all.push_back(take(pending_.begin()->first));
    return all;
}

Call PendingReads::take(CallTag tag) {
    auto pending = std::move(pending_.extract(tag).mapped());
    by_end_.erase({pending.gives_up, tag});
    readable_.erase({pending.readable_at, tag});
    forget_question(pending, tag);
    return std::move(pending.call);
}

void PendingReads::forget_question(const Pending& pending, CallTag tag) {
    const auto question = questions_.find(pending.question);
    if (question == questions_.end()) return;
    question->second.calls.erase(tag);
    if (question->second.calls.empty()) questions_.erase(question);
}

Instant PendingReads::deadline() const {
    auto next = by_end_.empty() ? Instant::never() : by_end_.begin()->first;
    const auto oldest = questions_.upper_bound(ReadId{});
    return oldest == questions_.end() ? next : std::min(next, oldest->second.again);
}

}  // namespace mortise::core
