// Connections with TLS: of two nodes, and under load. Which certificates are accepted is in
// peer_network_identity_test.cpp.
#include <deque>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "tests/unit/transport/network_support.hpp"
#include "tests/unit/transport/tls_support.hpp"
#include "transport/clients/member_client.hpp"
#include "transport/tls/tls_credentials.hpp"

namespace mortise::transport {
namespace {

using namespace test;

class PeerNetworkTlsTest : public testing::Test {
protected:
    using Credentials = std::shared_ptr<const TlsCredentials>;

    // The node `id` with these credentials; without credentials it has no TLS.
    std::unique_ptr<Node> node(std::uint64_t id, const Credentials& credentials) {
        auto made =
            std::make_unique<Node>(io_, id, addresses_, [&](NetworkOptions& options, core::Hello&) {
                options.cluster = "orders";
                options.credentials = credentials;
                options.log = [this](LogLevel, std::string text) { log_ += text + "\n"; };
            });
        EXPECT_TRUE(made->start());
        return made;
    }

    [[nodiscard]] bool says(const std::string& words) const {
        return log_.find(words) != std::string::npos;
    }

    std::vector<std::string> addresses_{free_address(), free_address()};
    asio::io_context io_;
    Authority authority_{"orders"};
    std::string log_;
};

TEST_F(PeerNetworkTlsTest, MembersOfOneClusterMeet) {
    auto first = node(1, authority_.node(1));
    auto second = node(2, authority_.node(2));
    ASSERT_TRUE(run_until(io_, [&] { return first->is_up(2) && second->is_up(1); })) << log_;
    first->send(core::NodeId{2}, numbered(7));
    ASSERT_TRUE(run_until(io_, [&] { return !second->events.messages.empty(); }));
    EXPECT_EQ(number_of(second->events.messages.front().second), 7U);
}

TEST_F(PeerNetworkTlsTest, WithoutACertificateNobodyGetsIn) {
    auto secured = node(1, authority_.node(1));
    auto plain = node(2, nullptr);
    ASSERT_TRUE(run_until(io_, [&] { return secured->network->counters().handshakes_failed > 0; }));
    EXPECT_FALSE(secured->is_up(2));
    EXPECT_FALSE(plain->is_up(1));
    EXPECT_TRUE(says("does not speak TLS")) << log_;
}

TEST_F(PeerNetworkTlsTest, NewCredentialsServeNewConnectionsAndOldAuthoritiesAreForgotten) {
    Authority next{"orders"};
    auto first = node(1, authority_.node(1));
    auto second = node(2, authority_.node(2));
    ASSERT_TRUE(run_until(io_, [&] { return first->is_up(2) && second->is_up(1); })) << log_;
    // Both authorities are trusted for a while: no connection is interrupted.
    first->network->set_credentials(authority_.node(1, {&authority_, &next}));
    second->network->set_credentials(authority_.node(2, {&authority_, &next}));
    run_for(io_, 100ms);
    EXPECT_TRUE(first->events.downs.empty());
    // The new authority's certificates, then only the new authority.
    first->network->set_credentials(next.node(1, {&authority_, &next}));
    second->network->set_credentials(next.node(2, {&authority_, &next}));
    first->network->set_credentials(next.node(1));
    // the old connections were closed
    ASSERT_TRUE(run_until(io_, [&] { return !first->events.downs.empty(); }));
    ASSERT_TRUE(run_until(io_, [&] { return first->is_up(2) && second->is_up(1); })) << log_;
}

TEST_F(PeerNetworkTlsTest, ACrowdThatOnlyBeginsHandshakesDoesNotKeepAPeerOut) {
    auto first = node(1, authority_.node(1));
    std::vector<std::unique_ptr<Stranger>> crowd;
    for (int i = 0; i < 200; ++i) {
        crowd.push_back(std::make_unique<Stranger>(io_, addresses_[0]));
        run_for(io_, 1ms);
    }
    auto second = node(2, authority_.node(2));
    EXPECT_TRUE(run_until(io_, [&] { return first->is_up(2) && second->is_up(1); })) << log_;
    EXPECT_GT(first->network->counters().strangers_refused, 0U);
}

// Each of its connections is newer than that of the peer, and takes a handshake.
TEST_F(PeerNetworkTlsTest, AFloodFromOneAddressDoesNotTakeTheTurnsOfAPeer) {
    auto first =
        std::make_unique<Node>(io_, 1, addresses_, [&](NetworkOptions& options, core::Hello&) {
            options.cluster = "orders";
            options.credentials = authority_.node(1);
            options.limits.handshakes_per_second = 5;
        });
    ASSERT_TRUE(first->start());
    std::deque<std::unique_ptr<Stranger>> crowd;
    std::unique_ptr<Node> second;
    const auto end = std::chrono::steady_clock::now() + 8s;
    while (!first->is_up(2) && std::chrono::steady_clock::now() < end) {
        crowd.push_back(std::make_unique<Stranger>(io_, addresses_[0], "127.0.0.9"));
        if (crowd.size() > 500) crowd.pop_front();
        if (crowd.size() == 100 && !second) second = node(2, authority_.node(2));
        run_for(io_, 2ms);
    }
    EXPECT_TRUE(first->is_up(2)) << log_;
}

TEST_F(PeerNetworkTlsTest, ASilentHandshakeIsClosedInTime) {
    auto first =
        std::make_unique<Node>(io_, 1, addresses_, [&](NetworkOptions& options, core::Hello&) {
            options.cluster = "orders";
            options.credentials = authority_.node(1);
            options.limits.hello_timeout = 100ms;
        });
    ASSERT_TRUE(first->start());
    Stranger silent{io_, addresses_[0]};
    EXPECT_TRUE(run_until(io_, [&] { return silent.is_closed(); }));
    EXPECT_EQ(first->network->counters().strangers_timed_out, 1U);
}

class PeerNetworkTlsClientTest : public PeerNetworkTlsTest {
protected:
    // The result of connecting to node 1 with these credentials.
    core::Result<core::Hello> connect(const Credentials& credentials) {
        const auto server = serve();
        return result_of_connecting(credentials);
    }
    std::unique_ptr<Node> serve() {
        auto server = std::make_unique<Node>(
            io_, 1, addresses_,
            [&](NetworkOptions& options, core::Hello&) {
                options.cluster = "orders";
                options.credentials = authority_.node(1);
            },
            &service_);
        EXPECT_TRUE(server->start());
        return server;
    }
    core::Result<core::Hello> result_of_connecting(const Credentials& credentials) {
        std::optional<core::Result<core::Hello>> answer;
        MemberClient client{io_, {}, credentials};
        client.connect(addresses_[0], 10s,
                       [&](core::Result<core::Hello> result) { answer = std::move(result); });
        EXPECT_TRUE(run_until(io_, [&] { return answer.has_value(); }));
        return answer.value_or(core::Error{});
    }

    NoService service_;
};

TEST_F(PeerNetworkTlsClientTest, IsServedWithACertificateOfTheCluster) {
    EXPECT_TRUE(connect(authority_.user("alice", core::AccessRole::observer)));
}

TEST_F(PeerNetworkTlsClientTest, IsToldWhyNotWithoutOne) {
    EXPECT_FALSE(connect(nullptr));
    Authority other{"orders"};
    const auto refused = connect(other.user("alice", core::AccessRole::observer));
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().what.find("not signed by an authority"), std::string::npos)
        << refused.error().what;
}

TEST_F(PeerNetworkTlsClientTest, WithTheServersAuthorityButAStrangersCertificateHearsTheAlert) {
    Authority other{"orders"};
    const auto refused =
        connect(other.user("alice", core::AccessRole::observer, {&authority_, &other}));
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().what.find("does not know the authority"), std::string::npos)
        << refused.error().what;
}

TEST_F(PeerNetworkTlsClientTest, SaysIfItDoesNotTrustTheMemberAnyMore) {
    Authority next{"orders"};
    const auto server = serve();
    const auto alice = [&](const Authority::Believed& believed) {
        return authority_.user("alice", core::AccessRole::observer, believed);
    };
    std::optional<core::Result<core::Hello>> up;
    const auto keep = [&](core::Result<core::Hello> result) { up = std::move(result); };
    MemberClient client{io_, {}, alice({&authority_, &next})};
    client.connect(addresses_[0], 10s, keep);
    ASSERT_TRUE(run_until(io_, [&] { return up.has_value(); }));
    ASSERT_TRUE(*up);
    EXPECT_TRUE(client.set_credentials(alice({&authority_})));
    const auto trusted = client.set_credentials(next.user("alice", core::AccessRole::observer));
    ASSERT_FALSE(trusted);
    EXPECT_NE(trusted.error().what.find("not signed by an authority"), std::string::npos);
}

}  // namespace
}  // namespace mortise::transport
