// Which connected peers the sessions in the state have outlived.
#include "core/node/peers.hpp"

#include <gtest/gtest.h>

#include "tests/support/node_around_part.hpp"

namespace mortise::core::test {
namespace {

struct PeersTest : testing::Test {
    PeersTest() {
        for (const auto peer : {n2, n3})
            node.meet(node.member_hello(peer));
    }
    // A session of that start of the directory of node 2.
    void open(std::uint64_t epoch) {
        auto opening = opening_of(n2, 10'000);
        opening.nonce = epoch;
        opening.generation.boot_epoch = BootEpoch{epoch};
        node.apply(opening);
    }
    [[nodiscard]] std::vector<NodeId> dropped() {
        return node.peers.drop_outlived(node.machine.sessions());
    }

    NodeAroundPart node;
};

TEST_F(PeersTest, TheSessionOfThePresentStartOutlivesNobody) {
    open(1);
    EXPECT_TRUE(dropped().empty());
    EXPECT_TRUE(node.peers.is_trusted(n2));
}

TEST_F(PeersTest, ALaterStartInTheStateOutlivesAPeer) {
    open(2);
    EXPECT_EQ(dropped(), std::vector{n2});
    EXPECT_EQ(node.peers.find(n2), nullptr);
    EXPECT_NE(node.peers.find_outlived(n2), nullptr);
    EXPECT_NE(node.peers.find(n3), nullptr);
    EXPECT_TRUE(dropped().empty());
}

TEST_F(PeersTest, AnotherDirectoryOfThatNodeIsNotMeant) {
    auto wiped = node.member_hello(n2);
    wiped.generation.incarnation = Incarnation{999};
    node.meet(wiped);
    open(2);
    EXPECT_TRUE(dropped().empty());
}

}  // namespace
}  // namespace mortise::core::test
