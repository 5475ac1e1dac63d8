// One word for the use of a cached grant: whether its owner has released it, how many tokens of the
// grant are left behind it, and whether the grant is lent to it (core/cache/lock_cache.hpp). While
// it is lent, the owner takes the grant again and puts it back by one compare-and-swap each.
#pragma once

#include <atomic>
#include <cstdint>

namespace mortise::detail {

// Thread-safe. A token is taken with the grant, in the same step, so no token is taken twice; and
// the end of a loan, which is a change of the same word, comes before or behind each step of the
// owner: either it finds the grant in use, or nobody takes it any more.
class GrantWord {
public:
    // In use, and not lent.
    explicit GrantWord(std::uint32_t tokens_left) : word_{in_use | tokens_left * one_token} {}

    [[nodiscard]] bool is_in_use() const { return is_in_use(word_.load()); }
    [[nodiscard]] std::uint32_t tokens_left() const { return tokens_left(word_.load()); }

    // --- its owner

    // Takes the grant again, with the next token. False if it is not lent, or not released.
    [[nodiscard]] bool take() noexcept {
        auto known = word_.load(std::memory_order_relaxed);
        const bool may = (known & (lent | state)) == (lent | released) && known >= one_token;
        return may && word_.compare_exchange_strong(known, (known - one_token) | in_use);
    }
    // Releases the grant, which stays lent. False if it is not lent or not in use, or if this was
    // its last token.
    [[nodiscard]] bool put_back() noexcept {
        auto known = word_.load(std::memory_order_relaxed);
        const bool may = (known & (lent | state)) == (lent | in_use) && known >= one_token;
        return may && word_.compare_exchange_strong(known, known & ~state);
    }
    // The same for a use that nobody was told of: its token is the next one again.
    [[nodiscard]] bool put_back_unused() noexcept {
        auto known = word_.load(std::memory_order_relaxed);
        const bool may = (known & (lent | state)) == (lent | in_use);
        return may && word_.compare_exchange_strong(known, (known & ~state) + one_token);
    }
    // Releases it to the cache: given_back() or lend() follows. False if it is not in use.
    [[nodiscard]] bool release() noexcept {
        auto known = word_.load();
        while (is_in_use(known)) {
            if (word_.compare_exchange_weak(known, (known & ~state) | leaving)) return true;
        }
        return false;
    }
    // The cache knows of the release.
    void given_back() noexcept {
        auto known = word_.load();
        while ((known & state) == leaving) {
            if (word_.compare_exchange_weak(known, known & ~state)) break;
        }
        word_.notify_all();
    }
    void wait_until_given_back() const noexcept {
        for (auto known = word_.load(); (known & state) == leaving; known = word_.load())
            word_.wait(known);
    }

    // --- the cache, one call at a time

    // It was released, and is not lent: another use begins.
    void begin_anew(std::uint32_t tokens) noexcept { word_.store(in_use | tokens * one_token); }
    // It was released, and is not lent.
    void lend() noexcept {
        word_.store((word_.load() & ~state) | lent);
        word_.notify_all();
    }
    struct Loan {
        std::uint32_t tokens_left = 0;
        bool in_use = false;  // or is being released to the cache
    };
    Loan end_loan() noexcept { return loan_of(word_.fetch_and(~lent)); }
    [[nodiscard]] Loan loan() const noexcept { return loan_of(word_.load()); }

private:
    using Word = std::uint64_t;

    // the lowest bits; the number of tokens is in the others
    static constexpr Word released = 0;
    static constexpr Word in_use = 1;
    static constexpr Word leaving = 2;  // the release is on its way to the cache
    static constexpr Word state = 3;
    static constexpr Word lent = 4;
    static constexpr Word one_token = 8;

    [[nodiscard]] static bool is_in_use(Word word) { return (word & state) == in_use; }
    [[nodiscard]] static std::uint32_t tokens_left(Word word) {
        return static_cast<std::uint32_t>(word / one_token);
    }
    [[nodiscard]] static Loan loan_of(Word word) {
        return {tokens_left(word), (word & state) != released};
    }

    std::atomic<Word> word_;
};

}  // namespace mortise::detail
