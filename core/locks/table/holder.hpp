// A holder of a name, as its record keeps it and as readers see it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "core/locks/command.hpp"
#include "core/locks/limits.hpp"
#include "core/locks/outcome.hpp"

namespace mortise::core {

// A holder with all its parts, for readers.
struct Grant {
    OperationId operation;
    LockMode mode = LockMode::exclusive;
    FencingToken token;
    LogIndex since;
    std::string label;
    LockerTag locker{};
    // The hold was broken, but still blocks the name, because its node may not know yet (S24).
    bool broken = false;
    HoldTerms terms{};
    ClosureId closures{};  // the first quorum timer of its time limits, if it has any
    // How it ended, if it has ended and still blocks the name (S8, S9).
    std::optional<Predecessor> left{};
    // How many tokens it reserves, from `token` on: its node grants the name with these to one
    // caller after the other (S39). Zero: it is not cached. Whether a caller of that node holds the
    // name now, and which, is not known, so a cached grant has no locker.
    std::uint32_t cached_tokens = 0;
    Slots slots{};  // those of a semaphore that it has; ascending

    [[nodiscard]] bool is_held() const { return !broken && !left; }
    [[nodiscard]] bool is_cached() const { return cached_tokens != 0; }
    // The token is this grant's, or one that it reserves.
    [[nodiscard]] bool has_token(FencingToken other) const {
        return other == token || (other > token && other.raw() - token.raw() < cached_tokens);
    }

    friend bool operator==(const Grant&, const Grant&) = default;
};

// Most holders have no label, locker, time limit or slots, so these are in a block of their own.
class Holder {
public:
    Holder() = default;
    Holder(Grant grant);  // NOLINT(google-explicit-constructor): the same in another form

    [[nodiscard]] Grant as_grant() const;
    [[nodiscard]] const std::string& label() const { return more().label; }
    [[nodiscard]] const LockerTag& locker() const { return more().locker; }
    [[nodiscard]] const HoldTerms& terms() const { return more().terms; }
    [[nodiscard]] ClosureId closures() const { return more().closures; }
    [[nodiscard]] const Slots& slots() const;
    // The hold must have no slots.
    void set_owner(LockerTag locker, std::string label);
    // The next holder is told how this hold ended, and by this name if the hold has no label.
    void set_label_if_none(const std::string& label);

    // These three mean the same as the members of Grant with these names.
    [[nodiscard]] bool is_held() const { return !broken && !has_left(); }
    [[nodiscard]] bool is_cached() const { return cached_tokens != 0; }
    [[nodiscard]] bool has_token(FencingToken other) const {
        return other == token || (other > token && other.raw() - token.raw() < cached_tokens);
    }

    [[nodiscard]] bool has_left() const { return left != Predecessor::none; }
    // The newest one that it has or reserves.
    [[nodiscard]] FencingToken newest_token() const {
        return FencingToken{token.raw() + (is_cached() ? cached_tokens - 1 : 0)};
    }

    OperationId operation{};
    FencingToken token;
    LogIndex since;

private:
    struct More {
        std::string label;
        LockerTag locker;
        HoldTerms terms;
        ClosureId closures;
        std::unique_ptr<const Slots> slots;  // null: none
        friend bool operator==(const More&, const More&) = default;
    };
    [[nodiscard]] const More& more() const;
    void set(More more);

    std::unique_ptr<More> more_;

public:
    // The small ones are the last, so that those of a LockRecord take no further space.
    std::uint32_t cached_tokens : 25 = 0;
    LockMode mode : 3 = LockMode::exclusive;
    bool broken : 1 = false;
    Predecessor left : 3 = Predecessor::none;
    static_assert(cached_tokens_max < 1U << 25U && lock_modes <= 1U << 3U);
};

}  // namespace mortise::core
