// Several locks that were acquired together.
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

// Owns one grant for each name that acquire_all() was asked for, each with its own token. They were
// granted together and are released together, in one command, by release(), unlock() or the
// destructor. The set is a range of const Hold& in the byte order of the names; a single one cannot
// be released or converted.
//
// As for Hold: every member may be called at any time; members that do not change the set may be
// called from several threads at once; only release() blocks.
class [[nodiscard]] HoldSet {
public:
    using value_type = Hold;
    using const_iterator = std::vector<Hold>::const_iterator;
    using iterator = const_iterator;

    // An empty set, which owns nothing.
    HoldSet() noexcept;
    HoldSet(HoldSet&& other) noexcept;
    // Releases the former grants of this object without waiting.
    HoldSet& operator=(HoldSet&& other) noexcept;
    // Releases the grants without waiting.
    ~HoldSet();

    // True if this object owns grants: it is not empty, moved from or released. This says nothing
    // about the lease.
    [[nodiscard]] explicit operator bool() const noexcept { return static_cast<bool>(grant_); }

    [[nodiscard]] const_iterator begin() const noexcept { return holds_.begin(); }
    [[nodiscard]] const_iterator end() const noexcept { return holds_.end(); }
    [[nodiscard]] std::size_t size() const noexcept { return holds_.size(); }
    [[nodiscard]] bool empty() const noexcept { return holds_.empty(); }
    // The hold of this name; null if the name is not in the set.
    [[nodiscard]] const Hold* find(std::string_view name) const noexcept;

    // See Hold; these are about all holds of the set, which share one lease.
    [[nodiscard]] bool valid() const noexcept { return grant_.valid(); }
    [[nodiscard]] BootClock::time_point valid_until() const noexcept {
        return grant_.valid_until();
    }
    [[nodiscard]] Duration remaining() const noexcept { return grant_.remaining(); }
    [[nodiscard]] HoldState state() const noexcept { return grant_.state(); }
    [[nodiscard]] LossReason why_lost() const noexcept { return grant_.why_lost(); }
    // A stop is requested when the first hold is lost. A stop is then requested on
    // the others' own tokens as well.
    [[nodiscard]] std::stop_token lost() const noexcept { return grant_.lost(); }
    void check() const { grant_.check(); }
    void check(std::error_code& ec) const noexcept { grant_.check(ec); }
    [[nodiscard]] std::error_code failure() const noexcept { return grant_.failure(); }

    // Releases all holds in one command; see Hold::release() and Hold::unlock(). The holds stay in
    // the range, in the state released.
    [[nodiscard]] std::error_code release() noexcept { return grant_.release(); }
    void unlock() noexcept { grant_.unlock(); }

private:
    friend class detail::HoldRecord;
    explicit HoldSet(Hold grant);

    Hold grant_;
    std::vector<Hold> holds_;
};

}  // namespace mortise
