// Calls that are answered from a read: asked of the leader, and then waiting until what it named is
// applied here. None of them waits for longer than its caller agreed to. One question is for all
// calls that came before it and that no other is for.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "core/agent/call.hpp"

namespace mortise::core {

constexpr std::size_t pending_reads_max = 65'536;  // beyond it, refused (P11)

class PendingReads {
public:
    [[nodiscard]] bool is_full() const { return pending_.size() >= pending_reads_max; }
    // Is to be asked for, and not answered before that request of this node's is applied (S20).
    // Requires a tag that is not in use.
    void add(Call call, Instant gives_up, OperationId behind = {});
    [[nodiscard]] bool is_to_ask() const { return questions_.contains(ReadId{}); }
    // The question `id` goes out for all that are to be asked for. Requires that there are some,
    // and an id that is higher than any before.
    void ask(ReadId id, Instant again);
    // The leader's answer. One to an id that was asked again, or that is for nobody, does nothing.
    void granted(ReadId id, LogIndex index);
    // Empty when no call of this tag is here.
    std::optional<Call> cancel(CallTag tag);
    // One that everything up to `applied` answers, in the order of their indexes. Those behind a
    // request that is not applied wait for it in that order.
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
    // May take_readable() return one?
    template <class IsApplied>
    [[nodiscard]] bool is_readable(LogIndex applied, const IsApplied& is_applied) {
        const auto tag = first_behind();
        return readable_until(applied) || (tag.is_set() && is_applied(pending_.at(tag).behind));
    }
    std::vector<Call> take_given_up(Instant now);
    // What was not answered by its time is to be asked for again, all with one question; and with
    // it whatever has less than `ahead` to go: who is not heard asks no more often for having more
    // to ask.
    void ask_again(Instant now, Nanoseconds ahead);
    // What the leader has not answered is to be asked for again.
    void ask_all_again();
    std::vector<Call> take_all();
    [[nodiscard]] Instant deadline() const;

private:
    struct Pending {
        Call call;
        Instant gives_up;
        ReadId question;       // not set: is to be asked for, or answered
        LogIndex readable_at;  // not set: the leader has not answered
        OperationId behind;    // not set: behind nothing
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
    std::map<ReadId, Question> questions_;  // under no id: what is to be asked for
    std::set<std::pair<Instant, CallTag>> by_end_;
    std::set<std::pair<LogIndex, CallTag>> readable_;
    std::deque<CallTag> behind_;  // readable but for that; with some that ended meanwhile
};

}  // namespace mortise::core
