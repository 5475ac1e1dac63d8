#include <cmath>
#include <functional>
#include <limits>

#include <gtest/gtest.h>

#include <mortise/config.hpp>
#include <mortise/errc.hpp>

namespace mortise {
namespace {

using namespace std::chrono_literals;

Config three_peers() {
    Config config;
    config.node_id = 2;
    config.data_dir = "data";
    config.listen = "127.0.0.1:7402";
    config.peers = {{1, "127.0.0.1:7401"}, {2, "127.0.0.1:7402"}, {3, "[::1]:7403"}};
    return config;
}

// The error for a valid configuration after `change`; empty if it stays valid.
std::string complaint(const std::function<void(Config&)>& change) {
    auto config = three_peers();
    change(config);
    try {
        config.validate();
    } catch (const ConfigError& error) {
        EXPECT_EQ(error.code(), Errc::invalid_argument);
        EXPECT_EQ(error.place().file, "");
        return error.what();
    }
    return {};
}

TEST(Config, HasTheDocumentedDefaults) {
    const Config config;
    EXPECT_EQ(config.role, Role::voter);
    EXPECT_EQ(config.timing.session_ttl, 10s);
    EXPECT_EQ(config.timing.election_timeout, 1s);
    EXPECT_EQ(config.timing.heartbeat, 100ms);
    EXPECT_EQ(config.timing.call_timeout, 10s);
    EXPECT_EQ(config.timing.close_timeout, 2s);
    EXPECT_EQ(config.timing.clock_rate_bound, 0.01);
    EXPECT_EQ(config.durability, Durability::synced);
    EXPECT_EQ(config.sync_interval, 50ms);
    EXPECT_EQ(config.log.level, LogLevel::warn);
    EXPECT_FALSE(config.log.sink);
    EXPECT_FALSE(config.tls.is_set());
}

TEST(Config, ForASingleNodeNeedsOnlyADirectory) {
    const auto config = Config::single_node("data");
    EXPECT_NO_THROW(config.validate());
    EXPECT_EQ(config.own_id(), 1U);
    EXPECT_EQ(config.data_dir, "data");
    EXPECT_THROW(Config::single_node("").validate(), ConfigError);
}

TEST(Config, InMemoryNeedsNothing) {
    const auto config = Config::in_memory();
    EXPECT_NO_THROW(config.validate());
    EXPECT_TRUE(config.memory_only);
    EXPECT_EQ(config.own_id(), 1U);
}

TEST(Config, ForASingleNodeMayOmitTheId) {
    Config config;
    config.data_dir = "data";
    EXPECT_NO_THROW(config.validate());
    EXPECT_EQ(config.own_id(), 1U);
    config.node_id = 9;
    EXPECT_EQ(config.own_id(), 9U);
}

TEST(Config, RefusesANumberedNodeWithoutPeers) {
    Config config;
    config.data_dir = "data";
    config.node_id = 1;
    EXPECT_NO_THROW(config.validate());
    config.node_id = 3;
    EXPECT_EQ(complaint([&](Config& c) { c = config; }),
              "peer: missing: node_id 3 requires a list of peers; a cluster of one node lists only "
              "this node");
    config.peers = {{3, "127.0.0.1:7403"}};
    config.listen = "127.0.0.1:7403";
    EXPECT_NO_THROW(config.validate());
}

TEST(Config, IsValidWithPeers) {
    EXPECT_EQ(complaint([](Config&) {}), "");
    EXPECT_EQ(complaint([](Config& c) { c.listen = "localhost:0"; }), "");
    EXPECT_EQ(complaint([](Config& c) { c.listen = "[::1]:7402"; }), "");
}

TEST(Config, TakesAllFilesOfTlsOrNone) {
    EXPECT_EQ(complaint([](Config& c) { c.tls = {"c.pem", "c.key", "ca.pem"}; }), "");
    EXPECT_EQ(complaint([](Config& c) { c.tls.ca = "ca.pem"; }),
              "tls.certificate: missing: TLS takes tls.certificate, tls.key and tls.ca");
    EXPECT_EQ(complaint([](Config& c) {
                  c.tls = {"c.pem", "", "ca.pem"};
              }),
              "tls.key: missing: TLS takes tls.certificate, tls.key and tls.ca");
    EXPECT_EQ(complaint([](Config& c) {
                  c.tls = {"c.pem", "c.key", "ca.pem", true};
              }),
              "tls.insecure: must be false, or left out, where the files of TLS are given");
    EXPECT_EQ(complaint([](Config& c) { c.tls.revoked = "revoked.txt"; }),
              "tls.certificate: missing: TLS takes tls.certificate, tls.key and tls.ca");
}

TEST(Config, RefusesToListenInTheOpenWithoutTls) {
    for (const std::string address : {"0.0.0.0:7401", "[::]:7401", "10.1.2.3:7401"}) {
        EXPECT_EQ(complaint([&](Config& c) { c.listen = address; }),
                  "listen: \"" + address +
                      "\" is not a loopback address: set tls.certificate, tls.key and tls.ca "
                      "(`mortise cert` makes the files), or tls.insecure = true if everybody who "
                      "reaches it may do everything");
        const auto insecure = [&](Config& c) {
            c.listen = address;
            c.tls.insecure = true;
        };
        EXPECT_EQ(complaint(insecure), "");
    }
    // A host name is checked when it is bound.
    EXPECT_EQ(complaint([](Config& c) { c.listen = "db-1:7401"; }), "");
}

TEST(Config, AdvertisesAnAddressThatOthersCanDial) {
    EXPECT_EQ(complaint([](Config& c) { c.advertise = "db-1:7401"; }), "");
    EXPECT_EQ(complaint([](Config& c) { c.advertise = "db-1:0"; }),
              "advertise: the port must not be 0");
    for (const auto* any : {"0.0.0.0:7401", "[::]:7401"}) {
        EXPECT_EQ(complaint([&](Config& c) { c.advertise = any; }),
                  "advertise: \"" + std::string{any} +
                      "\" is no address that others can connect to: give the name or the address "
                      "of this machine");
    }
    EXPECT_EQ(complaint([](Config& c) {
                  c.advertise = "db-1:1";
                  c.node_id = 1;
                  c.listen.clear();
                  c.peers.clear();
              }),
              "advertise: this node does not listen: set listen as well");
}

TEST(Config, RefusesPeersThatDoNotFit) {
    EXPECT_EQ(complaint([](Config& c) { c.peers[2].id = 1; }), "peer.id: 1 is the id of two peers");
    EXPECT_EQ(complaint([](Config& c) { c.peers[0].id = 0; }), "peer.id: must be 1 or more");
    EXPECT_EQ(complaint([](Config& c) { c.peers[2].address = "127.0.0.1:7401"; }),
              "peer.address: \"127.0.0.1:7401\" is the address of two peers");
    // In any notation.
    EXPECT_EQ(complaint([](Config& c) { c.peers[2].address = "127.0.0.1:07401"; }),
              "peer.address: \"127.0.0.1:07401\" is the address of two peers");
    EXPECT_EQ(complaint([](Config& c) {
                  c.peers[1].address = "Host:1";
                  c.peers[2].address = "hOST:1";
              }),
              "peer.address: \"hOST:1\" is the address of two peers");
    EXPECT_EQ(complaint([](Config& c) {
                  c.peers[1].address = "[::1]:1";
                  c.peers[2].address = "[0:0::0:1]:1";
              }),
              "peer.address: \"[0:0::0:1]:1\" is the address of two peers");
    EXPECT_EQ(complaint([](Config& c) { c.peers[2].address = "7403"; }),
              "peer.address: \"7403\" is not an address: write host:port, or [::1]:port for IPv6");
    EXPECT_EQ(complaint([](Config& c) { c.peers[2].address = "host:0"; }),
              "peer.address: the port of a peer must not be 0");
    EXPECT_EQ(complaint([](Config& c) { c.node_id = 4; }),
              "node_id: 4 is not the id of a peer: the peers are 1, 2, 3; correct node_id, or use "
              "role = \"learner\"");
    EXPECT_EQ(complaint([](Config& c) { c.node_id = 0; }),
              "node_id: missing: say which of the peers this node is");
    EXPECT_EQ(complaint([](Config& c) { c.listen = ""; }),
              "listen: missing: with peers a node listens on an address of its own");
}

TEST(Config, HasAtMostSevenVotersAndForOthersAsManyPeersAsThereAreMembers) {
    const auto with_peers = [](NodeId count, auto change) {
        return complaint([=](Config& c) {
            for (NodeId id = 4; id <= count; ++id)
                c.peers.push_back({id, "host-" + std::to_string(id) + ":1"});
            change(c);
        });
    };
    const auto voter = [](Config&) {};
    const auto learner = [](Config& c) { c.role = Role::learner; };
    const auto client = [](Config& c) {
        c.role = Role::client;
        c.node_id = 0;
        c.data_dir.clear();
        c.listen.clear();
    };
    EXPECT_EQ(with_peers(7, voter), "");
    EXPECT_EQ(with_peers(8, voter), "peer: at most 7 voters, not 8");
    EXPECT_EQ(with_peers(64, learner), "");
    EXPECT_EQ(with_peers(65, learner), "peer: at most 64 members, not 65");
    EXPECT_EQ(with_peers(64, client), "");
    EXPECT_EQ(with_peers(65, client), "peer: at most 64 members, not 65");
}

TEST(Config, ForALearnerListsThePresentMembers) {
    const auto of_learner = [](Config& c) {
        c.role = Role::learner;
        c.node_id = 4;
    };
    EXPECT_EQ(complaint(of_learner), "");
    EXPECT_EQ(complaint([](Config& c) { c.role = Role::learner; }), "");
    EXPECT_EQ(complaint([](Config& c) {
                  c.role = Role::learner;
                  c.node_id = 0;
              }),
              "node_id: missing: a learner needs an id that no other member has");
    const std::string no_members =
        "role: a learner joins a cluster: list the present members as its peers";
    EXPECT_EQ(complaint([](Config& c) {
                  c.role = Role::learner;
                  c.peers.clear();
              }),
              no_members);
    EXPECT_EQ(complaint([](Config& c) {
                  c.role = Role::learner;
                  c.node_id = 1;
                  c.peers.resize(1);
              }),
              no_members);
    EXPECT_EQ(complaint([](Config& c) {
                  c.role = Role::learner;
                  c.listen.clear();
              }),
              "listen: missing: with peers a node listens on an address of its own");
}

// It would be missing as a member if a file of a member made it a client.
TEST(Config, ForAClientHasNothingOfAMember) {
    const auto client = [](auto change) {
        return [change](Config& c) {
            c.role = Role::client;
            c.node_id = 0;
            c.data_dir.clear();
            c.listen.clear();
            change(c);
        };
    };
    const std::string no_member = ": must be left out: a client is no member of the cluster";
    EXPECT_EQ(complaint(client([](Config&) {})), "");
    EXPECT_EQ(complaint(client([](Config& c) { c.node_id = 1; })), "node_id" + no_member);
    EXPECT_EQ(complaint(client([](Config& c) { c.data_dir = "/d"; })), "data_dir" + no_member);
    EXPECT_EQ(complaint(client([](Config& c) { c.listen = "127.0.0.1:1"; })), "listen" + no_member);
    EXPECT_EQ(complaint(client([](Config& c) { c.advertise = "h:1"; })), "advertise" + no_member);
    EXPECT_EQ(complaint(client([](Config& c) { c.peers.clear(); })),
              "role: a client uses a cluster: list its members as peers");
    EXPECT_EQ(complaint(client([](Config& c) { c.memory_only = true; })),
              "role: a node in memory is a cluster of its own");
}

TEST(Config, RefusesADirectoryThatIsMissingOrOfNoUse) {
    EXPECT_EQ(complaint([](Config& c) { c.data_dir.clear(); }),
              "data_dir: missing: a voter needs a directory of its own");
    EXPECT_EQ(complaint([](Config& c) { c.memory_only = true; }),
              "data_dir: a node in memory has no directory");
    EXPECT_EQ(complaint([](Config& c) {
                  c.memory_only = true;
                  c.data_dir.clear();
              }),
              "peer: a node in memory is a cluster of its own");
}

TEST(Config, RefusesNamesOfClustersThatAreNoNames) {
    EXPECT_EQ(complaint([](Config& c) { c.cluster = std::string(64, 'a'); }), "");
    EXPECT_EQ(complaint([](Config& c) { c.cluster = std::string(65, 'a'); }),
              "cluster: must have 1 to 64 characters, not 65");
    EXPECT_EQ(complaint([](Config& c) { c.cluster = ""; }),
              "cluster: must have 1 to 64 characters, not 0");
    EXPECT_EQ(complaint([](Config& c) { c.cluster = "a\nb"; }),
              R"(cluster: "a\x0ab" may have letters, digits, '.', '_' and '-' only)");
}

TEST(Config, RefusesTimesThatDoNotFitTogether) {
    EXPECT_EQ(complaint([](Config& c) { c.timing.session_ttl = 5s; }), "");
    EXPECT_EQ(complaint([](Config& c) { c.timing.session_ttl = 4999ms; }),
              "timing.session_ttl: a session_ttl of 4999ms is too short: at least 5 x "
              "election_timeout, 5s");
    EXPECT_EQ(complaint([](Config& c) { c.timing.heartbeat = 333ms; }), "");
    EXPECT_EQ(complaint([](Config& c) { c.timing.heartbeat = 334ms; }),
              "timing.heartbeat: a heartbeat of 334ms is too slow: at most a third of "
              "election_timeout, 1s");
}

TEST(Config, RefusesTimesOutOfTheirRange) {
    const auto range = [](const std::string& key, const std::string& value,
                          const std::string& least = "1ms") {
        return "timing." + key + ": must be from " + least + " to 24h, not " + value;
    };
    EXPECT_EQ(complaint([](Config& c) { c.timing.session_ttl = 25h; }),
              range("session_ttl", "25h", "200ms"));
    EXPECT_EQ(complaint([](Config& c) { c.timing.election_timeout = 0s; }),
              range("election_timeout", "0s", "20ms"));
    EXPECT_EQ(complaint([](Config& c) { c.timing.heartbeat = 999us; }),
              range("heartbeat", "999us"));
    EXPECT_EQ(complaint([](Config& c) { c.timing.call_timeout = Duration::max(); }),
              range("call_timeout", "unlimited"));
    EXPECT_EQ(complaint([](Config& c) { c.timing.call_timeout = -1s; }),
              range("call_timeout", "-1s"));
    EXPECT_EQ(complaint([](Config& c) { c.timing.close_timeout = 0s; }), "");
    EXPECT_EQ(complaint([](Config& c) { c.timing.close_timeout = -1ns; }),
              "timing.close_timeout: must be from 0s to 24h, not -1ns");
}

TEST(Config, RefusesTimesThatNobodyCouldKeep) {
    const auto with = [](Duration ttl, Duration election) {
        return complaint([=](Config& c) {
            c.timing.session_ttl = ttl;
            c.timing.election_timeout = election;
            c.timing.heartbeat = 5ms;
        });
    };
    EXPECT_EQ(with(200ms, 20ms), "");
    EXPECT_EQ(with(199ms, 20ms), "timing.session_ttl: must be from 200ms to 24h, not 199ms");
    EXPECT_EQ(with(200ms, 19ms), "timing.election_timeout: must be from 20ms to 24h, not 19ms");
}

TEST(Config, RefusesClockBoundsOutOfTheirRange) {
    const std::string wrong = "timing.clock_rate_bound: must be from 0.0001 to 0.1; 0.01 is 1 %";
    for (const double bound :
         {0.0, -0.01, 0.00009, 0.11, 1.0, std::nan(""), std::numeric_limits<double>::infinity()}) {
        EXPECT_EQ(complaint([&](Config& c) { c.timing.clock_rate_bound = bound; }), wrong) << bound;
    }
    for (const double bound : {0.0001, 0.01, 0.1}) {
        EXPECT_EQ(complaint([&](Config& c) { c.timing.clock_rate_bound = bound; }), "") << bound;
    }
}

TEST(Config, RefusesLimitsOutOfTheirRange) {
    EXPECT_EQ(complaint([](Config& c) { c.limits.calls = 0; }),
              "limits.calls: must be from 1 to 65536, not 0");
    EXPECT_EQ(complaint([](Config& c) { c.limits.calls = 65'537; }),
              "limits.calls: must be from 1 to 65536, not 65537");
    EXPECT_EQ(complaint([](Config& c) { c.limits.log_bytes = 1; }),
              "limits.log_bytes: must be from 1048576 to 1073741824, not 1");
    EXPECT_EQ(complaint([](Config& c) { c.limits.outbox_bytes = 1; }),
              "limits.outbox_bytes: must be from 1048576 to 1073741824, not 1");
    EXPECT_EQ(complaint([](Config& c) { c.limits.connections = 10'001; }),
              "limits.connections: must be from 1 to 10000, not 10001");
    EXPECT_EQ(complaint([](Config& c) { c.limits.clients = 0; }),
              "limits.clients: must be from 1 to 10000, not 0");
}

TEST(ConfigError, SaysWhereAsFarAsItIsKnown) {
    const auto what = [](ConfigError::Place place) {
        return std::string{ConfigError{Errc::invalid_argument, std::move(place), "no"}.what()};
    };
    EXPECT_EQ(what({.file = "a.toml", .line = 7, .key = "timing.heartbeat"}),
              "a.toml:7: timing.heartbeat: no");
    EXPECT_EQ(what({.file = "a.toml", .key = "data_dir"}), "a.toml: data_dir: no");
    EXPECT_EQ(what({.file = "a.toml", .line = 7}), "a.toml:7: no");
    EXPECT_EQ(what({.key = "MORTISE_NODE_ID"}), "MORTISE_NODE_ID: no");
    static_assert(std::is_nothrow_copy_constructible_v<ConfigError>);
}

}  // namespace
}  // namespace mortise
