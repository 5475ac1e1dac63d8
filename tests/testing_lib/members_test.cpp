// Members that are added to and removed from a cluster by the calls of a program.
#include <filesystem>
#include <future>
#include <memory>
#include <optional>
#include <thread>
#include <tuple>

#include <gtest/gtest.h>

#include <mortise/mutex.hpp>
#include <mortise/testkit/local_cluster.hpp>

namespace mortise::testkit {
namespace {

using namespace std::chrono_literals;

constexpr auto patience = 60s;

class Members : public ::testing::Test {
protected:
    // A fourth node, with an empty directory, which waits to be added.
    Config learner() {
        Config config;
        config.role = Role::learner;
        config.node_id = 4;
        config.data_dir = cluster_.directory() / "learner";
        config.listen = "127.0.0.1:0";
        config.timing = quick_timing();
        config.log.level = LogLevel::off;
        config.tls = cluster_.issue_node(4);
        for (std::size_t i = 0; i < 3; ++i)
            config.peers.push_back({i + 1, cluster_.node(i).status().address});
        return config;
    }
    static bool is_ready(Node& node) {
        return node.wait_ready(std::chrono::steady_clock::now() + patience);
    }
    static std::optional<Role> role_of(NodeId id, Node& at) {
        for (const auto& member : at.status().members)
            if (member.id == id) return member.role;
        return std::nullopt;
    }
    // The leader has committed it; the others learn of it a moment later.
    static bool becomes(NodeId id, std::optional<Role> role, Node& at) {
        const auto end = std::chrono::steady_clock::now() + patience;
        while (role_of(id, at) != role && std::chrono::steady_clock::now() < end)
            std::this_thread::sleep_for(5ms);
        return role_of(id, at) == role;
    }

    // A node that is to lead needs the votes of the others.
    static bool connects(NodeId id, Node& at) {
        const auto end = std::chrono::steady_clock::now() + patience;
        const auto is_connected = [&] {
            for (const auto& member : at.status().members)
                if (member.id == id) return member.connected;
            return false;
        };
        while (!is_connected() && std::chrono::steady_clock::now() < end)
            std::this_thread::sleep_for(5ms);
        return is_connected();
    }

    LocalCluster cluster_{3, quick_timing()};
};

TEST_F(Members, AnyNodeAddsPromotesAndRemoves) {
    Node learner{this->learner()};
    const auto address = learner.status().address;
    cluster_.node(0).add_member(4, address);
    ASSERT_TRUE(is_ready(learner));
    EXPECT_TRUE(becomes(4, Role::learner, cluster_.node(0)));
    EXPECT_EQ(learner.status().role, Role::learner);
    const auto hold = learner.acquire("orders/42");
    EXPECT_FALSE(cluster_.node(1).try_acquire("orders/42"));

    learner.promote_member(4);
    EXPECT_TRUE(becomes(4, Role::voter, learner));
    EXPECT_EQ(learner.status().role, Role::voter);
    for (std::size_t i = 0; i < 3; ++i) {
        ASSERT_TRUE(connects(4, cluster_.node(i)));
        ASSERT_TRUE(connects(i + 1, learner));
    }
    cluster_.node(2).transfer_leadership(4);
    EXPECT_EQ(learner.status().standing, Standing::leader);
    cluster_.node(1).remove_member(4);
    EXPECT_TRUE(becomes(4, std::nullopt, cluster_.node(0)));
}

// Nothing in its directory names the leader, and no other member sends it anything.
TEST_F(Members, WhoMissedANewLeaderIsFoundByIt) {  // P7
    auto config = this->learner();
    // the third member returns on another port, to which the log has a link
    config.peers.pop_back();
    Node learner{config};
    cluster_.kill(2);
    cluster_.node(0).add_member(4, learner.status().address);
    ASSERT_TRUE(is_ready(learner));
    learner.promote_member(4);
    cluster_.node(0).transfer_leadership(4);
    cluster_.restart(2);
    EXPECT_TRUE(is_ready(cluster_.node(2)));
}

// P7: the remaining two are a majority, and one of them has never heard of the other.
TEST_F(Members, WhoMissedAMemberMakesAMajorityWithIt) {
    auto config = this->learner();
    // the third member returns on another port, to which the log has a link
    config.peers.pop_back();
    Node learner{config};
    cluster_.kill(2);
    cluster_.node(0).add_member(4, learner.status().address);
    ASSERT_TRUE(is_ready(learner));
    learner.promote_member(4);
    learner.remove_member(1);
    cluster_.kill(1);
    cluster_.restart(2);
    EXPECT_TRUE(is_ready(cluster_.node(2)));
}

// Its holds expire, its calls end, and it can be closed as usual.
TEST_F(Members, ARemovedMemberWaitsForNobody) {
    auto config = this->learner();
    config.timing.call_timeout = 1s;
    Node learner{config};
    cluster_.node(0).add_member(4, learner.status().address);
    ASSERT_TRUE(is_ready(learner));
    auto hold = learner.acquire("x");
    cluster_.node(0).remove_member(4);
    const auto next = cluster_.node(0).acquire_for("x", patience);
    ASSERT_TRUE(next);
    EXPECT_FALSE(hold.valid());
    EXPECT_TRUE(hold.lost().stop_requested());
    EXPECT_TRUE(hold.release());
    std::error_code ec;
    EXPECT_FALSE(learner.acquire("y", ec));
    EXPECT_EQ(ec, Errc::not_ready);
    EXPECT_FALSE(learner.try_acquire("y", ec));
    EXPECT_EQ(ec, Errc::not_ready);
    std::ignore = learner.inspect("x", ec);
    EXPECT_EQ(ec, Errc::not_ready);
    try {
        std::ignore = learner.try_acquire("y");
        FAIL() << "it is no member";
    } catch (const LockError& error) {
        EXPECT_EQ(error.code(), Errc::not_ready);
        EXPECT_EQ(error.detail().reason, "not a member of the cluster: it was removed");
    }
    learner.promote_member(4, ec);
    EXPECT_TRUE(ec);
    EXPECT_FALSE(learner.status().ready);
    learner.close();
}

// No thread may wait for ever for a hold that cannot come.
TEST_F(Members, AMutexOfARemovedMemberSaysSo) {
    auto config = this->learner();
    config.timing.call_timeout = 1s;
    Node learner{config};
    cluster_.node(0).add_member(4, learner.status().address);
    ASSERT_TRUE(is_ready(learner));
    const auto elsewhere = cluster_.node(0).acquire("x");
    const auto refusal_of = [&](const char* name) {
        mortise::Mutex mutex{learner, name};
        try {
            mutex.lock();
            return std::string{"locked"};
        } catch (const LockError& error) {
            EXPECT_EQ(error.code(), Errc::not_ready);
            return error.detail().reason;
        }
    };
    auto waits = std::async(std::launch::async, [&] { return refusal_of("x"); });
    while (cluster_.node(0).inspect("x").waiters.empty())
        std::this_thread::sleep_for(1ms);
    cluster_.node(0).remove_member(4);
    const std::string removed = "this node is not a member of its cluster: it was removed";
    ASSERT_EQ(waits.wait_for(patience), std::future_status::ready);
    EXPECT_EQ(waits.get(), removed);
    EXPECT_EQ(refusal_of("y"), removed);
}

TEST_F(Members, AMutexOfAMemberThatWasRemovedWhileItWasDownSaysSo) {
    cluster_.kill(2);
    std::error_code ec = Errc::no_quorum;
    while (ec)
        cluster_.node(0).remove_member(3, ec);
    cluster_.restart(2);
    mortise::Mutex mutex{cluster_.node(2), "x"};
    try {
        mutex.lock();
        FAIL() << "it is no member";
    } catch (const LockError& error) {
        EXPECT_EQ(error.code(), Errc::not_ready);
        EXPECT_NE(error.detail().reason, "");
    }
}

// Its directory says that it is not a member, and no node informs it any more.
TEST_F(Members, AMutexOfAMemberThatStartsAgainAfterItsRemovalSaysSo) {
    cluster_.node(0).remove_member(3);
    ASSERT_TRUE(becomes(3, std::nullopt, cluster_.node(2)));
    cluster_.restart(2);
    auto& node = cluster_.node(2);
    mortise::Mutex mutex{node, "x"};
    auto waits = std::async(std::launch::async, [&] {
        try {
            mutex.lock();
        } catch (const LockError& error) {
            EXPECT_EQ(error.code(), Errc::not_ready);
            return error.detail().reason;
        }
        return std::string{"locked"};
    });
    const bool ends = waits.wait_for(patience) == std::future_status::ready;
    EXPECT_EQ(node.status().why_not_ready, "not a member of the cluster: it was removed");
    if (!ends) node.close();
    EXPECT_EQ(waits.get(), "this node is not a member of its cluster: it was removed");
    // A restart finds the same, and a node that is added again is a member.
    cluster_.restart(2);
    std::error_code ec;
    EXPECT_FALSE(cluster_.node(2).acquire_for("x", 100ms, ec));
    EXPECT_TRUE(ec);
    cluster_.node(0).add_member(3, cluster_.node(2).status().address);
    EXPECT_TRUE(is_ready(cluster_.node(2)));
    EXPECT_TRUE(cluster_.node(2).acquire_for("x", patience));
}

TEST_F(Members, ARepeatIsDoneAlready) {
    Node learner{this->learner()};
    const auto address = learner.status().address;
    for (int i = 0; i < 2; ++i) {
        cluster_.node(1).add_member(4, address);
        cluster_.node(1).promote_member(4);
        cluster_.node(1).transfer_leadership(2);
    }
    for (int i = 0; i < 2; ++i)
        cluster_.node(1).remove_member(4);
}

TEST_F(Members, WhatCannotBeIsAnErrorWithAReason) {
    auto& node = cluster_.node(0);
    std::error_code ec;
    node.promote_member(9, ec);
    EXPECT_EQ(ec, Errc::invalid_argument);
    for (const auto& address : {std::string{"no address"}, std::string{"127.0.0.1:0"},
                                node.status().members.back().address}) {
        node.add_member(4, address, ec);
        EXPECT_EQ(ec, Errc::invalid_argument) << address;
    }
    node.remove_member(0, ec);
    EXPECT_EQ(ec, Errc::invalid_argument);
    try {
        node.transfer_leadership(9);
        FAIL() << "it is not a voter";
    } catch (const LockError& error) {
        EXPECT_EQ(error.detail().name, "node 9");
        EXPECT_EQ(error.detail().reason, "it is not a voter, so it cannot lead");
    }
}

TEST_F(Members, ANewcomerThatIsNotThereIsNotAdded) {
    std::error_code ec;
    cluster_.node(0).add_member(4, "127.0.0.1:1", ec);
    EXPECT_EQ(ec, Errc::not_ready);
    EXPECT_EQ(role_of(4, cluster_.node(0)), std::nullopt);
}

TEST_F(Members, WithoutAMajorityNothingChanges) {
    cluster_.kill(1);
    cluster_.kill(2);
    std::error_code ec;
    cluster_.node(0).remove_member(2, ec);
    EXPECT_TRUE(ec == Errc::no_quorum || ec == Errc::outcome_unknown) << ec.message();
}

// Its configuration file still has the role learner.
TEST_F(Members, APromotedLearnerStartsAgainAsAVoter) {
    auto node = std::make_unique<Node>(learner());
    auto config = learner();
    config.listen = node->status().address;
    cluster_.node(0).add_member(4, config.listen);
    cluster_.node(0).promote_member(4);
    node->close();
    node = std::make_unique<Node>(config);
    ASSERT_TRUE(is_ready(*node));
    EXPECT_TRUE(becomes(4, Role::voter, *node));
}

TEST_F(Members, AWipedLearnerComesBackByItself) {
    auto node = std::make_unique<Node>(learner());
    auto config = learner();
    config.listen = node->status().address;
    cluster_.node(0).add_member(4, config.listen);
    node.reset();
    std::filesystem::remove_all(config.data_dir);
    node = std::make_unique<Node>(config);
    EXPECT_TRUE(is_ready(*node));
}

TEST(Learners, FoundNothing) {
    LocalCluster other{1, quick_timing()};
    Config config;
    config.role = Role::learner;
    config.node_id = 7;
    config.data_dir = other.directory() / "waits";
    config.listen = "127.0.0.1:0";
    config.peers = {{1, other.node(0).status().address}};
    config.timing = quick_timing();
    config.log.level = LogLevel::off;
    config.tls = other.issue_node(7);
    Node node{config};
    EXPECT_FALSE(node.status().ready);
    EXPECT_EQ(node.status().cluster_id, "");
    other.node(0).add_member(7, node.status().address);
    ASSERT_TRUE(node.wait_ready(std::chrono::steady_clock::now() + patience));
    EXPECT_EQ(node.status().cluster_id, other.node(0).status().cluster_id);
}

}  // namespace
}  // namespace mortise::testkit
