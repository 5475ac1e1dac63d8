// The observers of a node (Node::observe): tells each of them, on the notifier's threads, what the
// core knows. Those that are slow do not delay the node: they are told more when they have room.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "core/observe/observer.hpp"
#include "embed/threads/call_gate.hpp"
#include "embed/threads/guarded.hpp"
#include "embed/threads/notifier.hpp"
#include "embed/threads/sink_queue.hpp"
#include <mortise/observe.hpp>

namespace mortise::core {
class NodeCore;
}

namespace mortise::detail {

class AheadObservers;

// It stays when the node is suspended and runs again: its observers continue from their positions.
class ObserverHub {
public:
    using Queue = SinkQueue<Event>;
    // Somebody who wants to observe.
    struct Arrival {
        std::weak_ptr<Queue> queue;
        core::ObservedNames names;
        core::Position from;
    };

    // The notifier outlives the hub. The gate wakes the core thread.
    ObserverHub(Notifier& notifier, std::shared_ptr<CallGate> gate)
        : notifier_{notifier}, gate_{std::move(gate)} {}

    // From any thread. Empty if there are too many observers (P11).
    [[nodiscard]] std::optional<Subscription> subscribe(core::ObservedNames names,
                                                        core::Position from, EventSink sink);
    // On the core thread, between two steps. Does a limited amount of work (P10); true if there is
    // more to do at once.
    [[nodiscard]] bool tell(const core::NodeCore& core, AheadObservers& ahead);

    // For a client node, whose observers ask a member (member_observer.hpp): some observer is new,
    // or has room again. On the core thread.
    [[nodiscard]] bool is_asked() { return is_asked_->exchange(false); }
    // Each new one, once. If `take` throws, it and the others are asked for again.
    void take_arrivals(const std::function<void(const Arrival&)>& take);

private:
    struct Observing {
        std::weak_ptr<Queue> queue;
        core::Observer observer;
        core::Instant ahead_since = core::Instant::never();
    };
    struct Arrivals {
        std::vector<std::weak_ptr<Queue>> all;
        std::vector<Arrival> fresh;
    };

    void tell_in_turn(const core::NodeCore& core, AheadObservers& ahead);
    void tell(const core::NodeCore& core, Queue& queue, Observing& one, std::size_t& looks,
              AheadObservers& ahead);

    Notifier& notifier_;
    const std::shared_ptr<CallGate> gate_;
    Guarded<Arrivals> arrivals_;
    // An observer is new, or has room again. Its queue may outlive the hub.
    const std::shared_ptr<std::atomic<bool>> is_asked_ = std::make_shared<std::atomic<bool>>(false);

    // Used by the core thread.
    std::vector<Observing> observing_;
    std::size_t next_ = 0;  // whose turn it is
    core::LogIndex told_to_;
    bool has_more_ = false;
    bool has_ahead_ = false;  // some observer is ahead of the node
};

}  // namespace mortise::detail
