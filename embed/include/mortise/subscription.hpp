// A subscription to events, which ends with this object.
#pragma once

#include <functional>
#include <memory>
#include <utility>

#include <mortise/info.hpp>

namespace mortise {

// Called on a thread of the node, one call at a time. It must not throw; exceptions are dropped.
using NodeEventSink = std::function<void(const NodeEvent&)>;
using MetricsSink = std::function<void(const Metrics&)>;

// Ends with its destructor or with end(). Once one of them has returned, no call of the sink begins
// or runs, except a call that has ended the subscription itself. It is movable and may outlive the
// node. One thread at a time may use it.
class [[nodiscard]] Subscription {
public:
    Subscription() noexcept = default;
    explicit Subscription(std::shared_ptr<void> ending) noexcept : ending_{std::move(ending)} {}
    Subscription(Subscription&&) noexcept = default;
    Subscription& operator=(Subscription&&) noexcept = default;

    void end() noexcept { ending_.reset(); }
    [[nodiscard]] explicit operator bool() const noexcept { return ending_ != nullptr; }

private:
    std::shared_ptr<void> ending_;
};

}  // namespace mortise
