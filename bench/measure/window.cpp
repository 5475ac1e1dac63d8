#include "bench/measure/window.hpp"

#include <thread>
#include <utility>

namespace mortise::bench {

Window::Window(Seconds warm_up, Seconds measured, Counters counters)
    : warm_up_time_{warm_up}, measured_time_{measured}, counters_{std::move(counters)} {}

nlohmann::json Window::run() {
    std::this_thread::sleep_for(warm_up_time_);
    const auto before = counters_();
    const auto begin = Clock::now();
    phase_ = Phase::measuring;
    std::this_thread::sleep_for(measured_time_);
    phase_ = Phase::over;
    const Seconds took = Clock::now() - begin;
    return {{"seconds", took.count()}, {"counters", growth(before, counters_())}};
}

nlohmann::json growth(const nlohmann::json& before, const nlohmann::json& after) {
    auto grown = nlohmann::json::object();
    for (const auto& [key, value] : after.items())
        grown[key] = value.get<std::int64_t>() - before.at(key).get<std::int64_t>();
    return grown;
}

}  // namespace mortise::bench
