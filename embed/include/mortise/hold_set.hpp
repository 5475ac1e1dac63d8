// Several locks that were taken together.
#pragma once

#include <cstddef>
#include <stop_token>
#include <string_view>
#include <system_error>
#include <vector>

#include <mortise/boot_clock.hpp>
#include <mortise/duration.hpp>
#include <mortise/enums.hpp>
#include <mortise/hold.hpp>

namespace mortise {

namespace detail {
class HoldRecord;
}

// Owns one grant of each name that acquire_all() was asked for, each with its own token. They came
// together and go together: in one command, when release() or unlock() is called or this object
// goes. A range of const Hold&, in the byte order of their names; none of them is released or
// converted by itself.
//
// As of a Hold: every member may be called at any time, those that do not change it from several
// threads at once, and nothing blocks but release().
class [[nodiscard]] HoldSet {
public:
    using value_type = Hold;
    using const_iterator = std::vector<Hold>::const_iterator;
    using iterator = const_iterator;

    // Empty: owns nothing.
    HoldSet() noexcept;
    HoldSet(HoldSet&& other) noexcept;
    // Releases what it owned without waiting.
    HoldSet& operator=(HoldSet&& other) noexcept;
    // Releases without waiting.
    ~HoldSet();

    // Owns its grants: not empty, not moved from, not released. Says nothing of the lease.
    [[nodiscard]] explicit operator bool() const noexcept { return static_cast<bool>(grant_); }

    [[nodiscard]] const_iterator begin() const noexcept { return holds_.begin(); }
    [[nodiscard]] const_iterator end() const noexcept { return holds_.end(); }
    [[nodiscard]] std::size_t size() const noexcept { return holds_.size(); }
    [[nodiscard]] bool empty() const noexcept { return holds_.empty(); }
    // Null for a name that is not among them.
    [[nodiscard]] const Hold* find(std::string_view name) const noexcept;

    // As of a Hold, for all of them: they have one lease.
    [[nodiscard]] bool valid() const noexcept { return grant_.valid(); }
    [[nodiscard]] BootClock::time_point valid_until() const noexcept {
        return grant_.valid_until();
    }
    [[nodiscard]] Duration remaining() const noexcept { return grant_.remaining(); }
    [[nodiscard]] HoldState state() const noexcept { return grant_.state(); }
    [[nodiscard]] LossReason why_lost() const noexcept { return grant_.why_lost(); }
    // Stops when the first of them is lost; each one's own stops then, too.
    [[nodiscard]] std::stop_token lost() const noexcept { return grant_.lost(); }
    void check() const { grant_.check(); }
    void check(std::error_code& ec) const noexcept { grant_.check(ec); }
    [[nodiscard]] std::error_code failure() const noexcept { return grant_.failure(); }

    // Gives all of them back in one command: see Hold::release() and unlock(). The holds stay in
    // the range, released.
    [[nodiscard]] std::error_code release() noexcept { return grant_.release(); }
    void unlock() noexcept { grant_.unlock(); }

private:
    friend class detail::HoldRecord;
    explicit HoldSet(Hold grant);

    Hold grant_;
    std::vector<Hold> holds_;
};

}  // namespace mortise
