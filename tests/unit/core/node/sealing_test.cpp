// What a leader seals, and when it raises the ceiling of tokens (docs/decisions/0095).
#include "core/node/sealing.hpp"

#include <gtest/gtest.h>

#include "core/locks/limits.hpp"
#include "tests/support/node_fixture.hpp"

namespace mortise::core::test {
namespace {

constexpr std::uint64_t under_way = std::uint64_t{1} << 42U;

Configuration replicated() {
    auto configuration = voters({1});
    configuration.durability = Durability::replicated;
    return configuration;
}

// The only voter leads.
struct SealingTest : testing::Test {
    explicit SealingTest(const Configuration& configuration = replicated())
        : raft{options_of(n1), disk_with(configuration, {Term{1}, {}}, {}), Prng{1}, start} {
        raft.on_timer(raft.deadline());
    }
    // Its own writes take no time, and what they commit is applied.
    void settle() {
        write();
        (void)raft.take_decided();
    }
    void write() {
        while (const auto write = raft.collect(start).write)
            raft.on_write_done(write->id, start);
    }
    void apply(const Command& command) {
        index = index.next();
        Outcomes outcomes;
        machine.apply(index, {command}, outcomes);
    }
    [[nodiscard]] Sealing sealing(FencingToken raised_to = {}) const {
        return sealing_of(raft, machine, raised_to);
    }

    Raft raft;
    LockMachine machine;
    LogIndex index{1};
};

struct SealingInASyncedCluster : SealingTest {
    SealingInASyncedCluster() : SealingTest{voters({1})} {}
};

TEST_F(SealingInASyncedCluster, IsNotDone) {
    settle();
    ASSERT_TRUE(raft.has_handed_out_own_term());
    EXPECT_FALSE(sealing().is_on);
    EXPECT_FALSE(sealing().of_all);
    EXPECT_FALSE(sealing().raise_to.is_set());
}

// It has not applied yet what earlier leaders proposed, so its newest token may be an old one.
TEST_F(SealingTest, IsOfAllOfANewLeader) {
    apply(RaiseCeiling{FencingToken{8 * under_way}});
    write();
    ASSERT_TRUE(raft.has_committed_own_term());
    EXPECT_TRUE(sealing().is_on);
    EXPECT_TRUE(sealing().of_all);
    EXPECT_FALSE(sealing().raise_to.is_set());
    settle();
    ASSERT_TRUE(raft.has_handed_out_own_term());
    EXPECT_TRUE(sealing().is_on);
    EXPECT_FALSE(sealing().of_all);
}

TEST_F(SealingTest, IsOfAllWhereTokensUnderWayCouldReachTheCeiling) {  // P1
    settle();
    EXPECT_TRUE(sealing().of_all);
    apply(RaiseCeiling{FencingToken{under_way}});
    EXPECT_TRUE(sealing().of_all);
    apply(RaiseCeiling{FencingToken{under_way + 1}});
    EXPECT_FALSE(sealing().of_all);
}

TEST_F(SealingTest, RaisesTheCeilingWhenHalfOfItIsUsed) {
    settle();
    EXPECT_EQ(sealing().raise_to, FencingToken{4 * under_way});
    apply(RaiseCeiling{FencingToken{2 * under_way - 1}});
    EXPECT_EQ(sealing().raise_to, FencingToken{4 * under_way});
    apply(RaiseCeiling{FencingToken{2 * under_way}});
    EXPECT_FALSE(sealing().raise_to.is_set());
}

TEST_F(SealingTest, RaisesTheCeilingOnce) {
    settle();
    const auto to = sealing().raise_to;
    EXPECT_FALSE(sealing(to).raise_to.is_set()) << "it is under way";
    apply(RaiseCeiling{to});
    EXPECT_FALSE(sealing(to).raise_to.is_set());
    Outcomes outcomes;
    index = index.next();
    machine.begin_era(index, outcomes);  // uses it up
    EXPECT_EQ(sealing(to).raise_to, FencingToken{to.raw() + 4 * under_way});
}

TEST_F(SealingTest, RaisesNothingAboveTheLastToken) {
    settle();
    apply(RaiseCeiling{FencingToken{token_ceiling_max}});
    Outcomes outcomes;
    index = index.next();
    machine.begin_era(index, outcomes);
    EXPECT_FALSE(sealing().raise_to.is_set());
    EXPECT_TRUE(sealing().of_all);
}

}  // namespace
}  // namespace mortise::core::test
