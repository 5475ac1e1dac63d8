// The calls on one connection that have no answer, and whether the peer is alive.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/base/instant.hpp"

namespace mortise::transport {

class LinkCalls {
public:
    struct Limits {
        std::size_t calls_max = 0;        // without an answer
        std::size_t words_max = 0;        // in them
        core::Nanoseconds silence_max{};  // with an unanswered call
        core::Nanoseconds ping_every{};   // without messages to send
    };

    LinkCalls(const Limits& limits, core::Instant now)
        : limits_{limits}, progress_at_{now}, sent_at_{now} {}

    [[nodiscard]] bool has_room() const {
        return count_ < limits_.calls_max && words_ < limits_.words_max;
    }
    // Returns the number of the call: the lowest one that no other call has.
    std::size_t sent(std::size_t words, core::Instant now) {
        sent_at_ = now;
        if (count_++ == 0) progress_at_ = now;
        words_ += words;
        const auto free = std::ranges::find(calls_, 0U);
        const auto number = static_cast<std::size_t>(free - calls_.begin());
        if (free == calls_.end()) calls_.emplace_back();
        calls_[number] = words;
        return number;
    }
    void answered(std::size_t number, core::Instant now) {
        --count_;
        words_ -= std::exchange(calls_[number], 0);
        is_suspect_ = false;
        progress_at_ = now;
    }

    enum class Need : std::uint8_t { nothing, ping, close };
    // Called at intervals.
    [[nodiscard]] Need tick(core::Instant now) {
        if (count_ == 0) return now - sent_at_ >= limits_.ping_every ? Need::ping : Need::nothing;
        if (now - progress_at_ < limits_.silence_max) return Need::nothing;
        // The peer is suspected first, not lost at once: this process may have been paused, with
        // answers waiting to be read.
        return std::exchange(is_suspect_, true) ? Need::close : Need::nothing;
    }

private:
    Limits limits_;
    std::size_t count_ = 0;           // of calls without an answer
    std::size_t words_ = 0;           // in them
    std::vector<std::size_t> calls_;  // the words of each, by its number; zero: there is none
    core::Instant progress_at_;  // of the newest answer, or of the first call that waits for one
    core::Instant sent_at_;      // of the newest call
    bool is_suspect_ = false;    // it was silent for too long at the last tick
};

}  // namespace mortise::transport
