// What will happen, in the order of true time and, at the same time, in the order of asking. One
// thread takes from it, so a seed plays the same story every time.
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

    // What is asked for in the past happens now; what never comes is not kept.
    void at(SimTime time, Action action);
    void after(SimTime delay, Action action) { at(now_ + delay, std::move(action)); }

    // Moves the time on to the next event and lets it happen. False when there is none.
    bool run_next();
    // Everything up to and including `time`, which it is afterwards.
    void run_until(SimTime time);

private:
    // Small, so that sifting is cheap; the actions stay where they are.
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
