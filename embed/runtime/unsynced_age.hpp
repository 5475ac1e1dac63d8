// How long writes have been in the page cache alone, and when they are to be synced.
#pragma once

#include <cstdint>
#include <optional>

#include "core/base/instant.hpp"

namespace mortise::detail {

// It reads no clock: every function is told the time.
class UnsyncedAge {
public:
    explicit UnsyncedAge(core::Nanoseconds interval) : interval_{interval} {}

    // True if a sync that nobody waited for is now to come, or comes earlier.
    bool written(core::Instant now, std::uint64_t bytes) {
        const bool was_much = bytes_ >= bytes_max;
        const bool is_first = !since_;
        bytes_ += bytes;
        if (is_first) since_ = now;
        return is_first || (bytes_ >= bytes_max && !was_much);
    }
    // A sync begins, which covers what was written before.
    void sync_begins() {
        syncing_ = since_;
        since_.reset();
        bytes_ = 0;
    }
    void sync_ends() { syncing_.reset(); }
    void all_synced() {
        sync_begins();
        sync_ends();
    }

    // The oldest write that is not synced.
    [[nodiscard]] std::optional<core::Instant> oldest() const {
        return syncing_ ? syncing_ : since_;
    }
    // When the next sync is to begin.
    [[nodiscard]] std::optional<core::Instant> due() const {
        if (!since_) return std::nullopt;
        return bytes_ >= bytes_max ? *since_ : *since_ + interval_;
    }
    // Then a write waits for its sync, which bounds what a loss of power takes.
    [[nodiscard]] bool lags(core::Instant now) const {
        const auto since = oldest();
        return since && now - *since > intervals_max * interval_;
    }

private:
    static constexpr int intervals_max = 10;
    static constexpr std::uint64_t bytes_max = std::uint64_t{4} << 20U;

    core::Nanoseconds interval_;
    std::optional<core::Instant> since_;    // the first write behind the newest sync
    std::optional<core::Instant> syncing_;  // the first one that the sync under way covers
    std::uint64_t bytes_ = 0;               // since `since_`
};

}  // namespace mortise::detail
