#include "tests/sim/base/event_heap.hpp"

#include <algorithm>
#include <utility>

namespace mortise::sim {

void EventHeap::at(SimTime time, Action action) {
    if (time == sim_never) return;
    std::size_t slot = actions_.size();
    if (free_.empty()) {
        actions_.push_back(std::move(action));
    } else {
        slot = free_.back();
        free_.pop_back();
        actions_[slot] = std::move(action);
    }
    heap_.push_back({std::max(time, now_), sequence_++, slot});
    std::ranges::push_heap(heap_, later);
}

bool EventHeap::run_next() {
    if (heap_.empty()) return false;
    std::ranges::pop_heap(heap_, later);
    const auto key = heap_.back();
    heap_.pop_back();
    now_ = key.time;
    const auto action = std::exchange(actions_[key.slot], nullptr);
    free_.push_back(key.slot);
    action();
    return true;
}

void EventHeap::run_until(SimTime time) {
    while (next_time() <= time)
        run_next();
    now_ = std::max(now_, time);
}

}  // namespace mortise::sim
