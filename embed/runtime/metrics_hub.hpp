// Passes the metrics of a node to its subscribers, to each of them at its interval, on the
// notifier's threads.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <vector>

#include <asio/io_context.hpp>
#include <asio/steady_timer.hpp>

#include "core/base/instant.hpp"
#include "embed/threads/guarded.hpp"
#include "embed/threads/notifier.hpp"
#include "embed/threads/sink_queue.hpp"
#include <mortise/metrics.hpp>
#include <mortise/subscription.hpp>

namespace mortise::detail {

class MetricsHub {
public:
    static constexpr std::chrono::milliseconds interval_min{10};

    // `read` is called on the thread of the io_context. All of them outlive the hub.
    MetricsHub(asio::io_context& io, Notifier& notifier, std::function<Metrics()> read)
        : io_{io}, notifier_{notifier}, read_{std::move(read)}, timer_{io} {}

    // Thread-safe.
    [[nodiscard]] Subscription subscribe(Duration interval, MetricsSink sink);
    // On the thread of the io_context, or when there is none any more: nobody is told anything
    // after this.
    void stop();

private:
    using Queue = SinkQueue<Metrics>;
    struct Subscriber {
        std::weak_ptr<Queue> queue;
        core::Nanoseconds interval;
        core::Instant next;
    };

    void set_timer();
    void tell();
    [[nodiscard]] std::vector<std::shared_ptr<Queue>> take_due(core::Instant now);

    asio::io_context& io_;
    Notifier& notifier_;
    const std::function<Metrics()> read_;
    asio::steady_timer timer_;
    Guarded<std::vector<Subscriber>> subscribers_;
    bool stopped_ = false;
};

}  // namespace mortise::detail
