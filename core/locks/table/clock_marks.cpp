#include "core/locks/table/clock_marks.hpp"

#include <algorithm>

namespace mortise::core {

namespace {

__extension__ using Wide = unsigned __int128;

// What the loss of a mark costs: how much longer a gap becomes, in proportion to its age.
struct Loss {
    std::uint64_t gap = 0;
    std::uint64_t age = 1;

    friend bool operator<(const Loss& a, const Loss& b) {
        return static_cast<Wide>(a.gap) * b.age < static_cast<Wide>(b.gap) * a.age;
    }
};

}  // namespace

// A leader may say any time. Bounded leaps leave room for those that follow, whatever one says.
void ClockMarks::add(LogIndex index, std::uint64_t ms) {
    if (marks_.empty()) {
        ms = std::min(ms, clock_first_ms_max);
    } else {
        const auto& before = newest();
        if (index <= before.index || ms < before.ms + clock_step_ms_min) return;
        ms = std::min(ms, before.ms + clock_step_ms_max);
    }
    marks_.push_back({index, ms});
    changes_.insert(index);
    if (marks_.size() > clock_marks_max) drop_one();
}

// Never the oldest, which the oldest holds need, nor the newest.
void ClockMarks::drop_one() {
    const auto loss_of = [&](std::size_t i) {
        return Loss{marks_[i + 1].ms - marks_[i - 1].ms, newest().ms - marks_[i].ms};
    };
    std::size_t least = 1;
    for (std::size_t i = 2; i + 1 < marks_.size(); ++i) {
        if (loss_of(i) < loss_of(least)) least = i;
    }
    changes_.insert(marks_[least].index);
    marks_.erase(marks_.begin() + static_cast<std::ptrdiff_t>(least));
}

std::optional<std::uint64_t> ClockMarks::time_of(LogIndex index) const {
    const auto after = std::ranges::upper_bound(marks_, index, {}, &ClockMark::index);
    if (after == marks_.begin()) return std::nullopt;
    return std::prev(after)->ms;
}

bool ClockMarks::restore(ClockMark mark) {
    const bool follows = marks_.empty() || (mark.index > newest().index &&
                                            mark.ms >= newest().ms + clock_step_ms_min);
    if (!follows || mark.ms > clock_ms_max || marks_.size() == clock_marks_max) return false;
    marks_.push_back(mark);
    return true;
}

}  // namespace mortise::core
