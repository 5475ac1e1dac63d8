#include "embed/console/event_queue.hpp"

#include <utility>

namespace mortise::console {

void EventQueue::put(const std::string& text) {
    const std::lock_guard lock{mutex_};
    if (has_ended_) return;
    if (text_.size() + text.size() > bytes_max)
        has_ended_ = true;
    else
        text_ += text;
    changed_.notify_all();
}

EventQueue::Taken EventQueue::take(std::chrono::milliseconds wait_max) {
    std::unique_lock lock{mutex_};
    changed_.wait_for(lock, wait_max, [&] { return has_ended_ || !text_.empty(); });
    return {std::exchange(text_, {}), has_ended_};
}

void EventQueue::end() noexcept {
    const std::lock_guard lock{mutex_};
    has_ended_ = true;
    changed_.notify_all();
}

}  // namespace mortise::console
