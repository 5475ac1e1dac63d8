#include "embed/threads/stage_trace.hpp"

#ifdef MORTISE_TRACE

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>

namespace mortise::detail {

namespace {

constexpr std::size_t stages_max = std::size_t{1} << 20U;

struct Stages {
    std::atomic<std::size_t> count{0};
    std::array<StageTime, stages_max> times;
};

Stages& stages() {
    static Stages all;
    return all;
}

}  // namespace

void stage(Stage stage) noexcept {
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    auto& all = stages();
    const auto at = all.count++;
    if (at < stages_max) all.times[at] = {stage, std::chrono::nanoseconds{now}.count()};
}

std::vector<StageTime> take_stages() {
    auto& all = stages();
    const auto count = std::min(all.count.exchange(0), stages_max);
    std::vector<StageTime> taken{all.times.begin(),
                                 all.times.begin() + static_cast<std::ptrdiff_t>(count)};
    std::ranges::sort(taken, {}, &StageTime::at_ns);
    return taken;
}

}  // namespace mortise::detail

#endif
