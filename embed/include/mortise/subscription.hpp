// Keeps a sink subscribed.
#pragma once

#include <functional>
#include <memory>
#include <utility>

#include <mortise/info.hpp>

namespace mortise {

// Called on a thread of the node, one call at a time. It must not throw; what it throws is dropped.
using NodeEventSink = std::function<void(const NodeEvent&)>;

// Ends with its destructor or with end(): no call begins after either, and unless it is the sink
// itself that ends it, none is still running. Movable; may outlive the node. Thread-safe like an
// int: one thread at a time.
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
