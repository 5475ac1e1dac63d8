#include "embed/runtime/metrics_hub.hpp"

#include <algorithm>
#include <new>
#include <utility>

#include <asio/post.hpp>

#include "embed/values/clocks.hpp"

namespace mortise::detail {

namespace {

constexpr std::size_t readings_waiting_max = 1;  // a slower sink misses metrics

}  // namespace

Subscription MetricsHub::subscribe(Duration interval, MetricsSink sink) {
    const auto pause = std::max<core::Nanoseconds>(interval.to_nanoseconds(), interval_min);
    auto queue = std::make_shared<Queue>(std::move(sink), readings_waiting_max);
    subscribers_.with([&](auto& all) { all.push_back({queue, pause, steady_now() + pause}); });
    asio::post(io_, [this] { set_timer(); });
    return Queue::subscription_of(std::move(queue));
}

void MetricsHub::stop() {
    stopped_ = true;
    timer_.cancel();
}

void MetricsHub::set_timer() {
    const auto next = subscribers_.with([](const auto& all) {
        const auto first = std::ranges::min_element(all, {}, &Subscriber::next);
        return first == all.end() ? core::Instant::never() : first->next;
    });
    if (stopped_ || next == core::Instant::never()) return;
    timer_.expires_at(asio::steady_timer::time_point{core::Nanoseconds{next.ns}});
    timer_.async_wait([this](std::error_code error) {
        if (!error) tell();
    });
}

// Without memory they are told the next time.
void MetricsHub::tell() {
    if (stopped_) return;
    try {
        const auto due = take_due(steady_now());
        if (!due.empty()) {
            const auto metrics = read_();
            for (const auto& queue : due)
                queue->add(metrics, notifier_);
        }
    } catch (const std::bad_alloc&) {
    }
    set_timer();
}

// Forgets those whose subscription has ended. After a pause of the node, they are told once.
std::vector<std::shared_ptr<MetricsHub::Queue>> MetricsHub::take_due(core::Instant now) {
    std::vector<std::shared_ptr<Queue>> due;
    subscribers_.with([&](auto& all) {
        std::erase_if(all, [](const Subscriber& one) { return one.queue.expired(); });
        for (auto& one : all) {
            if (one.next > now) continue;
            one.next = std::max(one.next + one.interval, now);
            if (auto queue = one.queue.lock()) due.push_back(std::move(queue));
        }
    });
    return due;
}

}  // namespace mortise::detail
