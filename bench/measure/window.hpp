// The time of one measurement: a warm-up, and then the part that counts.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>

#include <nlohmann/json.hpp>

namespace mortise::bench {

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

// Callers ask is_open() before each cycle and counts() after it. Meanwhile run() sleeps.
class Window {
public:
    // Numbers that grow, as an object of JSON: the result has how much they grew.
    using Counters = std::function<nlohmann::json()>;

    Window(Seconds warm_up, Seconds measured, Counters counters);

    [[nodiscard]] bool is_open() const {
        return phase_.load(std::memory_order_relaxed) != Phase::over;
    }
    [[nodiscard]] bool counts() const {
        return phase_.load(std::memory_order_relaxed) == Phase::measuring;
    }
    // Returns when the time is over: {"seconds": ..., "counters": {...}}.
    [[nodiscard]] nlohmann::json run();

private:
    enum class Phase { warming_up, measuring, over };

    Seconds warm_up_time_;
    Seconds measured_time_;
    Counters counters_;
    std::atomic<Phase> phase_ = Phase::warming_up;
};

[[nodiscard]] nlohmann::json growth(const nlohmann::json& before, const nlohmann::json& after);

}  // namespace mortise::bench
