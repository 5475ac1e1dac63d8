// The events that one browser has not read yet.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <string>

namespace mortise::console {

// Thread-safe.
class EventQueue {
public:
    static constexpr std::size_t bytes_max = std::size_t{512} << 10U;

    // Puts the text of an event. When it does not fit any more, this and all later ones are
    // dropped: the reader sees that the stream has ended, and begins a new one where it was.
    void put(const std::string& text);

    struct Taken {
        std::string text;  // of the events, perhaps none
        bool is_last = false;
    };
    // What there is, or arrives within this time.
    [[nodiscard]] Taken take(std::chrono::milliseconds wait_max);
    // Wakes the reader for the last time.
    void end() noexcept;

private:
    std::mutex mutex_;
    std::condition_variable changed_;
    std::string text_;
    bool has_ended_ = false;
};

}  // namespace mortise::console
