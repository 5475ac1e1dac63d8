#include "embed/threads/event_hub.hpp"

#include <atomic>
#include <deque>
#include <mutex>
#include <new>
#include <thread>
#include <utility>

#include "embed/threads/fork_generation.hpp"

namespace mortise::detail {

// One subscriber and its queue.
class EventHub::Line : public std::enable_shared_from_this<Line> {
public:
    explicit Line(NodeEventSink sink) : sink_{std::move(sink)} {}

    // True if deliver() has to be called.
    bool add(const NodeEvent& event) {
        const std::scoped_lock lock{mutex_};
        if (ended_ || waiting_.size() >= waiting_max) return false;
        waiting_.push_back(event);
        return !std::exchange(is_delivering_, true);
    }

    void deliver() {
        std::unique_lock lock{mutex_};
        while (!waiting_.empty() && !ended_) {
            const auto event = std::move(waiting_.front());
            waiting_.pop_front();
            caller_ = std::this_thread::get_id();
            lock.unlock();
            try {
                sink_(event);
            } catch (...) {  // the sink threw
            }
            lock.lock();
            caller_ = {};
            returned_.notify_all();
        }
        is_delivering_ = false;
    }

    // Called if there was no memory to deliver; the next event tries again.
    void not_delivering() {
        const std::scoped_lock lock{mutex_};
        is_delivering_ = false;
    }

    void end() {
        // the thread that may be in the sink does not exist in the child
        if (generation_.is_forked()) return;
        std::unique_lock lock{mutex_};
        ended_ = true;
        returned_.wait(lock, [this] {
            return caller_ == std::thread::id{} || caller_ == std::this_thread::get_id();
        });
    }

private:
    static constexpr std::size_t waiting_max = 4'096;  // a slower sink misses events

    const ForkGeneration generation_;
    const NodeEventSink sink_;
    std::mutex mutex_;
    std::condition_variable returned_;
    std::deque<NodeEvent> waiting_;
    std::thread::id caller_;
    bool is_delivering_ = false;
    bool ended_ = false;
};

Subscription EventHub::subscribe(NodeEventSink sink) {
    auto line = std::make_shared<Line>(std::move(sink));
    lines_.with([&](auto& lines) {
        std::erase_if(lines, [](const auto& weak) { return weak.expired(); });
        lines.push_back(line);
    });
    auto* raw = line.get();
    return Subscription{
        std::shared_ptr<void>{raw, [line = std::move(line)](void*) { line->end(); }}};
}

void EventHub::publish(const NodeEvent& event) noexcept {
    try {
        const auto lines = lines_.with([](const auto& present) { return present; });
        for (const auto& weak : lines) {
            if (const auto line = weak.lock(); line && line->add(event)) deliver(line);
        }
    } catch (const std::bad_alloc&) {  // losing an event is better than losing the node
    }
}

void EventHub::deliver(const std::shared_ptr<Line>& line) {
    try {
        notifier_.post([line] { line->deliver(); });
    } catch (const std::bad_alloc&) {
        line->not_delivering();
    }
}

}  // namespace mortise::detail
