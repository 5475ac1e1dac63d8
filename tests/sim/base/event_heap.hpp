// The pending events of the simulation, in the order of true time, and at equal times in the order
// in which they were scheduled. One thread takes from it, so a seed always gives the same run.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

namespace mortise::sim {

// True time: nanoseconds since the simulation began. Nodes never see it, only their own clocks.
using SimTime = std::int64_t;

constexpr SimTime sim_microsecond = 1'000;
constexpr SimTime sim_millisecond = 1'000 * sim_microsecond;
constexpr SimTime sim_second = 1'000 * sim_millisecond;
constexpr SimTime sim_never = std::numeric_limits<SimTime>::max();

class EventHeap {
public:
    using Action = std::function<void()>;

    [[nodiscard]] SimTime now() const { return now_; }
    [[nodiscard]] std::size_t size() const { return heap_.size(); }
    [[nodiscard]] SimTime next_time() const { return heap_.empty() ? sim_never : heap_[0].time; }

    // An event in the past happens now; one that never comes is not kept.
    void at(SimTime time, Action action);
    void after(SimTime delay, Action action) { at(now_ + delay, std::move(action)); }

    // Advances the time to the next event and runs it. False if there is none.
    bool run_next();
    // Runs everything up to and including `time`, which is the present time afterwards.
    void run_until(SimTime time);

private:
    // A small key, so that sifting is cheap; the actions stay in place.
    struct Key {
        SimTime time = 0;
        std::uint64_t sequence = 0;
        std::size_t slot = 0;
    };
    static bool later(const Key& a, const Key& b) {
        return a.time != b.time ? a.time > b.time : a.sequence > b.sequence;
    }

    SimTime now_ = 0;
    std::uint64_t sequence_ = 0;
    std::vector<Key> heap_;
    std::vector<Action> actions_;
    std::vector<std::size_t> free_;
};

}  // namespace mortise::sim
