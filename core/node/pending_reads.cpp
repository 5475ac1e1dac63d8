#include "core/node/pending_reads.hpp"

#include <algorithm>

#include "core/base/check.hpp"

namespace mortise::core {

Instant PendingReads::due(const Pending& pending) {
    return pending.readable_at.is_set() ? pending.gives_up
                                        : std::min(pending.ask_again, pending.gives_up);
}

void PendingReads::add(ReadId id, Pending pending) {
    const bool new_tag = by_tag_.emplace(tag_of(pending.call), id).second;
    by_due_.emplace(due(pending), id);
    const bool new_id = pending_.emplace(id, std::move(pending)).second;
    MORTISE_CHECK(new_tag && new_id);
}

PendingReads::Pending PendingReads::take(Place place) {
    auto pending = std::move(place->second);
    by_tag_.erase(tag_of(pending.call));
    by_due_.erase({due(pending), place->first});
    readable_.erase({pending.readable_at, place->first});
    pending_.erase(place);
    return pending;
}

void PendingReads::granted(ReadId id, LogIndex index) {
    const auto found = pending_.find(id);
    if (found == pending_.end() || found->second.readable_at.is_set()) return;
    by_due_.erase({due(found->second), id});
    found->second.readable_at = index;
    by_due_.emplace(due(found->second), id);
    readable_.emplace(index, id);
}

std::optional<Call> PendingReads::cancel(CallTag tag) {
    const auto found = by_tag_.find(tag);
    if (found == by_tag_.end()) return std::nullopt;
    return take(pending_.find(found->second)).call;
}

std::optional<Call> PendingReads::take_readable(LogIndex applied) {
    if (!is_readable(applied)) return std::nullopt;
    return take(pending_.find(readable_.begin()->second)).call;
}

std::vector<PendingReads::Pending> PendingReads::take_overdue(Instant now) {
    std::vector<Pending> overdue;
    while (!by_due_.empty() && by_due_.begin()->first <= now) {
        overdue.push_back(take(pending_.find(by_due_.begin()->second)));
    }
    return overdue;
}

void PendingReads::ask_all_again(Instant now) {
    by_due_.clear();
    for (auto& [id, pending] : pending_) {
        pending.ask_again = std::min(pending.ask_again, now);
        by_due_.emplace(due(pending), id);
    }
}

std::vector<Call> PendingReads::take_all() {
    std::vector<Call> all;
    while (!pending_.empty())
        all.push_back(take(pending_.begin()).call);
    return all;
}

Instant PendingReads::deadline() const {
    return by_due_.empty() ? Instant::never() : by_due_.begin()->first;
}

}  // namespace mortise::core
