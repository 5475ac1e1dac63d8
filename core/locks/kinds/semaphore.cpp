#include "core/locks/kinds/semaphore.hpp"

#include <algorithm>
#include <bit>
#include <functional>

#include "core/base/check.hpp"

namespace mortise::core {

namespace {

constexpr std::uint32_t word_bits = 64;

constexpr std::uint64_t bit_of(std::uint32_t slot) {
    return std::uint64_t{1} << (slot % word_bits);
}

}  // namespace

void Semaphore::resize(std::uint32_t limit) {
    limit_ = limit;
    ++version_;
}

bool Semaphore::is_taken(std::uint32_t slot) const {
    const auto word = slot / word_bits;
    return word < bits_.size() && (bits_[word] & bit_of(slot)) != 0;
}

Slots Semaphore::lowest_free(std::uint32_t permits) const {
    Slots lowest;
    lowest.reserve(permits);
    for (std::uint32_t word = 0; lowest.size() < permits; ++word) {
        auto open = word < bits_.size() ? ~bits_[word] : ~std::uint64_t{0};
        for (; open != 0 && lowest.size() < permits; open &= open - 1)
            lowest.push_back(word * word_bits + static_cast<std::uint32_t>(std::countr_zero(open)));
    }
    return lowest;
}

bool Semaphore::are_free(const Slots& slots) const {
    const bool ascend =
        std::ranges::adjacent_find(slots, std::ranges::greater_equal{}) == slots.end();
    return ascend && std::ranges::all_of(slots, [&](std::uint32_t slot) {
               return slot < semaphore_limit_max && !is_taken(slot);
           });
}

void Semaphore::take(const Slots& slots) {
    for (const auto slot : slots) {
        MORTISE_CHECK(!is_taken(slot));
        const auto words = slot / word_bits + 1;
        if (bits_.size() < words) bits_.resize(words);
        bits_[slot / word_bits] |= bit_of(slot);
        ++taken_;
    }
}

void Semaphore::give_back(const Slots& slots) {
    for (const auto slot : slots) {
        MORTISE_CHECK(is_taken(slot));
        bits_[slot / word_bits] &= ~bit_of(slot);
        --taken_;
    }
}

// --- requests -----------------------------------------------------------------------------------

// A semaphore that does not exist is like one that was never resized.
std::optional<AnswerKind> Resize::refusal(const Semaphore& semaphore, SessionId /*by*/) const {
    const bool is_expected = expected_version == 0 || expected_version == semaphore.version();
    return is_expected ? std::nullopt : std::optional{AnswerKind::busy};
}

KindStep Resize::apply(Semaphore& semaphore, SessionId /*by*/) const {
    semaphore.resize(limit);
    return {AnswerKind::stored};
}

std::string Resize::words(Quote quote) const {
    return "resize " + quote(name) + " to " + std::to_string(limit) + " permits" +
           (expected_version == 0
                ? ""
                : ", if its limit has version " + std::to_string(expected_version));
}

}  // namespace mortise::core
