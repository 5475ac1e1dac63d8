// Which peers are connected, and why the others are not.
#include "embed/runtime/peer_contacts.hpp"

#include <gtest/gtest.h>

namespace mortise::detail {
namespace {

using namespace std::chrono_literals;

core::Hello hello_of(std::uint64_t id, std::vector<core::NodeId> voters = {}) {
    core::Hello hello;
    hello.node = core::NodeId{id};
    hello.voters = std::move(voters);
    return hello;
}

class PeerContactsTest : public ::testing::Test {
protected:
    static constexpr core::Instant began{1'000'000'000};

    [[nodiscard]] std::string missing(core::Nanoseconds after) const {
        return contacts_.missing({{1, "a:1"}, {2, "b:1"}, {3, "c:1"}}, 1, began + after);
    }

    PeerContacts contacts_{began};
};

TEST_F(PeerContactsTest, AreOfThePeersThatAreUp) {
    EXPECT_TRUE(contacts_.up(hello_of(2)));
    EXPECT_FALSE(contacts_.up(hello_of(2)));  // another connection in place of the first one
    EXPECT_TRUE(contacts_.is_up(core::NodeId{2}));
    EXPECT_TRUE(contacts_.down(core::NodeId{2}, 0));
    EXPECT_FALSE(contacts_.down(core::NodeId{2}, 0));
    EXPECT_FALSE(contacts_.is_up(core::NodeId{2}));
}

TEST_F(PeerContactsTest, GiveAFirstAttemptASecond) {
    EXPECT_EQ(missing(999ms), "2 (b:1), 3 (c:1)");
    contacts_.up(hello_of(2));
    EXPECT_EQ(missing(1s),
              "3 (c:1: it does not answer: open its port in the firewalls, or check that its "
              "machine runs)");
    contacts_.up(hello_of(3));
    EXPECT_EQ(missing(1s), "");
}

TEST_F(PeerContactsTest, SayWhyAPeerIsMissing) {
    contacts_.up(hello_of(3));
    contacts_.unreached(core::NodeId{2}, "nothing listens there");
    EXPECT_EQ(missing(2s), "2 (b:1: nothing listens there)");
    contacts_.refused(core::NodeId{2}, transport::Refusal::wrong_node, began + 10s);
    const std::string refuses =
        "2 (b:1, which refuses: another node than expected is at this address: correct the "
        "address)";
    EXPECT_EQ(missing(40s), refuses);
    EXPECT_EQ(missing(40s + 1ns), "2 (b:1: nothing listens there)");  // the refusal is old
    contacts_.refused(core::NodeId{2}, transport::Refusal::wrong_node, began + 50s);
    EXPECT_EQ(missing(50s), refuses);
    contacts_.unreached(core::NodeId{2}, "its name has no address");
    EXPECT_EQ(missing(50s), "2 (b:1: its name has no address)");
}

TEST_F(PeerContactsTest, SayHowANodeThatIsFoundBecomesAMember) {
    PeerContacts found{began, true};
    found.refused(core::NodeId{2}, transport::Refusal::unknown_node, began);
    EXPECT_EQ(found.missing({{2, "b:1"}}, 1, began),
              "2 (b:1, which refuses: the node is not a member, as far as is known here: the "
              "leader adds this node when it finds it with an empty directory)");
}

TEST_F(PeerContactsTest, SayWhenAConnectionWasLostAndForgetItOnceThePeerIsUp) {
    contacts_.up(hello_of(3));
    contacts_.up(hello_of(2));
    contacts_.down(core::NodeId{2}, 1'769'864'400);
    contacts_.unreached(core::NodeId{2}, "nothing listens there");
    EXPECT_EQ(missing(9s), "2 (b:1, lost at 2026-01-31 13:00:00 UTC: nothing listens there)");
    contacts_.up(hello_of(2));
    EXPECT_EQ(missing(9s), "");
    contacts_.disconnected();  // by this node itself
    EXPECT_EQ(missing(999ms), "2 (b:1), 3 (c:1)");
}

TEST_F(PeerContactsTest, NameTheFirstPeerThatNamesOtherVoters) {
    const std::vector<core::NodeId> ours{core::NodeId{1}, core::NodeId{2}};
    contacts_.up(hello_of(2, ours));
    contacts_.up(hello_of(3));  // in between: it names none
    EXPECT_EQ(contacts_.disagreement(ours), "");
    contacts_.up(hello_of(3, {core::NodeId{1}, core::NodeId{2}, core::NodeId{3}}));
    EXPECT_EQ(contacts_.disagreement(ours), "node 3 names the peers 1, 2, 3, and this node 1, 2");
}

TEST_F(PeerContactsTest, KnowWhetherAPeerBelongsToACluster) {
    contacts_.up(hello_of(2));
    EXPECT_FALSE(contacts_.has_member());
    auto member = hello_of(3);
    member.cluster = {1, 2};
    contacts_.up(member);
    EXPECT_TRUE(contacts_.has_member());
    contacts_.down(core::NodeId{3}, 0);
    EXPECT_FALSE(contacts_.has_member());
}

TEST_F(PeerContactsTest, TellDifferentTimesOnceAndTheirEnd) {
    const core::HelloTiming ours{1s, 100ms, 10s};
    auto peer = hello_of(2);
    EXPECT_EQ(contacts_.new_differences(peer, ours), std::nullopt);
    peer.timing = {5s, 100ms, 10s};
    EXPECT_EQ(contacts_.new_differences(peer, ours), "election_timeout 5s (here 1s)");
    contacts_.up(peer);
    contacts_.down(core::NodeId{2}, 0);
    EXPECT_EQ(contacts_.new_differences(peer, ours), std::nullopt);
    peer.timing = ours;
    EXPECT_EQ(contacts_.new_differences(peer, ours), "");
}

}  // namespace
}  // namespace mortise::detail
