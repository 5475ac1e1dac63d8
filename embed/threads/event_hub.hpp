// Delivers a node's events to its subscribers on the notifier's threads, to each subscriber in
// order and one at a time.
#pragma once

#include <memory>
#include <vector>

#include "embed/threads/guarded.hpp"
#include "embed/threads/notifier.hpp"
#include "embed/threads/sink_queue.hpp"
#include <mortise/event.hpp>
#include <mortise/subscription.hpp>

namespace mortise::detail {

// Thread-safe.
class EventHub {
public:
    // The notifier outlives the hub.
    explicit EventHub(Notifier& notifier) : notifier_{notifier} {}

    [[nodiscard]] Subscription subscribe(NodeEventSink sink);
    // A subscriber that is too slow, or for which there is no memory, misses the event.
    void publish(const NodeEvent& event) noexcept;

private:
    using Queue = SinkQueue<NodeEvent>;

    Notifier& notifier_;
    Guarded<std::vector<std::weak_ptr<Queue>>> queues_;
};

}  // namespace mortise::detail
