// The use of a cached grant, as its record has it: whose it is, with which token, and its word.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>

#include "core/cache/lock_cache.hpp"
#include "embed/holds/grant_word.hpp"

namespace mortise::detail {

// Thread-safe, except begin_anew(). While the grant is lent to it, its owner uses the grant again
// and again: the label stays, and each token is the next one.
class GrantUse final : public core::LockCache::Loan {
public:
    GrantUse(core::LockCache::Use use, core::LockCache::User user)
        : last_{use.token.raw() + use.tokens_left},
          first_{use.token},
          previous_{std::move(use.previous)},
          user_{std::move(user)},
          word_{use.tokens_left} {}

    // Another use of the same grant, when nobody refers to the former one.
    void begin_anew(core::LockCache::Use use, core::LockCache::User user) noexcept {
        first_ = use.token;
        previous_ = std::move(use.previous);
        user_ = std::move(user);
        word_.begin_anew(use.tokens_left);
    }

    [[nodiscard]] core::FencingToken token() const { return token(word_.tokens_left()); }
    // The user before, which is its own one if the grant was lent to it.
    [[nodiscard]] core::Previous previous() const {
        const auto present = token();
        if (present == first_) return previous_;
        return {core::Predecessor::clean, user_.label, core::FencingToken{present.raw() - 1}};
    }
    // True if its user has that label, and no locker.
    [[nodiscard]] bool is_of(std::string_view label) const {
        return !user_.locker.is_set() && user_.label == label;
    }
    [[nodiscard]] bool has_locker() const { return user_.locker.is_set(); }

    [[nodiscard]] GrantWord& word() { return word_; }
    [[nodiscard]] const GrantWord& word() const { return word_; }

    [[nodiscard]] State state() const noexcept override { return state_of(word_.loan()); }
    State end() noexcept override { return state_of(word_.end_loan()); }

private:
    [[nodiscard]] core::FencingToken token(std::uint32_t tokens_left) const {
        return core::FencingToken{last_ - tokens_left};
    }
    [[nodiscard]] State state_of(GrantWord::Loan loan) const {
        return {token(loan.tokens_left), loan.in_use};
    }

    const std::uint64_t last_;  // token of the grant
    // of the use with which it began: set by the constructor and begin_anew()
    core::FencingToken first_;
    core::Previous previous_;
    core::LockCache::User user_;
    GrantWord word_;
};

}  // namespace mortise::detail
