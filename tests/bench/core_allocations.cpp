// Counts how often the core allocates memory, per acquire and its release, at three nodes: the
// requesting one, the leader, and another follower. Only allocations within NodeCore::step count.
// It prints one line; `./dev bench --allocations`.
#include <cstdio>
#include <exception>

#include "tests/bench/core_cluster.hpp"

namespace mortise::bench {
namespace {

int measure() {
    constexpr std::uint64_t cycles = 20'000;
    CoreCluster cluster{3};
    const auto leader = cluster.leader();
    const auto asked = (leader + 1) % 3;
    const auto other = (leader + 2) % 3;
    const auto cycle = [&](std::uint64_t at) {
        cluster.cycle(asked, 2 * at, "jobs/nightly/" + std::to_string(2 * at % 16));
    };
    for (std::uint64_t at = 1; at <= 1'000; ++at)
        cycle(at);
    cluster.costs.assign(3, {});
    for (std::uint64_t at = 2'001; at <= 2'000 + cycles; ++at) {
        cycle(at);
        if (at % 100 == 0) cluster.run_for(std::chrono::milliseconds{1});
    }
    const auto show = [&](const char* where, std::size_t at) {
        std::printf(" %s %.1f (%.0f bytes)", where,
                    static_cast<double>(cluster.costs.at(at).count) / cycles,
                    static_cast<double>(cluster.costs.at(at).bytes) / cycles);
    };
    std::printf("allocations per acquire and release:");
    show("asked", asked);
    show("leader", leader);
    show("follower", other);
    std::printf("\n");
    return 0;
}

}  // namespace
}  // namespace mortise::bench

int main() {
    try {
        return mortise::bench::measure();
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
}
