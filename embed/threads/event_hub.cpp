#include "embed/threads/event_hub.hpp"

#include <new>
#include <utility>

namespace mortise::detail {

namespace {

constexpr std::size_t waiting_max = 4'096;  // a slower sink misses events

}  // namespace

Subscription EventHub::subscribe(NodeEventSink sink) {
    auto queue = std::make_shared<Queue>(std::move(sink), waiting_max);
    queues_.with([&](auto& queues) {
        std::erase_if(queues, [](const auto& weak) { return weak.expired(); });
        queues.push_back(queue);
    });
    return Queue::subscription_of(std::move(queue));
}

void EventHub::publish(const NodeEvent& event) noexcept {
    try {
        const auto queues = queues_.with([](const auto& present) { return present; });
        for (const auto& weak : queues) {
            if (const auto queue = weak.lock()) queue->add(event, notifier_);
        }
    } catch (const std::bad_alloc&) {  // losing an event is better than losing the node
    }
}

}  // namespace mortise::detail
