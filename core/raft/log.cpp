#include "core/raft/log.hpp"

#include <algorithm>

#include "core/base/check.hpp"

namespace mortise::core {

Log::Log(LogId base, std::vector<Entry> entries) : base_{base} {
    for (auto& entry : entries)
        append(std::move(entry));
}

std::size_t Log::offset(LogIndex index) const {
    return static_cast<std::size_t>(index.raw() - base_.index.raw() - 1);
}

std::optional<Term> Log::term_at(LogIndex index) const {
    if (index == base_.index) return base_.term;
    if (index < base_.index || index > last().index) return std::nullopt;
    return entries_[offset(index)].id.term;
}

bool Log::has(LogId id) const {
    if (id.index < base_.index) return true;
    return term_at(id.index) == id.term;
}

const Entry& Log::at(LogIndex index) const {
    MORTISE_CHECK(index > base_.index && index <= last().index);
    return entries_[offset(index)];
}

LogId Log::newest_not_above(LogId limit) const {
    auto index = std::min(limit.index, last().index);
    while (index > base_.index && at(index).id.term > limit.term)
        index = index.previous();
    return index > base_.index ? at(index).id : base_;
}

std::vector<Entry> Log::slice(LogIndex from, std::size_t bytes_max, std::size_t entries_max) const {
    std::vector<Entry> taken;
    std::size_t bytes = 0;
    for (auto index = from; index <= last().index; index = index.next()) {
        const auto& entry = at(index);
        bytes += weight(entry);
        if ((bytes > bytes_max || taken.size() >= entries_max) && !taken.empty()) break;
        taken.push_back(entry);
    }
    return taken;
}

void Log::append(Entry entry) {
    MORTISE_CHECK(entry.id.index == last().index.next());
    MORTISE_CHECK(entry.id.term >= last().term);
    bytes_ += weight(entry);
    entries_.push_back(std::move(entry));
}

void Log::truncate_from(LogIndex index) {
    MORTISE_CHECK(index > base_.index);
    while (last().index >= index && !entries_.empty()) {
        bytes_ -= weight(entries_.back());
        entries_.pop_back();
    }
}

void Log::purge_to(LogIndex index) {
    MORTISE_CHECK(index <= last().index);
    while (base_.index < index) {
        base_ = entries_.front().id;
        bytes_ -= weight(entries_.front());
        entries_.pop_front();
    }
}

}  // namespace mortise::core
