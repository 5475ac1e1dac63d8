// Log lines on their way to a thread of the program.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include <mortise.h>
#include <sys/types.h>

#include <mortise/config.hpp>

namespace mortise::capi {

// Thread-safe. Its mutex is held for moments only, and never while code of the program runs. In the
// child of a fork, where a thread that does not exist may own the mutex, it takes and has no lines.
class LogQueue {
public:
    struct Line {
        LogLevel level = LogLevel::debug;
        std::string text{};
        std::uint64_t dropped = 0;  // between the line before and this one
        bool is_end = false;        // there will be no line any more
    };

    explicit LogQueue(std::size_t lines_max);

    // Drops and counts the line if the queue is full or there is no memory; after close() it only
    // drops.
    void put(LogLevel level, std::string_view text) noexcept;
    // Waits for the next line. After close() and the last line, it returns the end at once.
    [[nodiscard]] Line next();
    void close() noexcept;

private:
    [[nodiscard]] bool is_of_parent() const noexcept;
    [[nodiscard]] bool append(LogLevel level, std::string_view text) noexcept;

    const pid_t process_;
    const std::size_t lines_max_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<Line> lines_;
    std::uint64_t dropped_ = 0;  // since the last line of the queue
    bool is_closed_ = false;
};

// Owned by the configuration and the nodes that write to the queue; closes it with the last one.
class LogWriter {
public:
    explicit LogWriter(std::shared_ptr<LogQueue> queue) noexcept;
    ~LogWriter();
    LogWriter(const LogWriter&) = delete;
    LogWriter& operator=(const LogWriter&) = delete;
    void put(LogLevel level, std::string_view text) const noexcept { queue_->put(level, text); }

private:
    const std::shared_ptr<LogQueue> queue_;
};

}  // namespace mortise::capi

struct mortise_log_queue {
    std::shared_ptr<mortise::capi::LogQueue> queue;
    mortise::capi::LogQueue::Line line{};  // the last one that was taken; the caller has its text
};
