// Leader election (S35).
#include <future>
#include <optional>
#include <string>

#include <asio/use_future.hpp>

#include "tests/embed/one_node.hpp"
#include "tests/embed/recorded.hpp"
#include <mortise/async.hpp>
#include <mortise/testkit/local_cluster.hpp>

namespace mortise {
namespace {

using Seen = std::optional<Leader>;

// "first - second": the values of the leaders, and a dash while nobody led.
std::string in_words(const std::vector<Seen>& all) {
    std::string text;
    for (const auto& seen : all)
        text += (text.empty() ? "" : " ") + (seen ? seen->value : "-");
    return text;
}

class Electing : public OneNode {
protected:
    Election election_{node_, "service"};
};

TEST_F(Electing, TheLeaderIsKnownToEverybody) {  // S35
    EXPECT_FALSE(election_.leader());
    auto hold = election_.campaign("10.0.0.1:80");
    const auto leader = election_.leader();
    ASSERT_TRUE(leader);
    EXPECT_EQ(*leader, (Leader{node_.id(), "10.0.0.1:80", hold.token()}));
    election_.resign(hold);
    EXPECT_FALSE(hold);
    EXPECT_FALSE(election_.leader());
    EXPECT_FALSE(node_.inspect("service").value);
}

TEST_F(Electing, ValuesAreAnyBytes) {
    for (const auto& value :
         {std::string{}, std::string{"\0 \n\xff", 4}, std::string(4'000, 'x')}) {
        auto hold = election_.campaign(value);
        EXPECT_EQ(election_.leader().value().value, value);
        election_.resign(hold);
    }
}

TEST_F(Electing, TheValueOfAFormerLeaderIsNotShown) {  // S35
    election_.campaign("old").unlock();
    const auto hold = node_.acquire("service");
    ASSERT_TRUE(node_.inspect("service").value);
    EXPECT_FALSE(election_.leader());
    Recorded<Seen> seen;
    const auto subscription = election_.observe(seen.sink());
    EXPECT_EQ(in_words(seen.at_least(1)), "-");
}

TEST_F(Electing, AnObserverIsToldEachLeaderOnce) {  // S35
    Recorded<Seen> seen;
    const auto subscription = election_.observe(seen.sink());
    (void)seen.at_least(1);
    for (const auto* value : {"one", "two"}) {
        auto hold = election_.campaign(value);
        election_.resign(hold);
    }
    EXPECT_EQ(in_words(seen.at_least(5)), "- one - two -");
}

// A leader that moves, for example, needs no other election.
TEST_F(Electing, ALeaderPublishesAnotherValue) {  // S35
    Recorded<Seen> seen;
    const auto subscription = election_.observe(seen.sink());
    auto hold = election_.campaign("one");
    election_.publish(hold, "two");
    EXPECT_EQ(election_.leader(), (Leader{node_.id(), "two", hold.token()}));
    election_.publish(hold, "");
    election_.publish(hold, "three");
    election_.resign(hold);
    const auto all = seen.at_least(6);
    EXPECT_EQ(in_words(all), "- one two  three -");
    EXPECT_EQ(all[1]->token, all[4]->token);
}

TEST_F(Electing, OnlyTheLeaderPublishes) {  // S35
    auto hold = election_.campaign("one");
    std::error_code ec;
    election_.publish(hold, std::string(4'001, 'x'), ec);
    EXPECT_EQ(ec, Errc::invalid_argument);
    auto other = node_.acquire("other");
    EXPECT_EQ(thrown_by([&] { election_.publish(other, "two"); }), Errc::not_held);
    EXPECT_EQ(thrown_by([&] { election_.publish({}, "two"); }), Errc::not_held);
    EXPECT_EQ(election_.leader().value().value, "one");
    node_.break_lock("service", hold.token(), "moved");
    EXPECT_TRUE(is_lost(hold));
    EXPECT_EQ(thrown_by([&] { election_.publish(hold, "two"); }), Errc::lock_lost);
    const auto next = election_.campaign("next");
    EXPECT_EQ(thrown_by([&] { election_.publish(hold, "two"); }), Errc::lock_lost);
    EXPECT_EQ(election_.leader().value().value, "next");
}

TEST_F(Electing, AnObserverBeginsWithThePresentLeader) {  // S35
    const auto hold = election_.campaign("present");
    Recorded<Seen> seen;
    const auto subscription = election_.observe(seen.sink());
    EXPECT_EQ(in_words(seen.at_least(1)), "present");
}

TEST_F(Electing, RefusesWhatMakesNoSense) {
    std::error_code ec;
    EXPECT_FALSE(election_.campaign(std::string(4'001, 'x'), ec));
    EXPECT_EQ(ec, Errc::invalid_argument);
    EXPECT_THROW((void)election_.campaign(std::string(4'001, 'x')), LockError);
    const auto leads = election_.campaign("one");
    auto refused = async_campaign(election_, std::string(4'001, 'x'), asio::use_future);
    EXPECT_THROW((void)refused.get(), std::system_error);  // while another one leads
    auto other = node_.acquire("other");
    election_.resign(other, ec);
    EXPECT_EQ(ec, Errc::not_held);
    EXPECT_TRUE(other.valid());
    EXPECT_THROW((void)election_.observe({}), LockError);
    Election nameless{node_, ""};
    EXPECT_THROW((void)nameless.leader(), LockError);
    EXPECT_THROW((void)nameless.campaign("x"), LockError);
    node_.close();
    EXPECT_FALSE(election_.leader(ec));
    EXPECT_EQ(ec, Errc::node_stopped);
}

TEST_F(Electing, ACandidateNeedNotWaitInAThread) {
    auto first = async_campaign(election_, "first", asio::use_future).get();
    EXPECT_EQ(election_.leader().value().value, "first");
    auto second = async_campaign(election_, "second", asio::use_future);
    ASSERT_TRUE(wait_for_waiters("service", 1));
    election_.resign(first);
    const auto hold = second.get();
    EXPECT_EQ(election_.leader().value().token, hold.token());
}

// A third node sees both leaders, each once and in order, and nothing in between but that nobody
// led.
TEST(ElectionInACluster, AnotherCandidateFollowsADeadLeader) {  // S35, P8
    testkit::LocalCluster cluster{3, testkit::quick_timing()};
    Election here{cluster.node(0), "service"};
    Election there{cluster.node(1), "service"};
    Election outside{cluster.node(2), "service"};
    Recorded<Seen> seen;
    const auto subscription = outside.observe(seen.sink());
    const auto first = here.campaign("first");
    auto second = async_campaign(there, "second", asio::use_future);
    EXPECT_EQ(in_words(seen.at_least(2)), "- first");
    cluster.kill(0);
    const auto hold = second.get();
    const auto all = seen.at_least(4);
    ASSERT_EQ(in_words(all), "- first - second");
    EXPECT_EQ(all[1]->node, 1U);
    EXPECT_EQ(all[3]->node, 2U);
    EXPECT_EQ(all[3]->token, hold.token());
    EXPECT_LT(all[1]->token, all[3]->token);
    EXPECT_EQ(outside.leader().value().value, "second");
    EXPECT_FALSE(cluster.node(2).inspect("service").value->dirty);
}

}  // namespace
}  // namespace mortise
