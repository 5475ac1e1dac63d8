#include "tests/sim/judges/later_lives.hpp"

#include <gtest/gtest.h>

#include "tests/sim/judges/three_nodes.hpp"

namespace mortise::sim {
namespace {

constexpr core::BootEpoch no_session;

core::Hello hello(std::uint64_t epoch, std::uint64_t life) {
    core::Hello said;
    said.node = core::NodeId{3};
    said.generation.incarnation = core::Incarnation{30};
    said.generation.boot_epoch = core::BootEpoch{epoch};
    said.generation.life = life;
    return said;
}

struct LaterLivesTest : testing::Test {
    [[nodiscard]] bool knows_better(core::NodeId by, const core::Hello& said) const {
        return lives.knows_better(by, said, no_session);
    }
    LaterLives lives;
};

TEST_F(LaterLivesTest, AreKnownToWhoHeardOfThem) {
    lives.heard(a, hello(5, 50));
    EXPECT_TRUE(knows_better(a, hello(4, 40)));
    EXPECT_FALSE(knows_better(b, hello(4, 40)));
    EXPECT_FALSE(knows_better(a, hello(6, 60)));
}

TEST_F(LaterLivesTest, IncludeOtherRunsOfTheSameStart) {
    lives.heard(a, hello(5, 50));
    EXPECT_FALSE(knows_better(a, hello(5, 50)));
    EXPECT_TRUE(knows_better(a, hello(5, 51)));
}

// A run that is refused does not replace the later run that was heard before.
TEST_F(LaterLivesTest, AreNotForgottenForAnEarlierOne) {
    lives.heard(a, hello(5, 50));
    lives.heard(a, hello(4, 40));
    EXPECT_TRUE(knows_better(a, hello(4, 40)));
}

TEST_F(LaterLivesTest, AreForgottenWithTheProcess) {
    lives.heard(a, hello(5, 50));
    lives.heard(b, hello(5, 50));
    lives.forgot(a);
    EXPECT_FALSE(knows_better(a, hello(4, 40)));
    EXPECT_TRUE(knows_better(b, hello(4, 40)));
}

TEST_F(LaterLivesTest, AreInTheStateOnceTheyHadASession) {
    EXPECT_TRUE(lives.knows_better(a, hello(4, 40), core::BootEpoch{5}));
    EXPECT_FALSE(lives.knows_better(a, hello(5, 51), core::BootEpoch{5}));
}

}  // namespace
}  // namespace mortise::sim
