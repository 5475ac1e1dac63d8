// T1: one thread takes a lock again and again that its node has cached, timed in blocks so that
// the clock costs nothing.
#include <algorithm>
#include <mutex>
#include <vector>

#include "bench/node/tasks.hpp"
#include <mortise/mutex.hpp>

namespace mortise::bench {

namespace {

constexpr int block = 1'000;

// Nanoseconds of one turn, in the middle block of all that fit into the time.
template <class Turn>
double nanoseconds_of(Seconds time, const Turn& turn) {
    std::vector<Clock::duration> blocks;
    const auto end = Clock::now() + std::chrono::duration_cast<Clock::duration>(time);
    while (Clock::now() < end) {
        const auto begin = Clock::now();
        for (int i = 0; i < block; ++i)
            turn();
        blocks.push_back(Clock::now() - begin);
    }
    const auto middle = blocks.begin() + static_cast<std::ptrdiff_t>(blocks.size() / 2);
    std::ranges::nth_element(blocks, middle);
    return std::chrono::duration<double, std::nano>{*middle}.count() / block;
}

}  // namespace

nlohmann::json cached_load(Node& node, const std::string& name, Seconds time) {
    std::mutex local;
    Mutex mutex{node, name + "/mutex"};
    const auto third = time / 3;
    const auto std_mutex = nanoseconds_of(third, [&] { const std::scoped_lock lock{local}; });
    const auto by_mutex = nanoseconds_of(third, [&] { const std::scoped_lock lock{mutex}; });
    const auto before = node.metrics().served_from_cache;
    const auto by_name = nanoseconds_of(third, [&] { const auto hold = node.acquire(name); });
    return {{"std_mutex_ns", std_mutex},
            {"mutex_ns", by_mutex},
            {"name_ns", by_name},
            {"served", node.metrics().served_from_cache - before}};
}

}  // namespace mortise::bench
