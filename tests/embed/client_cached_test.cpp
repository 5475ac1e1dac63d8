// Cached grants of client nodes, as programs see them (S39-S45, docs/decisions/0093).
#include <array>
#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include <asio/use_future.hpp>
#include <gtest/gtest.h>

#include <mortise/async.hpp>
#include <mortise/mortise.hpp>
#include <mortise/testkit/link_proxy.hpp>
#include <mortise/testkit/local_cluster.hpp>

namespace mortise {
namespace {

using namespace std::chrono_literals;
using std::chrono::steady_clock;

constexpr auto patience = 20s;

bool comes_true(const std::function<bool()>& condition) {
    const auto give_up = steady_clock::now() + patience;
    while (!condition()) {
        if (steady_clock::now() > give_up) return false;
        std::this_thread::sleep_for(1ms);
    }
    return true;
}

// A cluster of three, whose members two clients reach by links that can be broken.
class CachedByAClient : public ::testing::Test {
protected:
    void SetUp() override {
        for (std::size_t i = 0; i < cluster_.size(); ++i) {
            const auto link = proxy_.add_link();
            proxy_.set_target(link, cluster_.node(i).status().address);
            links_.push_back(link);
        }
        for (auto& client : clients_)
            start(client);
    }
    struct Client {
        std::unique_ptr<Node> node;

        // That serves it; 0: none at this moment.
        [[nodiscard]] NodeId member() const { return node->status().served_by.value_or(0); }
        [[nodiscard]] bool is_elsewhere_than(NodeId former) const {
            const auto now = member();
            return now != 0 && now != former;
        }
    };
    void start(Client& client) {
        Config config;
        config.role = Role::client;
        config.cluster = cluster_.node(0).status().cluster;
        config.timing = testkit::quick_timing();
        config.tls = cluster_.issue_user("app" + std::to_string(++users_), {AccessRole::client});
        for (std::size_t i = 0; i < links_.size(); ++i)
            config.peers.push_back({NodeId{i + 1}, proxy_.address(links_[i])});
        client.node = std::make_unique<Node>(std::move(config));
        ASSERT_TRUE(client.node->wait_ready(steady_clock::now() + patience));
    }
    // Takes the name until it is served from the cache, and releases it.
    static FencingToken cache(Node& node, const char* name, const AcquireOptions& options = {}) {
        const auto before = served(node);
        FencingToken token;
        EXPECT_TRUE(comes_true([&] {
            auto hold = node.acquire(name, options);
            token = hold.token();
            hold.unlock();
            return served(node) > before;
        }));
        return token;
    }
    static std::uint64_t served(const Node& node) { return node.metrics().served_from_cache; }
    void set_link(NodeId member, testkit::LinkMode mode) {
        proxy_.set_mode(links_.at(member - 1), mode);
    }
    Node& member_other_than(NodeId member) { return cluster_.node(member % cluster_.size()); }

    testkit::LocalCluster cluster_{3, testkit::quick_timing()};
    testkit::LinkProxy proxy_;
    std::vector<testkit::LinkProxy::Link> links_;
    std::array<Client, 2> clients_;
    Client& client_ = clients_[0];
    int users_ = 0;
};

TEST_F(CachedByAClient, S39_IsServedWithoutTheCluster) {
    auto& node = *client_.node;
    for (int times = 0; times < 2; ++times)
        EXPECT_FALSE(node.acquire("x").release());
    EXPECT_EQ(served(node), 0U);
    const auto before = cluster_.node(0).inspect("x").holders.front().token;
    for (int times = 0; times < 100; ++times) {
        const auto hold = node.acquire("x");
        EXPECT_TRUE(hold.valid());
        EXPECT_GT(hold.token(), before);
    }
    EXPECT_GT(served(node), 0U);
    EXPECT_TRUE(comes_true([&] {
        (void)cache(node, "x");
        const auto holders = cluster_.node(0).inspect("x").holders;
        return !holders.empty() && holders.front().cached;
    }));
}

TEST_F(CachedByAClient, S43_AnUnusedGrantGoesBack) {
    cache(*client_.node, "x");
    EXPECT_TRUE(comes_true([&] { return cluster_.node(0).inspect("x").holders.empty(); }));
}

TEST_F(CachedByAClient, S43_CachingIsOffWhereItIsOff) {
    for (int times = 0; times < 5; ++times)
        EXPECT_FALSE(client_.node->acquire("x", {.caching = Caching::off}).release());
    EXPECT_EQ(served(*client_.node), 0U);
}

TEST_F(CachedByAClient, S40_AMemberRecallsAnUnusedGrant) {
    const auto token = cache(*client_.node, "x");
    const auto hold = cluster_.node(0).acquire("x");
    EXPECT_GT(hold.token(), token);
}

TEST_F(CachedByAClient, S45_AMemberWaitsForTheUserAndLearnsWhoItIs) {  // P7
    cache(*client_.node, "x");
    auto used = client_.node->acquire("x", {.label = "user"});
    auto next = async_acquire(cluster_.node(0), "x", asio::use_future);
    EXPECT_TRUE(comes_true([&] {
        const auto holders = cluster_.node(1).inspect("x").holders;
        return !holders.empty() && !holders.front().cached && holders.front().label == "user";
    }));
    EXPECT_EQ(next.wait_for(0s), std::future_status::timeout);
    const auto token = used.token();
    used.unlock();
    const auto hold = next.get();
    EXPECT_GT(hold.token(), token);
    EXPECT_EQ(hold.previous().token, token);
}

TEST_F(CachedByAClient, S43_ATryRecallsAsWell) {
    cache(*client_.node, "x");
    EXPECT_TRUE(cluster_.node(0).try_acquire("x"));
}

TEST_F(CachedByAClient, S40_GoesToAndFroBetweenClientsAndMembers) {  // P1, P2
    std::atomic<int> inside = 0;
    FencingToken newest;
    std::vector<Node*> nodes{clients_[0].node.get(), clients_[1].node.get(), &cluster_.node(0)};
    std::vector<std::jthread> all;
    for (auto* node : nodes) {
        all.emplace_back([&, node] {
            Mutex mutex{*node, "x"};
            for (int times = 0; times < 300; ++times) {
                const std::scoped_lock lock{mutex};
                EXPECT_EQ(++inside, 1);
                EXPECT_GT(mutex.hold().token(), newest);
                newest = mutex.hold().token();
                --inside;
            }
        });
    }
    all.clear();
    // As long as all three want it, it may go back after each use.
    Mutex mutex{*nodes[0], "x"};
    EXPECT_TRUE(comes_true([&] {
        const std::scoped_lock lock{mutex};
        return served(*nodes[0]) > 0;
    }));
}

// One client takes it all the time, and a member recalls it.
TEST_F(CachedByAClient, S40_AGrantThatIsTakenAllTheTimeIsRecalled) {
    std::atomic<int> inside = 0;
    std::jthread busy{[&](const std::stop_token& stop) {
        Mutex mutex{*client_.node, "x"};
        while (!stop.stop_requested()) {
            const std::scoped_lock lock{mutex};
            EXPECT_EQ(++inside, 1);
            --inside;
        }
    }};
    for (int times = 0; times < 20; ++times) {
        ASSERT_TRUE(comes_true(
            [&, before = served(*client_.node)] { return served(*client_.node) > before; }));
        const auto hold = cluster_.node(0).acquire("x");
        EXPECT_EQ(++inside, 1);
        --inside;
    }
}

TEST_F(CachedByAClient, S41_ThreadsOfAClientHandItOver) {
    std::atomic<int> inside = 0;
    std::vector<std::jthread> all;
    for (int thread = 0; thread < 4; ++thread) {
        all.emplace_back([&] {
            for (int times = 0; times < 200; ++times) {
                const auto hold = client_.node->acquire("x");
                EXPECT_EQ(++inside, 1);
                --inside;
            }
        });
    }
    all.clear();
    EXPECT_GT(served(*client_.node), 0U);
}

TEST_F(CachedByAClient, AClosedClientKeepsNothing) {
    cache(*client_.node, "x");
    client_.node->close();
    EXPECT_TRUE(cluster_.node(0).try_acquire("x"));
}

// Nobody would tell it of a recall until another member does.
TEST_F(CachedByAClient, S40_WhoLosesItsMemberGivesItsCacheBackAndLosesNothing) {  // P6, P7
    auto& node = *client_.node;
    cache(node, "x");
    cache(node, "y");
    const auto used = node.acquire("y");
    const auto former = client_.member();
    set_link(former, testkit::LinkMode::refuse);
    const auto hold = member_other_than(former).acquire("x");
    EXPECT_TRUE(used.valid());
    EXPECT_FALSE(member_other_than(former).try_acquire("y"));
    EXPECT_TRUE(comes_true([&] { return client_.is_elsewhere_than(former); }));
    EXPECT_TRUE(used.valid());
    cache(node, "z");
}

TEST_F(CachedByAClient, S40_WhoseMemberFallsSilentKeepsNobodyWaitingForALease) {
    cache(*client_.node, "x");
    const auto former = client_.member();
    set_link(former, testkit::LinkMode::drop);
    const auto hold = member_other_than(former).acquire_for("x", patience);
    EXPECT_TRUE(hold);
}

TEST_F(CachedByAClient, S42_WhoIsCutOffServesNothingAfterItsLease) {  // P3
    auto& node = *client_.node;
    cache(node, "x");
    const auto used = node.acquire("x");
    const auto links = {NodeId{1}, NodeId{2}, NodeId{3}};
    for (const auto member : links)
        set_link(member, testkit::LinkMode::drop);
    const auto hold = cluster_.node(0).acquire("x");
    EXPECT_FALSE(used.valid());
    const auto before = served(node);
    std::error_code ec;
    EXPECT_FALSE(node.acquire_for("x", 100ms, {}, ec));
    EXPECT_EQ(served(node), before);
    for (const auto member : links)
        set_link(member, testkit::LinkMode::pass);
}

TEST_F(CachedByAClient, AKilledMemberCostsNoHold) {  // P6
    auto& node = *client_.node;
    cache(node, "x");
    const auto used = node.acquire("x");
    const auto former = client_.member();
    cluster_.kill(former - 1);
    EXPECT_TRUE(comes_true([&] { return client_.is_elsewhere_than(former); }));
    EXPECT_TRUE(used.valid());
    EXPECT_FALSE(member_other_than(former).try_acquire("x"));
}

}  // namespace
}  // namespace mortise
