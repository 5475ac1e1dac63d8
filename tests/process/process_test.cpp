// Real processes that die, restart and lose their connections.
#include <algorithm>
#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/process/process_cluster.hpp"

namespace mortise::tests {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr auto ttl = 3s;
const TimingConfig quick{.session_ttl = ttl, .election_timeout = 400ms, .heartbeat = 50ms};
constexpr auto patience = 60s;

std::int64_t number(const std::string& word) {
    return std::stoll(word);
}

// P8, plus time for a machine that is busy with other tests.
double orphan_seconds_max(int leader_changes) {
    const double rho = 0.01;
    const double longest = 3.0 * (1 + rho) / (1 - rho) + 0.05;
    const double each_change = 2 * 0.4 + 3 * 0.05 + 1.0;
    return longest + leader_changes * each_change + 2.0;
}

TEST(Processes, GoOnWhenTheirLeaderIsKilledUnderLoad) {  // B-A7
    ProcessCluster cluster{quick};
    for (std::size_t i = 0; i < 3; ++i)
        cluster[i].tell("load name" + std::to_string(i % 2));
    std::map<std::string, std::int64_t> newest;
    const auto leader = cluster.leader_seen_by(0);
    const auto other = (leader + 1) % 3;
    cluster[other].expect("grant", patience);
    cluster.kill_hard(leader);

    cluster[other].take_all("grant");
    for (int i = 0; i < 20; ++i)
        cluster[other].expect("grant", patience);
    for (std::size_t i = 0; i < 3; ++i) {
        if (i == leader) continue;
        std::map<std::string, std::int64_t> last;
        for (const auto& grant : cluster[i].take_all("grant")) {
            EXPECT_GT(number(grant[2]), last[grant[1]]);
            last[grant[1]] = number(grant[2]);
        }
    }
    cluster.start(leader);
    cluster[leader].expect("ready", patience);
}

class KilledHolder : public ::testing::TestWithParam<bool> {};

TEST_P(KilledHolder, LosesItsLockInTime) {  // P8
    const bool is_leader = GetParam();
    ProcessCluster cluster{quick};
    const auto leader = cluster.leader_seen_by(0);
    const auto holder = is_leader ? leader : (leader + 1) % 3;
    const auto waiter = (leader + 2) % 3;
    cluster[holder].tell("acquire job");
    const auto held = cluster[holder].expect("held", patience);
    cluster[waiter].tell("acquire job");

    const auto killed = Clock::now();
    cluster.kill_hard(holder);
    const auto next = cluster[waiter].expect("held", patience);
    const std::chrono::duration<double> orphaned = Clock::now() - killed;

    EXPECT_GT(number(next[2]), number(held[2]));
    EXPECT_EQ(next[3], "expired");
    EXPECT_LT(orphaned.count(), orphan_seconds_max(is_leader ? 1 : 0));
    RecordProperty("orphaned_ms", static_cast<int>(orphaned.count() * 1000));
}

INSTANTIATE_TEST_SUITE_P(Roles, KilledHolder, ::testing::Bool(),
                         [](const auto& role) { return role.param ? "Leader" : "Follower"; });

// S10: its data directory shows that it is the next run on the same boot.
TEST(Processes, FreesItsFormerLocksAtOnceWhenItRestarts) {  // P8
    TimingConfig slow{.session_ttl = 60s, .election_timeout = 400ms, .heartbeat = 50ms};
    ProcessCluster cluster{slow};
    const auto leader = cluster.leader_seen_by(0);
    const auto holder = (leader + 1) % 3;
    const auto waiter = (leader + 2) % 3;
    cluster[holder].tell("acquire job");
    const auto held = cluster[holder].expect("held", patience);
    cluster[waiter].tell("acquire job");

    cluster.kill_hard(holder);
    cluster.start(holder);
    const auto next = cluster[waiter].expect("held", 20s);  // its session would last for 60 s more
    EXPECT_GT(number(next[2]), number(held[2]));
}

TEST(Processes, TellACutOffHolderBeforeTheNextOneIsGranted) {
    ProcessCluster cluster{quick};
    for (const std::size_t holder : {std::size_t{0}, std::size_t{1}, std::size_t{2}}) {
        const auto waiter = (holder + 1) % 3;
        const auto name = "job" + std::to_string(holder);
        cluster[holder].tell("acquire " + name);
        const auto held = cluster[holder].expect("held " + name, patience);
        cluster[waiter].tell("acquire " + name);
        std::this_thread::sleep_for(300ms);  // so that the request is in the queue by then

        cluster.isolate(holder);
        const auto lost = cluster[holder].expect("lost " + name, patience);
        const auto next = cluster[waiter].expect("held " + name, patience);
        EXPECT_LT(number(lost[3]), number(next[4]));  // on this machine's clock
        EXPECT_GT(number(next[2]), number(held[2]));
        cluster.heal(holder);
        cluster[waiter].tell("release " + name);
        cluster[waiter].expect("released", patience);
        cluster[holder].tell("acquire " + name);
        cluster[holder].expect("held " + name, patience);
    }
}

TEST(Processes, LoseNothingWhenAllAreKilledAtOnce) {  // P1, P4, B-A7
    TimingConfig slow{.session_ttl = 60s, .election_timeout = 400ms, .heartbeat = 50ms};
    ProcessCluster cluster{slow};
    std::vector<std::int64_t> tokens;
    for (std::size_t i = 0; i < 3; ++i) {
        cluster[i].tell("acquire of" + std::to_string(i));
        tokens.push_back(number(cluster[i].expect("held", patience)[2]));
    }
    cluster[0].tell("acquire released");
    cluster[0].expect("held", patience);
    cluster[0].tell("release released");
    cluster[0].expect("released", patience);
    cluster.kill_all_at_once();

    // Two of them are a majority. The third one's holds remain, and what was released is free.
    cluster.start(0);
    cluster.start(1);
    cluster.expect_ready();
    cluster[0].tell("try of2");
    const auto busy = cluster[0].expect("busy of2", patience);
    EXPECT_EQ(number(busy[2]), tokens[2]);
    cluster[1].tell("try released");
    const auto held = cluster[1].expect("held released", patience);
    EXPECT_GT(number(held[2]), *std::max_element(tokens.begin(), tokens.end()));
    // The locks of the restarted processes are free, too.
    cluster[0].tell("try of1");
    cluster[0].expect("held of1", patience);
    cluster[1].tell("try of0");
    cluster[1].expect("held of0", patience);
}

}  // namespace
}  // namespace mortise::tests
