#include "core/observe/activity.hpp"

#include <algorithm>
#include <utility>

namespace mortise::core {

namespace {

// An upgrade that waits counts as well. The requests of a session that has ended count until they
// are swept, which is a moment.
Waiting waiting_in(const WaitQueue* queue) {
    if (queue == nullptr) return {};
    Waiting waiting{queue->size(), {}};
    if (const auto* head = queue->head()) waiting.oldest = head->ticket.index;
    const auto& upgrade = queue->conversion();
    if (!upgrade) return waiting;
    if (waiting.waiters == 0 || upgrade->ticket.index < waiting.oldest)
        waiting.oldest = upgrade->ticket.index;
    ++waiting.waiters;
    return waiting;
}

std::uint64_t holders_of(const LockRecord& record) {
    return static_cast<std::uint64_t>(
        std::ranges::count_if(record.holders(), [](const Holder& one) { return one.is_held(); }));
}

}  // namespace

Activity::Activity(std::vector<std::string> prefixes, const LockTable& table, LogIndex applied,
                   Instant now)
    : prefixes_{std::move(prefixes)},
      times_{applied, now},
      names_{prefixes_.all().size() + 1},
      rates_{now},
      groups_(prefixes_.all().size() + 1) {
    count_all(table);
}

void Activity::restart(const LockTable& table, LogIndex applied, Instant now) {
    rates_.advance(now, names_.waiters());
    times_ = EntryTimes{applied, now};
    names_ = ContendedNames{groups_.size()};
    for (auto& group : groups_)
        group.holders = 0;
    count_all(table);
    rates_.wait(names_.waiters());
}

// Without prefixes nobody asks for the holders, which takes a walk through all names.
void Activity::count_all(const LockTable& table) {
    for (const auto& record : table.names().waited())
        set(*record);
    if (prefixes_.all().empty()) return;
    for (const auto& record : table.records())
        groups_[prefixes_.group_of(record->name())].holders += holders_of(*record);
}

void Activity::set(const NamedRecord& record) {
    const auto name = record.name();
    names_.set(name, prefixes_.group_of(name), waiting_in(record.queue()));
}

void Activity::applied(LogIndex index, Instant now, std::span<const NameChange> changes,
                       std::span<const RecordRef> waited) {
    times_.applied(index, now);
    rates_.advance(now, names_.waiters());
    for (const auto& change : changes)
        on(change, index, now);
    if (waited.empty()) return;
    for (const auto& record : waited)
        set(*record);
    rates_.wait(names_.waiters());
}

// A time is counted only if both its ends were applied by this run.
void Activity::on(const NameChange& change, LogIndex index, Instant now) {
    const bool begins = change.kind == NameChange::Kind::granted;
    if (!begins && change.kind != NameChange::Kind::released) return;
    if (!prefixes_.all().empty()) {
        auto& group = groups_[prefixes_.group_of(change.name)];
        group.holders += begins ? 1 : std::uint64_t{0} - 1;
        group.grants += begins ? 1 : 0;
    }
    if (begins) {
        if (change.asked == index) return rates_.granted(Nanoseconds{0});
        if (!times_.knows(change.asked)) return rates_.granted();
        return rates_.granted(now - times_.of(change.asked));
    }
    if (change.how == Predecessor::clean) {
        rates_.released();
    } else {
        rates_.lost();
    }
    if (times_.knows(change.since)) rates_.ended_after(now - times_.of(change.since));
}

Nanoseconds Activity::wait_since(std::optional<LogIndex> request, Instant now) const {
    return request ? std::max(now - times_.of(*request), Nanoseconds{0}) : Nanoseconds{0};
}

ContentionView Activity::contention(Instant now) const {
    ContentionView view{names_.waiters(), names_.size(), wait_since(names_.oldest(), now), {}};
    const auto& prefixes = prefixes_.all();
    if (prefixes.empty()) return view;
    for (std::size_t group = 0; group < groups_.size(); ++group) {
        view.prefixes.push_back({group < prefixes.size() ? prefixes[group] : std::string{},
                                 groups_[group].holders, names_.waiters(group), names_.size(group),
                                 groups_[group].grants, wait_since(names_.oldest(group), now)});
    }
    return view;
}

std::vector<HotName> Activity::hottest(const LockTable& table, Instant now,
                                       std::string_view prefix) const {
    std::vector<HotName> hottest;
    for (auto& [name, waiting] : names_.hottest(hottest_max, prefix)) {
        const auto* record = table.find(name);
        HotName hot{std::move(name), RecordKind::lock, 0, waiting.waiters,
                    wait_since(waiting.oldest, now)};
        if (record != nullptr) {
            hot.kind = record->kind();
            hot.holders = holders_of(*record);
        }
        hottest.push_back(std::move(hot));
    }
    return hottest;
}

ActivityView Activity::view(const LockTable& table, Instant now, std::string_view prefix) const {
    ActivityView view;
    view.names = table.size();
    view.contention = contention(now);
    view.hottest = hottest(table, now, prefix);
    view.recent = rates_.together(now, names_.waiters());
    view.slots = rates_.each(now, names_.waiters());
    return view;
}

}  // namespace mortise::core
