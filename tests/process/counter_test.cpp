// What a lock cannot guarantee and a token can: holders stop themselves between reading and writing
// for longer than their lease, and resume without knowing that they lost the lock.
#include <gtest/gtest.h>

#include "tests/process/process_cluster.hpp"
#include "tests/process/shared_counter.hpp"

namespace mortise::tests {
namespace {

using namespace std::chrono_literals;

const TimingConfig quick{.session_ttl = 1500ms, .election_timeout = 250ms, .heartbeat = 50ms};
constexpr int times = 20;

struct Counted {
    std::int64_t value = 0;
    std::int64_t written = 0;
    std::int64_t refused = 0;
};

// Each process increments the counter. The first one stops itself once, and is resumed when its
// lease has ended and others have had the lock.
Counted count(ProcessCluster& cluster, const std::string& name, const std::string& how) {
    const auto file = (cluster.directory() / name).string();
    SharedCounter counter{file};
    const auto order = "count " + file + " " + name + " " + how + " " + std::to_string(times);
    cluster[0].tell(order + " 1");
    while (!cluster[0].has_stopped())
        std::this_thread::sleep_for(1ms);
    const auto before = counter.read();
    for (const std::size_t other : {std::size_t{1}, std::size_t{2}})
        cluster[other].tell(order + " 0");
    while (counter.read() < before + 2)
        std::this_thread::sleep_for(5ms);
    cluster[0].resume();

    Counted counted;
    for (std::size_t i = 0; i < 3; ++i) {
        const auto said = cluster[i].expect("counted", 120s);
        counted.written += std::stoll(said[1]);
        counted.refused += std::stoll(said[2]);
    }
    counted.value = counter.read();
    return counted;
}

TEST(Counter, LosesNoIncrementUnderLockAndToken) {
    ProcessCluster cluster{quick};
    for (int run = 0; run < 10; ++run) {
        const auto counted = count(cluster, "fenced" + std::to_string(run), "fenced");
        EXPECT_EQ(counted.value, counted.written);
        EXPECT_EQ(counted.written, 3 * times);
        EXPECT_GE(counted.refused, 1);  // the process that was paused too long
    }
}

// Without this control the test above would prove nothing.
TEST(Counter, LosesSomeWithoutTheTokenInTenOfTenRuns) {
    ProcessCluster cluster{quick};
    int lossy = 0;
    for (int run = 0; run < 10; ++run) {
        const auto counted = count(cluster, "bare" + std::to_string(run), "bare");
        if (counted.value < counted.written) ++lossy;
    }
    EXPECT_EQ(lossy, 10);
}

}  // namespace
}  // namespace mortise::tests
