// What a node knows of the addresses of a name, and what a client does with them.
#include "embed/runtime/found_peers.hpp"

#include <chrono>

#include <gmock/gmock.h>

#include "embed/runtime/member_places.hpp"
#include "embed/runtime/own_joining.hpp"

namespace mortise::detail {
namespace {

using namespace std::chrono_literals;
using core::NodeId;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

constexpr core::Instant now{1'000'000'000'000};

FoundPeers::Node node(std::uint64_t id, std::string address, std::uint64_t incarnation = 0) {
    core::Hello hello;
    hello.node = NodeId{id};
    hello.address = "host-" + std::to_string(id) + ":1";
    hello.generation.incarnation = core::Incarnation{100 * id + incarnation};
    return {NodeId{id}, std::move(address), hello};
}

class FoundPeersTest : public ::testing::Test {
protected:
    std::vector<std::string> due(core::Nanoseconds later = 0s) {
        return found_.take_due(
            now + later, [this](const FoundPeers::Node& found) { return found.id != reached_; });
    }

    FoundPeers found_;
    NodeId reached_;
};

TEST_F(FoundPeersTest, AsksEachAddressOnceUntilItHasAnswered) {
    found_.resolved({"a:1", "b:1"});
    EXPECT_THAT(due(), UnorderedElementsAre("a:1", "b:1"));
    EXPECT_THAT(due(1h), IsEmpty());
    found_.answered(node(1, "a:1"));
    found_.failed("b:1");
    EXPECT_THAT(due(), IsEmpty());
    EXPECT_THAT(due(1s), UnorderedElementsAre("a:1", "b:1"));
}

TEST_F(FoundPeersTest, DoesNotAskANodeThatIsConnected) {
    found_.resolved({"a:1"});
    EXPECT_THAT(due(), ElementsAre("a:1"));
    found_.answered(node(1, "a:1"));
    reached_ = NodeId{1};
    EXPECT_THAT(due(1h), IsEmpty());
    reached_ = {};
    EXPECT_THAT(due(1h), ElementsAre("a:1"));
}

TEST_F(FoundPeersTest, KeepsWhatItKnowsWhenTheNameHasNoAddressOrOthers) {
    found_.resolved({"a:1", "b:1"});
    found_.answered(node(1, "a:1"));
    found_.answered(node(2, "b:1"));
    found_.resolved({});
    EXPECT_EQ(found_.nodes().size(), 2U);
    found_.resolved({"c:1"});
    EXPECT_THAT(found_.nodes(), IsEmpty());
    found_.answered(node(2, "c:1"));
    EXPECT_THAT(found_.addresses(), ElementsAre(Pair(NodeId{1}, "a:1"), Pair(NodeId{2}, "c:1")));
}

TEST_F(FoundPeersTest, DoesNotChooseBetweenTwoNodesWithOneId) {
    found_.resolved({"a:1", "b:1", "c:1"});
    found_.answered(node(1, "a:1", 1));
    found_.answered(node(1, "b:1", 2));
    found_.answered(node(2, "c:1"));
    EXPECT_EQ(found_.ambiguity(), "a:1 and b:1 are both node 1");
    EXPECT_THAT(found_.unambiguous(), ElementsAre(Pair(NodeId{2}, "c:1")));
    found_.failed("a:1");
    EXPECT_EQ(found_.ambiguity(), "");
    EXPECT_EQ(found_.unambiguous().size(), 2U);
}

TEST_F(FoundPeersTest, TakesTwoAddressesOfOneNodeForWhatTheyAre) {
    found_.resolved({"10.0.0.1:1", "[::1]:1"});
    found_.answered(node(1, "10.0.0.1:1"));
    found_.answered(node(1, "[::1]:1"));
    EXPECT_EQ(found_.ambiguity(), "");
    EXPECT_EQ(found_.unambiguous().size(), 1U);
}

TEST_F(FoundPeersTest, KeepsNoMoreThanAClusterCanHave) {
    for (std::uint64_t id = 1; id <= 2 * FoundPeers::addresses_max; ++id) {
        const auto address = "a:" + std::to_string(id);
        found_.resolved({address});
        found_.answered(node(id, address));
    }
    EXPECT_EQ(found_.addresses().size(), FoundPeers::addresses_max);
}

constexpr core::LogId changed_at{core::Term{2}, core::LogIndex{5}};

// By a cluster of node 1.
bool is_added(FoundPeers::Node found) {
    core::Configuration present;
    present.cluster = {1, 2};
    present.voters = {{NodeId{1}, {}, "host-1:1"}};
    if (found.asked_at == core::LogId{}) found.asked_at = changed_at;
    return is_to_be_added(found, present, changed_at);
}

TEST(Joining, IsForAnEmptyNodeWithAnIdOfItsOwn) {
    EXPECT_TRUE(is_added(node(4, "a:1")));
    EXPECT_FALSE(is_added(node(1, "a:1")));
    EXPECT_FALSE(is_added({NodeId{4}, "a:1"}));
    auto other = node(4, "a:1");
    other.hello->cluster = {1, 2};  // it was removed, or belongs to another cluster
    EXPECT_FALSE(is_added(other));
    auto nowhere = node(4, "a:1");
    nowhere.hello->address.clear();
    EXPECT_FALSE(is_added(nowhere));
}

// It said that it is empty, was added, and was removed.
TEST(Joining, IsDecidedByNothingThatWasSaidBeforeTheMembersChanged) {
    auto before = node(4, "a:1");
    before.asked_at = {core::Term{1}, core::LogIndex{1}};
    EXPECT_FALSE(is_added(before));
    // The entry that the node knew when it asked was replaced by another one.
    before.asked_at = {core::Term{1}, changed_at.index};
    EXPECT_FALSE(is_added(before));
    before.asked_at = changed_at;
    EXPECT_TRUE(is_added(before));
}

TEST(MemberPlaces, SpreadAddressesOverAllPlaces) {
    std::vector<std::string> places(4, "name:1");
    spread(places, {"a", "b"});
    EXPECT_THAT(places, UnorderedElementsAre("a", "a", "b", "b"));
}

TEST(MemberPlaces, KeepAnAddressInAPlace) {
    std::vector<std::string> places{"a", "b", "c", "a"};
    spread(places, {"a", "c", "d"});
    EXPECT_THAT(places, ElementsAre("a", "d", "c", "a"));
    spread(places, {});
    EXPECT_THAT(places, ElementsAre("a", "d", "c", "a"));
}

TEST(MemberPlaces, MakeRoomForAnAddressThatComesLater) {
    std::vector<std::string> places{"a", "a", "a", "b"};
    spread(places, {"a", "b", "c"});
    EXPECT_THAT(places, ::testing::IsSupersetOf({"a", "b", "c"}));
    spread(places, {"a", "b", "c", "d", "e"});
    EXPECT_THAT(places, UnorderedElementsAre("a", "b", "c", "d"));
}

}  // namespace
}  // namespace mortise::detail
