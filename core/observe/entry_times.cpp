#include "core/observe/entry_times.hpp"

#include <algorithm>

namespace mortise::core {

namespace {

constexpr std::size_t marks_max = 4'096;
constexpr std::int64_t fineness = 64;

}  // namespace

// The entries of one step have the same time.
void EntryTimes::applied(LogIndex index, Instant now) {
    if (marks_.back().at == now) return;
    if (marks_.size() >= marks_max) thin_out(now);
    marks_.push_back({index, now});
}

// Most holds are short, so it is looked for from the end, in steps that double.
Instant EntryTimes::of(LogIndex index) const {
    std::size_t step = 1;
    while (step < marks_.size() && marks_[marks_.size() - step].from > index)
        step *= 2;
    const auto begin = marks_.end() - static_cast<std::ptrdiff_t>(std::min(step, marks_.size()));
    const auto end = marks_.end() - static_cast<std::ptrdiff_t>(step / 2);
    const auto after = std::ranges::upper_bound(begin, end, index, {}, &Mark::from);
    return after == marks_.begin() ? marks_.front().at : std::prev(after)->at;
}

// Each mark that stays is older than the one after it by more than 1/64 of that one's age. So those
// of a month are 1,600, and the times of marks decide, not their number: after an hour without
// entries the next ones do not seem an hour old.
void EntryTimes::thin_out(Instant now) {
    std::size_t kept = 1;
    for (std::size_t at = 1; at < marks_.size(); ++at) {
        const auto mark = marks_[at];
        const auto lost = mark.at - marks_[kept - 1].at;
        if (lost <= (now - mark.at) / fineness) continue;
        marks_[kept++] = mark;
    }
    marks_.resize(kept);
}

}  // namespace mortise::core
