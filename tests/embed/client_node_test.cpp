// Client nodes: they use a cluster by way of any member, and lose nothing when that member is gone
// (S49).
#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <asio/use_future.hpp>
#include <gmock/gmock.h>
#include <unistd.h>

#include "tests/support/child.hpp"
#include <mortise/async.hpp>
#include <mortise/mortise.hpp>
#include <mortise/testkit/link_proxy.hpp>
#include <mortise/testkit/local_cluster.hpp>

namespace mortise {
namespace {

using namespace std::chrono_literals;
using std::chrono::steady_clock;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;
using Rule = std::vector<AccessRule>;

constexpr auto patience = 20s;

bool wait_until(const std::function<bool()>& done, Duration wait_max = patience) {
    const auto until = steady_clock::now() + wait_max.to_nanoseconds();
    while (!done()) {
        if (steady_clock::now() > until) return false;
        std::this_thread::sleep_for(5ms);
    }
    return true;
}

// A cluster of three, whose members a client reaches by links that can be broken.
class ClientNode : public ::testing::Test {
protected:
    void SetUp() override {
        for (std::size_t i = 0; i < cluster.size(); ++i) {
            const auto link = proxy.add_link();
            proxy.set_target(link, cluster.node(i).status().address);
            links.push_back(link);
        }
    }
    Config config(const Rule& rules = {}) {
        Config client;
        client.role = Role::client;
        client.cluster = cluster.node(0).status().cluster;
        client.timing = testkit::quick_timing();
        client.tls =
            cluster.issue_user("app" + std::to_string(++users_), {AccessRole::client}, rules);
        for (std::size_t i = 0; i < links.size(); ++i)
            client.peers.push_back({NodeId{i + 1}, proxy.address(links[i])});
        return client;
    }
    // A client that is ready.
    struct Client {
        explicit Client(Config config) : node{std::move(config)} {
            EXPECT_TRUE(node.wait_ready(steady_clock::now() + patience));
        }
        // That serves it; 0: none at this moment.
        [[nodiscard]] NodeId member() const { return node.status().served_by.value_or(0); }
        [[nodiscard]] bool is_elsewhere_than(NodeId former) const {
            const auto now = member();
            return now != 0 && now != former;
        }
        Node node;
    };
    void set_link(NodeId member, testkit::LinkMode mode) {
        proxy.set_mode(links.at(member - 1), mode);
    }
    void set_links(testkit::LinkMode mode) {
        for (const auto link : links)
            proxy.set_mode(link, mode);
    }
    Node& other_than(NodeId member) { return cluster.node(member % cluster.size()); }

    testkit::LocalCluster cluster{3, testkit::quick_timing()};
    testkit::LinkProxy proxy;
    std::vector<testkit::LinkProxy::Link> links;

private:
    int users_ = 0;
};

TEST_F(ClientNode, HoldsALockLikeAnyNode) {
    Client client{config()};
    auto hold = client.node.acquire("a");
    EXPECT_TRUE(hold.valid());
    EXPECT_GT(hold.token().raw(), 0);
    EXPECT_FALSE(cluster.node(0).try_acquire("a"));
    EXPECT_FALSE(client.node.try_acquire("a"));
    EXPECT_FALSE(hold.release());
    EXPECT_TRUE(cluster.node(0).try_acquire("a"));
}

TEST_F(ClientNode, SaysWhatItIs) {
    Client client{config()};
    const auto status = client.node.status();
    EXPECT_EQ(status.role, Role::client);
    EXPECT_TRUE(status.ready);
    EXPECT_EQ(status.id, 0U);
    EXPECT_NE(status.session, 0U);
    EXPECT_EQ(status.cluster_id, cluster.node(0).status().cluster_id);
    const auto hold = client.node.acquire("a");
    const auto seen = cluster.node(0).inspect("a");
    ASSERT_EQ(seen.holders.size(), 1U);
    EXPECT_EQ(seen.holders.front().node, 0U);
    EXPECT_EQ(seen.holders.front().origin.address, "127.0.0.1");
    EXPECT_EQ(seen.holders.front().origin.pid, static_cast<std::uint64_t>(getpid()));
}

TEST_F(ClientNode, WaitsForAMemberAndTheOtherWayRound) {
    Client client{config()};
    auto of_member = cluster.node(0).acquire("a");
    auto waiting = std::async(std::launch::async, [&] { return client.node.acquire("a"); });
    ASSERT_TRUE(wait_until([&] { return cluster.node(0).inspect("a").waiters.size() == 1; }));
    of_member.unlock();
    auto of_client = waiting.get();
    EXPECT_TRUE(of_client.valid());
    EXPECT_FALSE(cluster.node(1).acquire_for("a", 200ms));
    of_client.unlock();
    EXPECT_TRUE(cluster.node(1).acquire_for("a", patience));
}

TEST_F(ClientNode, KeepsItsHoldsWhenTheConnectionBreaks) {
    Client client{config()};
    auto hold = client.node.acquire("a");
    const auto former = client.member();
    std::atomic<NodeId> left = 0;
    std::atomic<NodeId> found = 0;
    const auto events = client.node.on_event([&](const NodeEvent& event) {
        if (event.kind == NodeEvent::Kind::peer_down) left = event.peer;
        if (event.kind == NodeEvent::Kind::peer_up) found = event.peer;
    });
    set_link(former, testkit::LinkMode::refuse);
    ASSERT_TRUE(wait_until([&] { return client.is_elsewhere_than(former); }));
    EXPECT_TRUE(wait_until([&] { return left == former && found == client.member(); }));
    std::this_thread::sleep_for(3s);  // longer than a session lasts without renewals
    EXPECT_TRUE(hold.valid());
    EXPECT_FALSE(hold.lost().stop_requested());
    EXPECT_FALSE(other_than(former).try_acquire("a"));
    EXPECT_FALSE(hold.release());
}

TEST_F(ClientNode, KeepsItsHoldsWhenItsMemberFallsSilent) {
    Client client{config()};
    auto hold = client.node.acquire("a");
    const auto former = client.member();
    set_link(former, testkit::LinkMode::drop);
    std::this_thread::sleep_for(5s);
    EXPECT_TRUE(client.is_elsewhere_than(former));
    EXPECT_TRUE(hold.valid());
    EXPECT_FALSE(hold.lost().stop_requested());
}

// The second one accepts the connection, and says nothing. With these times the lease is over when
// a client waits as long for it as for a member without a lease.
TEST_F(ClientNode, KeepsItsHoldsWhenTwoMembersFallSilent) {
    auto slow = config();
    slow.timing.session_ttl = 6s;
    slow.timing.election_timeout = 1s;
    Client client{slow};
    auto hold = client.node.acquire("a");
    const auto former = client.member();
    const NodeId next = former % 3 + 1;
    set_link(former, testkit::LinkMode::drop);
    set_link(next, testkit::LinkMode::drop);
    std::this_thread::sleep_for(8s);
    EXPECT_EQ(client.member(), next % 3 + 1);
    EXPECT_TRUE(hold.valid());
    EXPECT_FALSE(hold.lost().stop_requested());
}

// After a restart of the members, for example, all clients may be at one of them.
TEST_F(ClientNode, GoesWhereFewerAreAndKeepsItsHolds) {
    set_link(2, testkit::LinkMode::refuse);
    set_link(3, testkit::LinkMode::refuse);
    std::vector<std::unique_ptr<Client>> clients;
    std::vector<Hold> holds;
    for (int i = 0; i < 6; ++i) {
        auto& client = *clients.emplace_back(std::make_unique<Client>(config()));
        holds.push_back(client.node.acquire(std::to_string(i)));
        EXPECT_EQ(client.member(), 1U);
    }
    set_links(testkit::LinkMode::pass);
    const auto most = [&] {
        std::map<NodeId, int> served;
        for (const auto& client : clients)
            ++served[client->member()];
        return std::ranges::max_element(served, {}, [](const auto& one) { return one.second; })
            ->second;
    };
    EXPECT_TRUE(wait_until([&] { return most() <= 3; }, 60s));
    for (const auto& hold : holds) {
        EXPECT_TRUE(hold.valid());
        EXPECT_FALSE(hold.lost().stop_requested());
    }
}

TEST_F(ClientNode, KeepsItsHoldsWhenItsMemberDies) {  // P6
    Client client{config()};
    auto hold = client.node.acquire("a");
    const auto former = client.member();
    cluster.kill(former - 1);
    std::this_thread::sleep_for(5s);
    EXPECT_TRUE(hold.valid());
    EXPECT_FALSE(hold.lost().stop_requested());
    EXPECT_TRUE(client.node.acquire("b").valid());
}

TEST_F(ClientNode, LeavesAMemberThatIsCutOffFromTheOthers) {
    Client client{config()};
    auto hold = client.node.acquire("a");
    const auto former = client.member();
    cluster.isolate(former - 1);
    std::this_thread::sleep_for(5s);
    EXPECT_TRUE(client.is_elsewhere_than(former));
    EXPECT_TRUE(hold.valid());
    EXPECT_FALSE(hold.lost().stop_requested());
    EXPECT_TRUE(client.node.acquire("b").valid());
}

TEST_F(ClientNode, ACallThatWaitsGoesOnByAnotherMember) {
    Client client{config()};
    const auto former = client.member();
    auto of_member = other_than(former).acquire("a");
    auto waiting = std::async(std::launch::async, [&] { return client.node.acquire("a"); });
    ASSERT_TRUE(wait_until([&] { return other_than(former).inspect("a").waiters.size() == 1; }));
    set_link(former, testkit::LinkMode::refuse);
    of_member.unlock();
    ASSERT_EQ(waiting.wait_for(patience), std::future_status::ready);
    EXPECT_TRUE(waiting.get().valid());
}

TEST_F(ClientNode, LosesItsHoldsInTimeWhenNoMemberAnswers) {  // P6
    Client client{config()};
    auto hold = client.node.acquire("a");
    std::atomic<bool> is_told = false;
    const std::stop_callback on_loss{hold.lost(), [&] { is_told = true; }};
    const auto valid_until = hold.valid_until();
    set_links(testkit::LinkMode::drop);
    EXPECT_TRUE(wait_until([&] { return is_told.load(); }, 4s));
    EXPECT_FALSE(hold.valid());
    EXPECT_EQ(hold.why_lost(), LossReason::expired);
    EXPECT_LT(BootClock::now() - valid_until, 3s);
    // Others get the lock, and the client works again when it is back.
    EXPECT_TRUE(cluster.node(0).acquire_for("a", patience));
    set_links(testkit::LinkMode::pass);
    EXPECT_TRUE(client.node.wait_ready(steady_clock::now() + patience));
    EXPECT_TRUE(client.node.acquire("b").valid());
}

// The close may wait for an hour here.
TEST_F(ClientNode, ClosesAtOnceIfNoMemberServesItAndNothingIsHeld) {
    auto patient = config();
    patient.timing.close_timeout = 1h;
    Client client{patient};
    EXPECT_FALSE(client.node.acquire("a").release());
    set_links(testkit::LinkMode::refuse);
    client.node.close();
    Node never_served{patient};
    never_served.close();
}

TEST_F(ClientNode, ClosesWhenAMemberHasReleasedWhatItHolds) {
    auto patient = config();
    patient.timing.close_timeout = patient.timing.session_ttl = 1h;
    Client client{patient};
    const auto hold = client.node.acquire("a");
    set_links(testkit::LinkMode::refuse);
    auto closed = std::async(std::launch::async, [&] { client.node.close(); });
    EXPECT_TRUE(wait_until([&] { return hold.why_lost() != LossReason::none; }));
    EXPECT_EQ(closed.wait_for(100ms), std::future_status::timeout);
    set_links(testkit::LinkMode::pass);
    closed.get();
    EXPECT_TRUE(cluster.node(0).try_acquire("a"));
}

TEST_F(ClientNode, HearsOfBreaksAndOfOthersThatWant) {
    Client client{config()};
    std::atomic<int> told = 0;
    AcquireOptions options;
    options.on_contended = [&](LockMode, std::size_t, std::string_view) { ++told; };
    auto hold = client.node.acquire("a", options);
    auto waiting =
        std::async(std::launch::async, [&] { return cluster.node(0).acquire_for("a", patience); });
    EXPECT_TRUE(wait_until([&] { return told == 1; }));
    cluster.node(1).request_release("a", "please");
    EXPECT_TRUE(wait_until([&] { return told == 2; }));
    cluster.node(1).break_lock("a", hold.token(), "because");
    EXPECT_TRUE(wait_until([&] { return hold.lost().stop_requested(); }));
    EXPECT_EQ(hold.why_lost(), LossReason::broken);
    EXPECT_TRUE(waiting.get());
}

TEST_F(ClientNode, LosesAllWithItsSessionAndGoesOnInANewOne) {  // S24
    Client client{config()};
    const auto hold = client.node.acquire("a");
    const auto session = cluster.node(0).inspect("a").holders.front().session;
    std::error_code ec;
    client.node.evict(session, "because", ec);
    EXPECT_EQ(ec, Errc::invalid_argument);
    cluster.node(1).evict(session, "because", BreakMode::immediate);
    EXPECT_TRUE(cluster.node(0).acquire_for("a", patience));
    EXPECT_TRUE(wait_until([&] { return hold.lost().stop_requested(); }));
    EXPECT_TRUE(client.node.acquire_for("b", patience));
    cluster.node(1).evict(session, "because", ec);
    EXPECT_EQ(ec, Errc::not_held);
}

TEST_F(ClientNode, DoesWhatAnyNodeDoes) {
    Client client{config()};
    auto& node = client.node;
    auto hold = node.acquire("a", {.mode = LockMode::update});
    hold.upgrade(steady_clock::now() + patience);
    hold.set_value("written");
    EXPECT_EQ(hold.value(), "written");
    hold.confirm(steady_clock::now() + patience);
    EXPECT_EQ(cluster.node(0).inspect("a").value.value().bytes, "written");
    EXPECT_EQ(node.inspect("a").value.value().bytes, "written");
    EXPECT_EQ(node.list("a").size(), 1U);
    hold.downgrade(LockMode::shared);
    EXPECT_TRUE(cluster.node(0).try_acquire("a", {.mode = LockMode::shared}));
    Mutex mutex{node, "m"};
    {
        const std::scoped_lock lock{mutex};
        EXPECT_FALSE(cluster.node(0).try_acquire("m"));
    }
    Semaphore semaphore{node, "s", 2};
    const auto permits = semaphore.acquire(2);
    EXPECT_FALSE(semaphore.try_acquire(1));
    auto several = node.acquire_all({"x", "y"});
    EXPECT_TRUE(several.valid());
    auto later = async_acquire(node, "z", asio::use_future);
    EXPECT_TRUE(later.get().valid());
}

// With TLS its certificate does not allow the change either.
TEST_F(ClientNode, SaysClearlyWhatItCannotDo) {
    Client client{config()};
    try {
        client.node.add_member(9, "127.0.0.1:1");
        ADD_FAILURE();
    } catch (const std::system_error& error) {
        EXPECT_EQ(error.code(), Errc::permission_denied);
        EXPECT_THAT(error.what(), HasSubstr("client"));
    }
    try {
        (void)client.node.sessions();
        ADD_FAILURE();
    } catch (const LockError& error) {
        EXPECT_EQ(error.code(), Errc::invalid_argument);
        EXPECT_THAT(error.what(), HasSubstr("client node"));
    }
}

TEST_F(ClientNode, ClosingReleasesEverythingAtOnce) {
    auto client = std::make_unique<Client>(config());
    auto hold = client->node.acquire("a");
    client->node.close();
    EXPECT_EQ(hold.why_lost(), LossReason::node_stopped);
    EXPECT_TRUE(cluster.node(0).acquire_for("a", 1s));
    std::error_code ec;
    (void)client->node.acquire("b", ec);
    EXPECT_EQ(ec, Errc::node_stopped);
}

TEST_F(ClientNode, HoldsNothingInAChild) {  // S25
    Client client{config()};
    auto hold = client.node.acquire("a");
    EXPECT_EQ(tests::exit_of_child([&] {
                  std::error_code ec;
                  (void)client.node.acquire("b", ec);
                  const bool is_right = !hold.valid() && hold.why_lost() == LossReason::forked &&
                                        ec == Errc::forked && client.node.status().stopped;
                  return is_right ? 0 : 1;
              }),
              0);
    EXPECT_TRUE(hold.valid());
}

TEST_F(ClientNode, WithoutMembersItSaysWhy) {
    set_links(testkit::LinkMode::refuse);
    auto lonely = config();
    lonely.timing.call_timeout = 300ms;
    Node node{lonely};
    EXPECT_FALSE(node.wait_ready(steady_clock::now() + 300ms));
    EXPECT_THAT(node.status().why_not_ready, HasSubstr("no member serves this client"));
    EXPECT_THAT(node.status().why_not_ready, HasSubstr(lonely.peers[0].address));
    try {
        (void)node.acquire("a");
        ADD_FAILURE();
    } catch (const LockError& error) {
        EXPECT_EQ(error.code(), Errc::no_quorum);
        EXPECT_THAT(error.what(), HasSubstr("no member serves this client"));
    }
    std::error_code ec;
    (void)node.inspect("a", ec);
    EXPECT_EQ(ec, Errc::no_quorum);
}

TEST_F(ClientNode, WithoutALeaderItSaysSoOfEachMember) {
    for (std::size_t i = 0; i < cluster.size(); ++i)
        cluster.isolate(i);
    const auto lonely = config();
    Node node{lonely};
    EXPECT_TRUE(wait_until([&] {
        const auto why = node.status().why_not_ready;
        return std::ranges::all_of(lonely.peers, [&](const PeerConfig& peer) {
            return why.find(peer.address + " (it knows no leader)") != std::string::npos;
        });
    })) << node.status().why_not_ready;
}

TEST_F(ClientNode, UsesNoClusterWithAnotherName) {
    auto other = config();
    other.cluster = "another";
    if (other.tls.is_set()) {  // its certificate names the cluster
        EXPECT_THAT([&] { Node node{other}; },
                    ThrowsMessage<CertificateError>(HasSubstr("not of cluster another")));
        return;
    }
    Node node{other};
    EXPECT_FALSE(node.wait_ready(steady_clock::now() + 500ms));
    EXPECT_THAT(node.status().why_not_ready, HasSubstr("it belongs to a cluster named"));
}

// A member was started with the directory of a former cluster of that name, and is dialled first.
TEST_F(ClientNode, IsNotKeptByAMemberOfAFormerCluster) {
    const auto client = config();
    testkit::LocalCluster former{3, testkit::quick_timing()};
    former.kill(1);
    former.kill(2);
    proxy.set_target(links[0], former.node(0).status().address);
    set_link(2, testkit::LinkMode::refuse);
    set_link(3, testkit::LinkMode::refuse);
    Node node{client};
    // With TLS it has another authority, and the connection does not get that far.
    if (client.tls.is_set())
        EXPECT_FALSE(node.wait_ready(steady_clock::now() + 500ms));
    else
        ASSERT_TRUE(wait_until([&] { return node.status().served_by.has_value(); }));
    set_links(testkit::LinkMode::pass);
    EXPECT_TRUE(node.wait_ready(steady_clock::now() + patience));
    EXPECT_EQ(node.status().cluster_id, cluster.node(1).status().cluster_id);
    EXPECT_TRUE(node.acquire("a").valid());
}

// The recovered member may not know of everything that this client holds.
TEST_F(ClientNode, BeginsAnewInARecoveredCluster) {
    Client client{config()};
    auto hold = client.node.acquire("a");
    const auto session = client.node.status().session;
    const auto former = cluster.node(0).status().cluster_id;
    for (std::size_t i = 0; i < cluster.size(); ++i)
        cluster.kill(i);
    const auto recovered = recover_directory(cluster.directory() / "1", former);
    EXPECT_TRUE(wait_until([&] { return hold.lost().stop_requested(); }));
    Config alone;
    alone.cluster = Config{}.cluster;
    alone.node_id = recovered.node;
    alone.data_dir = cluster.directory() / "1";
    alone.listen = "127.0.0.1:0";
    alone.timing = testkit::quick_timing();
    alone.tls = cluster.issue_node(recovered.node);
    Node member{alone};
    ASSERT_TRUE(member.wait_ready(steady_clock::now() + patience));
    proxy.set_target(links[0], member.status().address);
    EXPECT_TRUE(client.node.wait_ready(steady_clock::now() + patience));
    EXPECT_EQ(client.node.status().cluster_id, recovered.cluster_id);
    EXPECT_NE(client.node.status().session, session);
    EXPECT_EQ(hold.why_lost(), LossReason::expired);
    EXPECT_FALSE(hold.valid());
    const auto later = client.node.acquire("a");
    EXPECT_TRUE(later.valid());
    EXPECT_GT(later.token(), hold.token());
}

TEST_F(ClientNode, MayDoWhatItsCertificateAllows) {
    const auto limited = config({{AccessRight::acquire, "mine/"}});
    Client client{limited};
    EXPECT_TRUE(client.node.acquire("mine/1").valid());
    std::error_code ec;
    const auto hold = client.node.acquire("yours", ec);
    if (limited.tls.is_set())
        EXPECT_EQ(ec, Errc::permission_denied);
    else  // nobody has a certificate
        EXPECT_EQ(ec, std::error_code{});
}

}  // namespace
}  // namespace mortise
