// One subscriber of events and its queue. Events are delivered on the threads of a notifier, one at
// a time and in order.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <new>
#include <thread>
#include <utility>

#include "embed/threads/fork_generation.hpp"
#include "embed/threads/notifier.hpp"
#include <mortise/subscription.hpp>

namespace mortise::detail {

// Thread-safe.
template <class AnyEvent>
class SinkQueue : public std::enable_shared_from_this<SinkQueue<AnyEvent>> {
public:
    using Sink = std::function<void(const AnyEvent&)>;

    // At most `waiting_max` events wait. `has_room` is called on a thread of the notifier when
    // there is room again for somebody who asked for it. It must not throw.
    SinkQueue(Sink sink, std::size_t waiting_max, std::function<void()> has_room = {})
        : sink_{std::move(sink)}, waiting_max_{waiting_max}, has_room_{std::move(has_room)} {}

    // It ends with the queue.
    [[nodiscard]] static Subscription subscription_of(std::shared_ptr<SinkQueue> queue) {
        auto* raw = queue.get();
        return Subscription{
            std::shared_ptr<void>{raw, [queue = std::move(queue)](void*) { queue->end(); }}};
    }

    // How many more events it takes. If none, `has_room` will be called.
    [[nodiscard]] std::size_t room() {
        const std::scoped_lock lock{mutex_};
        const auto room = waiting_max_ - waiting_.size();
        if (room == 0) is_asked_for_room_ = true;
        return room;
    }

    // Its subscription is gone.
    [[nodiscard]] bool has_ended() {
        const std::scoped_lock lock{mutex_};
        return ended_;
    }

    // Drops the event if there is no room. Throws std::bad_alloc; then it is dropped as well.
    void add(AnyEvent event, Notifier& notifier) {
        {
            const std::scoped_lock lock{mutex_};
            if (ended_ || waiting_.size() >= waiting_max_) return;
            waiting_.push_back(std::move(event));
            if (std::exchange(is_delivering_, true)) return;
        }
        post_to(notifier);
    }

private:
    // Without memory the next event tries again.
    void post_to(Notifier& notifier) {
        try {
            notifier.post([queue = this->shared_from_this()] { queue->deliver(); });
        } catch (const std::bad_alloc&) {
            const std::scoped_lock lock{mutex_};
            is_delivering_ = false;
        }
    }

    void deliver() {
        std::unique_lock lock{mutex_};
        while (!waiting_.empty() && !ended_) {
            const auto event = std::move(waiting_.front());
            waiting_.pop_front();
            const bool tells = is_asked_for_room_ && waiting_.size() <= waiting_max_ / 2;
            if (tells) is_asked_for_room_ = false;
            caller_ = std::this_thread::get_id();
            lock.unlock();
            if (tells) has_room_();
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

    void end() {
        // the thread that may be in the sink does not exist in the child
        if (generation_.is_forked()) return;
        std::unique_lock lock{mutex_};
        ended_ = true;
        returned_.wait(lock, [this] {
            return caller_ == std::thread::id{} || caller_ == std::this_thread::get_id();
        });
    }

    const ForkGeneration generation_;
    const Sink sink_;
    const std::size_t waiting_max_;
    const std::function<void()> has_room_;
    std::mutex mutex_;
    std::condition_variable returned_;
    std::deque<AnyEvent> waiting_;
    std::thread::id caller_;
    bool is_delivering_ = false;
    bool is_asked_for_room_ = false;
    bool ended_ = false;
};

}  // namespace mortise::detail
