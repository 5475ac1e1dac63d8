#include "embed/runtime/observer_hub.hpp"

#include <algorithm>
#include <new>
#include <utility>

#include "core/node/node_core.hpp"
#include "embed/runtime/ahead_observers.hpp"
#include "embed/runtime/translate_observed.hpp"
#include "embed/values/clocks.hpp"

namespace mortise::detail {

namespace {

constexpr std::size_t observers_max = 1'024;
constexpr std::size_t observer_events_max = 1'024;  // told, and not delivered yet
constexpr std::size_t told_at_once_max = 256;
constexpr std::size_t looks_per_step_max = 2'048;  // less than a millisecond

}  // namespace

std::optional<Subscription> ObserverHub::subscribe(core::ObservedNames names, core::Position from,
                                                   EventSink sink) {
    auto has_room = [gate = gate_, asked = is_asked_] {
        *asked = true;
        gate->wake_up();
    };
    auto queue = std::make_shared<Queue>(std::move(sink), observer_events_max, std::move(has_room));
    const bool has_place = arrivals_.with([&](Arrivals& arrivals) {
        std::erase_if(arrivals.all, [](const auto& weak) {
            const auto one = weak.lock();
            return !one || one->has_ended();
        });
        if (arrivals.all.size() >= observers_max) return false;
        arrivals.all.push_back(queue);
        arrivals.fresh.push_back({queue, std::move(names), from});
        return true;
    });
    if (!has_place) return std::nullopt;
    *is_asked_ = true;
    gate_->wake_up();
    return Queue::subscription_of(std::move(queue));
}

void ObserverHub::take_arrivals(const std::function<void(const Arrival&)>& take) {
    try {
        arrivals_.with([&](Arrivals& arrivals) {
            for (; !arrivals.fresh.empty(); arrivals.fresh.pop_back())
                take(arrivals.fresh.back());
        });
    } catch (const std::bad_alloc&) {
        *is_asked_ = true;
    }
}

bool ObserverHub::tell(const core::NodeCore& core, AheadObservers& ahead) {
    const bool was_asked = is_asked();
    if (was_asked) {
        take_arrivals([this](const Arrival& each) {
            observing_.push_back({each.queue, {each.names, each.from}});
        });
    }
    const auto applied = core.changes().applied();
    const bool has_news = std::exchange(told_to_, applied) != applied;
    if (was_asked || has_news || has_more_ || has_ahead_) tell_in_turn(core, ahead);
    return has_more_;
}

void ObserverHub::tell_in_turn(const core::NodeCore& core, AheadObservers& ahead) {
    has_more_ = false;
    has_ahead_ = false;
    auto looks = looks_per_step_max;
    for (auto left = observing_.size(); left > 0 && !observing_.empty(); --left) {
        next_ %= observing_.size();
        if (looks == 0) {
            has_more_ = true;
            return;
        }
        auto& one = observing_[next_];
        if (const auto queue = one.queue.lock()) {
            tell(core, *queue, one, looks, ahead);
            has_ahead_ = has_ahead_ || one.ahead_since != core::Instant::never();
            ++next_;
        } else {
            observing_.erase(observing_.begin() + static_cast<std::ptrdiff_t>(next_));
        }
    }
}

void ObserverHub::tell(const core::NodeCore& core, Queue& queue, Observing& one, std::size_t& looks,
                       AheadObservers& ahead) {
    const auto room = queue.room();
    if (room == 0) return;  // it will ask
    core::ObserverBudget budget{std::min(room, told_at_once_max), looks};
    try {
        std::vector<core::Observed> told;
        one.observer.take(core.changes(), core.machine(), budget, told);
        for (auto& each : told)
            queue.add(event_of(each), notifier_);
    } catch (const std::bad_alloc&) {  // a gap is better than a missing change
        one.observer.begin_anew();
    }
    looks = budget.looks;
    ahead.judge(one.observer, one.ahead_since, core.changes(), steady_now());
    has_more_ = has_more_ || one.observer.has_more();
}

}  // namespace mortise::detail
