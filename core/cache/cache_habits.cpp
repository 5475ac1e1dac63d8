#include "core/cache/cache_habits.hpp"

#include <algorithm>
#include <new>

#include "core/locks/limits.hpp"

namespace mortise::core {

namespace {

// A cached grant that is taken 20 million times a second uses its first tokens up in 0.2 ms, and
// then some more each time until the limit lasts for 0.8 s.
constexpr std::uint32_t tokens_first = 1U << 12U;
constexpr std::uint32_t tokens_factor = 16;
constexpr std::uint32_t needed_max = 64;

}  // namespace

std::uint32_t CacheHabits::tokens(std::string_view name, Instant now) const {
    const auto found = names_.find(name);
    if (found == names_.end()) return 0;
    const auto& habit = found->second;
    return habit.in_row >= habit.needed && now <= habit.at + within_ ? habit.tokens : 0;
}

// Without memory nothing is noted: the next acquire asks for an ordinary grant.
template <class Note>
void CacheHabits::note(std::string_view name, Instant now, const Note& note) noexcept {
    try {
        note(habit(name, now));
    } catch (const std::bad_alloc&) {
    }
}

void CacheHabits::released(std::string_view name, Instant now) noexcept {
    note(name, now, [](Habit& its) { its.in_row = std::min(its.in_row + 1, needed_max); });
}

void CacheHabits::recalled(std::string_view name, Instant now) noexcept {
    note(name, now, [](Habit& its) {
        its.in_row = 0;
        its.needed = std::min(2 * its.needed, needed_max);
    });
}

void CacheHabits::dropped(std::string_view name, Instant now) noexcept {
    note(name, now, [](Habit& its) {
        its.needed = 1;
        its.tokens = std::max(its.tokens / tokens_factor, tokens_first);
    });
}

void CacheHabits::used_up(std::string_view name, Instant now) noexcept {
    note(name, now,
         [](Habit& its) { its.tokens = std::min(its.tokens * tokens_factor, cached_tokens_max); });
}

CacheHabits::Habit& CacheHabits::habit(std::string_view name, Instant now) {
    auto found = names_.find(name);
    if (found == names_.end()) {
        if (names_.size() >= names_max_) {
            names_.erase(by_age_.front());
            by_age_.pop_front();
        }
        std::list<std::string> one{std::string{name}};
        Habit fresh;
        fresh.tokens = tokens_first;
        fresh.place = one.begin();
        found = names_.emplace(std::string{name}, fresh).first;
        by_age_.splice(by_age_.end(), one);
    }
    auto& its = found->second;
    by_age_.splice(by_age_.end(), by_age_, its.place);
    if (now > its.at + within_) its.in_row = 0;
    its.at = now;
    return its;
}

}  // namespace mortise::core
