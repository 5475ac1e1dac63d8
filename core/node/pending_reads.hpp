// Calls that are answered from a read: asked of the leader, and then waiting until what it named is
// applied here. None of them waits for longer than its caller agreed to.
#pragma once

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
    struct Pending {
        Call call;
        Instant ask_again;
        Instant gives_up;
        LogIndex readable_at;  // not set: the leader has not answered
    };

    [[nodiscard]] bool is_full() const { return pending_.size() >= pending_reads_max; }
    // Requires an id and a tag that are not in use.
    void add(ReadId id, Pending pending);
    // The leader's answer. One to an id that was given up, or asked again, does nothing.
    void granted(ReadId id, LogIndex index);
    // Empty when no call of this tag is here.
    std::optional<Call> cancel(CallTag tag);
    [[nodiscard]] bool is_readable(LogIndex applied) const {
        return !readable_.empty() && readable_.begin()->first <= applied;
    }
    // One that everything up to `applied` answers, in the order of their indexes.
    std::optional<Call> take_readable(LogIndex applied);
    // Those to give up, or to ask again, by now.
    std::vector<Pending> take_overdue(Instant now);
    // What the leader has not answered is due now.
    void ask_all_again(Instant now);
    std::vector<Call> take_all();
    [[nodiscard]] Instant deadline() const;

private:
    using Place = std::map<ReadId, Pending>::iterator;

    [[nodiscard]] static Instant due(const Pending& pending);
    Pending take(Place place);

    std::map<ReadId, Pending> pending_;
    std::map<CallTag, ReadId> by_tag_;
    std::set<std::pair<Instant, ReadId>> by_due_;
    std::set<std::pair<LogIndex, ReadId>> readable_;
};

}  // namespace mortise::core
