// Calls that are answered by a read: the leader is asked, and then they wait until the index in its
// answer is applied here. No call waits longer than its caller allows. One question serves all
// calls that came before it and have no other question.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "core/agent/call.hpp"

namespace mortise::core {

constexpr std::size_t pending_reads_max = 65'536;  // beyond it, calls are refused (P11)

class PendingReads {
public:
    [[nodiscard]] bool is_full() const { return pending_.size() >= pending_reads_max; }
    // Adds a call that needs a question. It is not answered before the request `behind` of this
    // node is applied (S20). Requires a tag that is not in use.
    void add(Call call, Instant gives_up, OperationId behind = {});
    [[nodiscard]] bool is_to_ask() const { return questions_.contains(ReadId{}); }
    // The question `id` is sent for all calls without one. There must be some, and the id must be
    // higher than any before.
    void ask(ReadId id, Instant again);
    // The leader's answer. No effect if the id was replaced by a repeated question, or is not
    // known.
    void granted(ReadId id, LogIndex index);
    // Empty if there is no call with this tag.
    std::optional<Call> cancel(CallTag tag);
    // A call that everything up to `applied` answers, in the order of the read indexes. Calls
    // behind a request that is not applied wait for it in that order.
    template <class IsApplied>
    std::optional<Call> take_readable(LogIndex applied, const IsApplied& is_applied) {
        while (readable_until(applied)) {
            const auto tag = readable_.begin()->second;
            if (is_applied(pending_.at(tag).behind)) return take(tag);
            readable_.erase(readable_.begin());
            behind_.push_back(tag);
        }
        const auto tag = first_behind();
        if (!tag.is_set() || !is_applied(pending_.at(tag).behind)) return std::nullopt;
        return take(tag);
    }
    // Whether take_readable() may return a call.
    template <class IsApplied>
    [[nodiscard]] bool is_readable(LogIndex applied, const IsApplied& is_applied) {
        const auto tag = first_behind();
        return readable_until(applied) || (tag.is_set() && is_applied(pending_.at(tag).behind));
    }
    std::vector<Call> take_given_up(Instant now);
    // Calls whose question was not answered in time share one new question, and so do calls that
    // have less than `ahead` left. So a node whose messages are lost does not ask more often when
    // it has more calls.
    void ask_again(Instant now, Nanoseconds ahead);
    // Calls that the leader has not answered need another question.
    void ask_all_again();
    std::vector<Call> take_all();
    [[nodiscard]] Instant deadline() const;

private:
    struct Pending {
        Call call;
        Instant gives_up;
        ReadId question;       // not set: no question yet, or answered
        LogIndex readable_at;  // not set: the leader has not answered
        OperationId behind;    // not set: it follows no request
    };
    struct Question {
        Instant again;
        std::set<CallTag> calls;  // never empty
    };

    void forget_question(const Pending& pending, CallTag tag);
    void take_back(std::map<ReadId, Question>::iterator question);
    Call take(CallTag tag);
    [[nodiscard]] bool readable_until(LogIndex applied) const {
        return !readable_.empty() && readable_.begin()->first <= applied;
    }
    [[nodiscard]] CallTag first_behind();

    std::map<CallTag, Pending> pending_;
    std::map<ReadId, Question> questions_;  // id not set: calls without a question
    std::set<std::pair<Instant, CallTag>> by_end_;
    std::set<std::pair<LogIndex, CallTag>> readable_;
    std::deque<CallTag> behind_;  // readable except for `behind`; may contain calls that have ended
};

}  // namespace mortise::core
