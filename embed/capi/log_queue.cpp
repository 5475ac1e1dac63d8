#include "embed/capi/log_queue.hpp"

#include <exception>
#include <utility>

#include <unistd.h>

namespace mortise::capi {

LogQueue::LogQueue(std::size_t lines_max) : process_{::getpid()}, lines_max_{lines_max} {}

bool LogQueue::is_of_parent() const noexcept {
    return ::getpid() != process_;
}

void LogQueue::put(LogLevel level, std::string_view text) noexcept {
    if (is_of_parent()) return;
    {
        const std::lock_guard lock{mutex_};
        if (is_closed_) return;
        if (!append(level, text)) ++dropped_;
    }
    changed_.notify_one();
}

bool LogQueue::append(LogLevel level, std::string_view text) noexcept {
    if (lines_.size() >= lines_max_) return false;
    try {
        lines_.push_back({level, std::string{text}, dropped_, false});
        dropped_ = 0;
        return true;
    } catch (const std::exception&) {  // no memory
        return false;
    }
}

LogQueue::Line LogQueue::next() {
    if (is_of_parent()) return {.is_end = true};
    std::unique_lock lock{mutex_};
    changed_.wait(lock, [this] { return is_closed_ || !lines_.empty(); });
    if (lines_.empty()) return {.dropped = std::exchange(dropped_, 0), .is_end = true};
    auto line = std::move(lines_.front());
    lines_.pop_front();
    return line;
}

void LogQueue::close() noexcept {
    if (is_of_parent()) return;
    {
        const std::lock_guard lock{mutex_};
        is_closed_ = true;
    }
    changed_.notify_all();
}

LogWriter::LogWriter(std::shared_ptr<LogQueue> queue) noexcept : queue_{std::move(queue)} {}

LogWriter::~LogWriter() {
    queue_->close();
}

}  // namespace mortise::capi
