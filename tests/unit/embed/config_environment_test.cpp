#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <utility>

#include <gmock/gmock.h>

#include "tests/unit/embed/config_sample.hpp"
#include <mortise/config.hpp>
#include <mortise/errc.hpp>
#include <mortise/testkit/temp_directory.hpp>

namespace mortise {
namespace {

using testing::ElementsAre;

using Variables = std::map<std::string, std::string>;

// Sets the variables while it exists, and restores the former values.
class Environment {
public:
    explicit Environment(const Variables& variables) {
        for (const auto& [name, value] : variables) {
            const char* before = std::getenv(name.c_str());
            before_.emplace_back(name, before != nullptr ? before : "");
            setenv(name.c_str(), value.c_str(), 1);
        }
    }
    Environment(const Environment&) = delete;
    Environment& operator=(const Environment&) = delete;
    ~Environment() {
        for (const auto& [name, value] : before_) {
            if (value.empty()) {
                unsetenv(name.c_str());
            } else {
                setenv(name.c_str(), value.c_str(), 1);
            }
        }
    }

private:
    std::vector<std::pair<std::string, std::string>> before_;
};

Config read(const Variables& variables) {
    const Environment environment{variables};
    return Config::from_environment();
}

std::string complaint(const Variables& variables) {
    try {
        (void)read(variables);
    } catch (const ConfigError& error) {
        EXPECT_EQ(error.code(), Errc::invalid_argument);
        EXPECT_EQ(error.place().file, "");
        return error.what();
    }
    return {};
}

TEST(ConfigEnvironment, HasATwinOfEveryKey) {
    const std::string peers = "1=127.0.0.1:7401,2=[::1]:7402,3=node-3.example:7403";
    test::expect_equal(read({{"MORTISE_CLUSTER", "orders"},
                             {"MORTISE_ROLE", "voter"},
                             {"MORTISE_NODE_ID", "2"},
                             {"MORTISE_DATA_DIR", "/var/lib/orders/mortise"},
                             {"MORTISE_LISTEN", "127.0.0.1:7402"},
                             {"MORTISE_ADVERTISE", "node-2.example:7402"},
                             {"MORTISE_DURABILITY", "replicated"},
                             {"MORTISE_SYNC_INTERVAL", "80ms"},
                             {"MORTISE_TLS_INSECURE", "true"},
                             {"MORTISE_PEER_LIST", peers},
                             {"MORTISE_TIMING_SESSION_TTL", "12s"},
                             {"MORTISE_TIMING_ELECTION_TIMEOUT", "2s"},
                             {"MORTISE_TIMING_HEARTBEAT", "200ms"},
                             {"MORTISE_TIMING_CALL_TIMEOUT", "1m"},
                             {"MORTISE_TIMING_CLOSE_TIMEOUT", "1.5s"},
                             {"MORTISE_TIMING_CLOCK_RATE_BOUND", "0.02"},
                             {"MORTISE_LOG_LEVEL", "debug"},
                             {"MORTISE_LOG_FORMAT", "json"},
                             {"MORTISE_LIMITS_CALLS", "1000"},
                             {"MORTISE_LIMITS_LOG_BYTES", "2097152"},
                             {"MORTISE_LIMITS_OUTBOX_BYTES", "1048576"},
                             {"MORTISE_LIMITS_CONNECTIONS", "5"},
                             {"MORTISE_LIMITS_CLIENTS", "6"},
                             {"MORTISE_LIMITS_POLLING", "false"},
                             {"MORTISE_OBSERVABILITY_SLOW_HOLD", "90s"},
                             {"MORTISE_OBSERVABILITY_LONG_WAIT", "3s"},
                             {"MORTISE_OBSERVABILITY_PREFIXES", "orders/,jobs/"}}),
                       test::sample_config());
}

TEST(ConfigEnvironment, NamesTheVariableThatIsWrong) {
    struct Row {
        Variables variables;
        std::string complaint;
    };
    const std::string no_peer = " is not a peer: write \"1=host:port,2=host:port\"";
    const std::string no_tls = ": missing: TLS takes tls.certificate, tls.key and tls.ca";
    for (const auto& [variables, expected] : std::array{
             Row{{}, "MORTISE_DATA_DIR: missing: a voter needs a directory of its own"},
             Row{{{"MORTISE_NODE_ID", "one"}},
                 "MORTISE_NODE_ID: must be a whole number, not \"one\""},
             Row{{{"MORTISE_NODE_ID", "-1"}},
                 "MORTISE_NODE_ID: must be a whole number, not \"-1\""},
             Row{{{"MORTISE_NODE_ID", "1 2"}},
                 "MORTISE_NODE_ID: must be a whole number, not \"1 2\""},
             Row{{{"MORTISE_NODE_ID", "99999999999999999999"}},
                 "MORTISE_NODE_ID: must be a whole number, not \"99999999999999999999\""},
             Row{{{"MORTISE_NODE_ID", "0"}}, "MORTISE_NODE_ID: must be 1 or more"},
             Row{{{"MORTISE_ROLE", "boss"}},
                 "MORTISE_ROLE: must be one of voter, learner, client, not \"boss\""},
             Row{{{"MORTISE_TIMING_SESSION_TTL", "10"}},
                 "MORTISE_TIMING_SESSION_TTL: \"10\" is not a duration: write \"10s\" or \"250ms\" "
                 "(ns, us, ms, s, m, h)"},
             Row{{{"MORTISE_DATA_DIR", "d"}, {"MORTISE_TIMING_SESSION_TTL", "2s"}},
                 "MORTISE_TIMING_SESSION_TTL: a session_ttl of 2s is too short: at least 5 x "
                 "election_timeout, 5s"},
             Row{{{"MORTISE_DATA_DIR", "d"}, {"MORTISE_TIMING_ELECTION_TIMEOUT", "3s"}},
                 "MORTISE_TIMING_ELECTION_TIMEOUT: a session_ttl of 10s is too short: at least 5 x "
                 "election_timeout, 15s"},
             Row{{{"MORTISE_TIMING_CLOCK_RATE_BOUND", "1%"}},
                 "MORTISE_TIMING_CLOCK_RATE_BOUND: must be a number, not \"1%\""},
             Row{{{"MORTISE_DATA_DIR", "d"}, {"MORTISE_TLS_CERTIFICATE", "c.pem"}},
                 "MORTISE_TLS_KEY" + no_tls},
             Row{{{"MORTISE_DATA_DIR", "d"}, {"MORTISE_TLS_KEY", "c.key"}},
                 "MORTISE_TLS_CERTIFICATE" + no_tls},
             Row{{{"MORTISE_TLS_INSECURE", "yes"}},
                 "MORTISE_TLS_INSECURE: must be true or false, not \"yes\""},
             Row{{{"MORTISE_PEER_LIST", "127.0.0.1:1"}},
                 "MORTISE_PEER_LIST: \"127.0.0.1:1\"" + no_peer},
             Row{{{"MORTISE_PEER_LIST", "1=a:1,,2=b:1"}}, "MORTISE_PEER_LIST: \"\"" + no_peer},
             Row{{{"MORTISE_PEER_LIST", "x=a:1"}}, "MORTISE_PEER_LIST: \"x=a:1\"" + no_peer},
             Row{{{"MORTISE_PEER_LIST", "=a:1"}}, "MORTISE_PEER_LIST: \"=a:1\"" + no_peer},
             Row{{{"MORTISE_PEER_LIST", "1=a:1,1=b:1"}},
                 "MORTISE_PEER_LIST: 1 is the id of two peers"},
             Row{{{"MORTISE_PEER_LIST", "1=a"}},
                 "MORTISE_PEER_LIST: \"a\" is not an address: write host:port, or [::1]:port for "
                 "IPv6"},
             Row{{{"MORTISE_PEER_LIST", "dns:a"}},
                 "MORTISE_PEER_LIST: \"dns:a\" does not say where peers are: write dns:NAME:PORT, "
                 "with a name that has the addresses of all nodes, and their port"},
             Row{{{"MORTISE_PEER_LIST", "dns:a:1"}},
                 "MORTISE_EXPECT: missing: say how many voters form the cluster, the nodes 1 to "
                 "expect"},
             Row{{{"MORTISE_PEERLIST", "1=a:1"}},
                 "MORTISE_PEERLIST: unknown variable; did you mean MORTISE_PEER_LIST?"},
             Row{{{"MORTISE_PEERS", "1=a:1"}},
                 "MORTISE_PEERS: unknown variable; did you mean MORTISE_PEER_LIST?"},
             Row{{{"MORTISE_DATADIR", "d"}},
                 "MORTISE_DATADIR: unknown variable; did you mean MORTISE_DATA_DIR?"},
             Row{{{"MORTISE_TLS_CERT", "a.pem"}},
                 "MORTISE_TLS_CERT: unknown variable; did you mean MORTISE_TLS_CERTIFICATE?"},
             Row{{{"MORTISE_SESSION_TTL", "9s"}},
                 "MORTISE_SESSION_TTL: unknown variable; did you mean MORTISE_TIMING_SESSION_TTL?"},
             Row{{{"MORTISE_NODE_ID", "3"}, {"MORTISE_PEER_LIST", "1=a:1,2=b:1"}},
                 "MORTISE_NODE_ID: 3 is not the id of a peer: the peers are 1, 2; correct node_id, "
                 "or "
                 "use role = \"learner\""},
         }) {
        EXPECT_EQ(complaint(variables), expected);
    }
}

TEST(ConfigEnvironment, LeavesTheVariablesOfOthersAlone) {
    const auto config = read({{"MORTISE_DATA_DIR", "d"},
                              {"MORTISE_FENCING_TOKEN", "7"},
                              {"MORTISE_OF_OURS", "x"},
                              {"MORTISE_HOME", "/opt"},
                              {"MORTISE_ROOT", "/opt"},
                              {"MORTISE_NODE", "a"},
                              {"MORTISE_MODE", "fast"},
                              {"MORTISE_TIMEOUT", "5"},
                              {"MORTISE_PEERLIST", " "},
                              {"MORTISED", "x"}});
    EXPECT_EQ(config.data_dir, "d");
}

TEST(ConfigEnvironment, TakesAnEmptyVariableForNone) {
    const auto config = read({{"MORTISE_DATA_DIR", "d"},
                              {"MORTISE_NODE_ID", ""},
                              {"MORTISE_PEER_LIST", ""},
                              {"MORTISE_LOG_LEVEL", ""}});
    EXPECT_EQ(config.own_id(), 1U);
    EXPECT_EQ(config.log.level, LogLevel::warn);
}

// For example a secret with a line end, or a file of variables from Windows.
TEST(ConfigEnvironment, TakesNoBlanksAroundAValue) {
    const auto config = read({{"MORTISE_DATA_DIR", "/var/lib/my data\r\n"},
                              {"MORTISE_NODE_ID", "1\n"},
                              {"MORTISE_ROLE", " voter\r"},
                              {"MORTISE_LISTEN", "\t127.0.0.1:7401 "},
                              {"MORTISE_TIMING_CALL_TIMEOUT", "4s\n"},
                              {"MORTISE_LOG_LEVEL", "\n"},
                              {"MORTISE_TLS_INSECURE", "true\r\n"}});
    EXPECT_EQ(config.data_dir, "/var/lib/my data");
    EXPECT_EQ(config.own_id(), 1U);
    EXPECT_EQ(config.listen, "127.0.0.1:7401");
    EXPECT_EQ(config.timing.call_timeout, std::chrono::seconds{4});
    EXPECT_EQ(config.log.level, LogLevel::warn);
    EXPECT_TRUE(config.tls.insecure);
}

TEST(ConfigEnvironment, TakesNoQuotesForPartOfAValue) {
    for (const auto* path : {"\"/var/lib/x\"", "'/var/lib/x'", "\"\"", "\"/var/lib/x\"\r\n"})
        EXPECT_NE(complaint({{"MORTISE_DATA_DIR", path}}).find("MORTISE_DATA_DIR: "),
                  std::string::npos)
            << path;
    EXPECT_EQ(complaint({{"MORTISE_DATA_DIR", "d"}, {"MORTISE_CLUSTER", "'a'"}}),
              "MORTISE_CLUSTER: the value has quotes around it: leave them out");
    EXPECT_EQ(complaint({{"MORTISE_DATA_DIR", "it's"}}), "");
}

// Others use such variables, too: service discovery, `mortise demo`.
TEST(ConfigEnvironment, LeavesOtherVariablesAlone) {
    EXPECT_EQ(complaint({{"MORTISE_DATA_DIR", "d"},
                         {"MORTISE_SERVICE_HOST", "10.0.0.1"},
                         {"MORTISE_LOCK", "a"},
                         {"MORTISE_LOCKS", "2"},
                         {"MORTISE_LOCK_2", "b"},
                         {"MORTISE_SLOTS", "0 1"},
                         {"MORTISE_FENCING_TOKEN_2", "8"},
                         {"MORTISE_FENCING_TOKEN", "7"}}),
              "");
}

TEST(ConfigEnvironment, AFileAloneIsReadWithoutTheEnvironment) {
    const Environment environment{{{"MORTISE_CLUSTER", "other"}}};
    EXPECT_EQ(Config::from_string("data_dir = 'd'\ncluster = 'mine'\n").cluster, "mine");
    EXPECT_EQ(Config::from_string("data_dir = 'd'\n").cluster, "mortise");
}

class ConfigOfBoth : public testing::Test {
protected:
    ConfigOfBoth() {
        std::ofstream{path()} << "cluster = 'mine'\ndata_dir = 'd'\n[log]\nlevel = 'info'\n";
    }
    void write(const std::string& text) const { std::ofstream{path()} << text; }
    [[nodiscard]] std::filesystem::path path() const { return directory_.path() / "a.toml"; }
    [[nodiscard]] Config read(const Variables& variables) const {
        const Environment environment{variables};
        return Config::from_file_and_environment(path());
    }
    [[nodiscard]] ConfigError::Place place_of_error(const Variables& variables) const {
        try {
            (void)read(variables);
        } catch (const ConfigError& error) {
            return error.place();
        }
        return {};
    }

private:
    testkit::TempDirectory directory_{"mortise-config-of-both"};
};

TEST_F(ConfigOfBoth, AVariableWinsOverItsKeyAlone) {
    const auto config = read({{"MORTISE_CLUSTER", "other"}, {"MORTISE_LOG_LEVEL", " "}});
    EXPECT_EQ(config.cluster, "other");
    EXPECT_EQ(config.data_dir, "d");
    EXPECT_EQ(config.log.level, LogLevel::info);
    EXPECT_EQ(read({}).cluster, "mine");
}

TEST_F(ConfigOfBoth, IsCheckedAsAWhole) {
    write("cluster = 'mine'\n");
    EXPECT_EQ(read({{"MORTISE_DATA_DIR", "e"}}).data_dir, "e");
    EXPECT_EQ(place_of_error({}).file, path());
    EXPECT_EQ(place_of_error({}).key, "data_dir");
}

TEST_F(ConfigOfBoth, AnErrorNamesTheVariableOrTheLine) {
    const auto variable = place_of_error({{"MORTISE_TIMING_HEARTBEAT", "10s"}});
    EXPECT_EQ(variable.file, "");
    EXPECT_EQ(variable.key, "MORTISE_TIMING_HEARTBEAT");
    EXPECT_EQ(place_of_error({{"MORTISE_PEERLIST", "1=a:1"}}).key, "MORTISE_PEERLIST");
    write("data_dir = 'd'\n[timing]\nheartbeat = '10s'\n");
    const auto line = place_of_error({{"MORTISE_CLUSTER", "other"}});
    EXPECT_EQ(line.file, path());
    EXPECT_EQ(line.line, 3U);
}

TEST_F(ConfigOfBoth, TheVariableOfThePeersReplacesAllPeers) {
    write(
        "data_dir = 'd'\nnode_id = 2\nlisten = 'b:2'\n"
        "peer = [{ id = 1, address = 'a:1' }, { id = 2, address = 'b:2' }]\n");
    EXPECT_THAT(read({{"MORTISE_PEER_LIST", "2=c:3"}}).peers, ElementsAre(PeerConfig{2, "c:3"}));
    EXPECT_EQ(place_of_error({{"MORTISE_PEER_LIST", "2=c:3,2=d:4"}}).key, "MORTISE_PEER_LIST");
    const Environment environment{{{"MORTISE_PEER_LIST", "2=c:3"}, {"MORTISE_TLS_CA", "x"}}};
    EXPECT_THROW((void)Config::client_from_file_and_environment(path()), ConfigError);
}

TEST_F(ConfigOfBoth, AClientAsksThePeersOfItsFile) {
    const Environment environment{{{"MORTISE_PEER_LIST", "2=c:3"}, {"MORTISE_CLUSTER", "other"}}};
    auto config = Config::client_from_file_and_environment(path());
    EXPECT_EQ(config.cluster, "other");
    EXPECT_THAT(config.peers, ElementsAre(PeerConfig{2, "c:3"}));
    write("peer = [{ id = 1, address = 'a:1' }]\n");
    config = Config::client_from_file_and_environment(path());
    EXPECT_THAT(config.peers, ElementsAre(PeerConfig{1, "a:1"}));
    EXPECT_EQ(config.peers_from, "");
}

TEST(PeerList, AllowsBlanksAndATrailingComma) {
    EXPECT_THAT(parse_peer_list(" 1 = a:1 ,\n2=b:2, "),
                ElementsAre(PeerConfig{1, "a:1"}, PeerConfig{2, "b:2"}));
    EXPECT_THAT(parse_peer_list(""), ElementsAre());
}

}  // namespace
}  // namespace mortise
