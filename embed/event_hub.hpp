// Hands a node's events to those who subscribed, on the notifier's threads: to each in order and
// one at a time.
#pragma once

#include <memory>
#include <vector>

#include "embed/guarded.hpp"
#include "embed/notifier.hpp"
#include <mortise/event.hpp>
#include <mortise/subscription.hpp>

namespace mortise::detail {

// Thread-safe.
class EventHub {
public:
    // The notifier outlives the hub.
    explicit EventHub(Notifier& notifier) : notifier_{notifier} {}

    [[nodiscard]] Subscription subscribe(NodeEventSink sink);
    // Whoever cannot be told, for want of memory or of patience, misses it.
    void publish(const NodeEvent& event) noexcept;

private:
    class Line;

    void deliver(const std::shared_ptr<Line>& line);

    Notifier& notifier_;
    Guarded<std::vector<std::weak_ptr<Line>>> lines_;
};

}  // namespace mortise::detail
