#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>

#include "tests/unit/embed/config_sample.hpp"
#include <mortise/config.hpp>
#include <mortise/errc.hpp>

namespace mortise {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::StartsWith;

// Complete, except for the place where a test adds its lines.
constexpr std::string_view whole = R"(cluster  = "orders"
role     = "voter"
node_id  = 2
data_dir = "/var/lib/orders/mortise"
listen   = "127.0.0.1:7402"
advertise = "node-2.example:7402"
durability = "replicated"
sync_interval = "80ms"

[[peer]]
id = 1
address = "127.0.0.1:7401"

[[peer]]
id = 2
address = "[::1]:7402"

[[peer]]
id = 3
address = "node-3.example:7403"

[timing]
session_ttl      = "12s"
election_timeout = "2s"
heartbeat        = "200ms"
call_timeout     = "1m"
close_timeout    = "1.5s"
clock_rate_bound = 0.02

[tls]
insecure = true

[log]
level = "debug"
format = "json"

[limits]
calls        = 1000
log_bytes    = 2097152
outbox_bytes = 1048576
connections  = 5
clients      = 6
polling      = false

[observability]
slow_hold = "90s"
long_wait = "3s"
prefixes  = ["orders/", "jobs/"]
)";

std::string complaint(std::string_view toml) {
    try {
        (void)Config::from_string(toml, "mortise.toml");
    } catch (const ConfigError& error) {
        EXPECT_EQ(error.code(), Errc::invalid_argument);
        EXPECT_EQ(error.place().file, "mortise.toml");
        return error.what();
    }
    return {};
}

TEST(ConfigToml, ReadsEveryKey) {
    test::expect_equal(Config::from_string(whole), test::sample_config());
}

TEST(ConfigToml, ComplainsInOneLineOfWhatIsNoToml) {
    for (const auto* text :
         {"a = i\n1 = 2\n", "a = \"\x01\"", "a = \n", "[a\nb]", "a = 0x\x1b[2J"}) {
        const auto line = complaint(text);
        EXPECT_NE(line, "") << text;
        const auto is_control = [](char c) { return c >= 0 && c < ' '; };
        EXPECT_TRUE(std::ranges::none_of(line, is_control)) << line;
    }
}

TEST(ConfigToml, LeavesTheDefaultsForWhatIsNotThere) {
    const auto config = Config::from_string(R"(data_dir = "d")");
    EXPECT_EQ(config.own_id(), 1U);
    EXPECT_EQ(config.timing.session_ttl, 10s);
    EXPECT_EQ(config.listen, "");
    EXPECT_TRUE(config.peers.empty());
    EXPECT_EQ(config.log.level, LogLevel::warn);
}

TEST(ConfigToml, NamesLineAndKeyOfWhatIsWrong) {
    struct Row {
        std::string_view toml;
        std::string_view complaint;
    };
    for (const auto& [toml, expected] : std::array{
             Row{"data_dir = 'd'\nnode-id = 1\n",
                 "mortise.toml:2: node-id: unknown key; did you mean node_id?"},
             Row{"data_dri = 'd'\n",
                 "mortise.toml:1: data_dri: unknown key; did you mean data_dir?"},
             Row{"data_dir = 'd'\n[timing]\nheartbeet = '1s'\n",
                 "mortise.toml:3: timing.heartbeet: unknown key; did you mean timing.heartbeat?"},
             Row{"[[peers]]\nid = 1\n",
                 "mortise.toml:1: peers: write [[peer]] for each peer, or peers = "
                 "\"dns:NAME:PORT\" to find them"},
             Row{"[timming]\nheartbeat = '1s'\n",
                 "mortise.toml:1: timming: unknown key; did you mean timing?"},
             Row{"data_dir = 'd'\n[timing]\nbeat = '1s'\n",
                 "mortise.toml:3: timing.beat: unknown key; known here: call_timeout, "
                 "clock_rate_bound, close_timeout, election_timeout, heartbeat, session_ttl"},
             Row{"[secrets]\na = 1\n",
                 "mortise.toml:1: secrets: unknown key; known here: advertise, cluster, "
                 "data_dir, durability, expect, limits, listen, log, node_id, observability, peer, "
                 "peers, role, sync_interval, timing, tls"},
             Row{"session_ttl = '9s'\n",
                 "mortise.toml:1: session_ttl: unknown key; did you mean timing.session_ttl?"},
             Row{"[log]\ncalls = 1\nlevel = 'off'\n",
                 "mortise.toml:2: log.calls: unknown key; did you mean limits.calls?"},
             Row{"[timing]\nnode_id = 1\n",
                 "mortise.toml:2: timing.node_id: unknown key; did you mean node_id?"},
             Row{"timing = 3\n", "mortise.toml:1: timing: must be a table, not a whole number"},
             Row{"node_id = '1'\n",
                 "mortise.toml:1: node_id: must be a whole number, not a string"},
             Row{"node_id = 1.0\n",
                 "mortise.toml:1: node_id: must be a whole number, not a number"},
             Row{"node_id = -1\n", "mortise.toml:1: node_id: must not be negative"},
             Row{"data_dir = 'd'\nnode_id = 0\n", "mortise.toml:2: node_id: must be 1 or more"},
             Row{"cluster = 1\n", "mortise.toml:1: cluster: must be a string, not a whole number"},
             Row{"cluster = true\n",
                 "mortise.toml:1: cluster: must be a string, not true or false"},
             Row{"cluster = ['a']\n", "mortise.toml:1: cluster: must be a string, not an array"},
             Row{"cluster = 2026-11-21\n",
                 "mortise.toml:1: cluster: must be a string, not a date or a time"},
             Row{"[cluster]\n", "mortise.toml:1: cluster: must be a string, not a table"},
             Row{"role = 'boss'\n",
                 "mortise.toml:1: role: must be one of voter, learner, client, not \"boss\""},
             Row{"[log]\nlevel = 'loud'\n",
                 "mortise.toml:2: log.level: must be one of debug, info, warn, error, off, not "
                 "\"loud\""},
             Row{"[timing]\n\nsession_ttl = 10\n",
                 "mortise.toml:3: timing.session_ttl: must be a duration in quotes, \"10s\", not a "
                 "whole number"},
             Row{"[timing]\nsession_ttl = '10 seconds'\n",
                 "mortise.toml:2: timing.session_ttl: \"10 seconds\" is not a duration: write "
                 "\"10s\" or \"250ms\" (ns, us, ms, s, m, h)"},
             Row{"[timing]\nsession_ttl = '99999999h'\n",
                 "mortise.toml:2: timing.session_ttl: \"99999999h\" is too long: a duration has "
                 "at most 2562047h"},
             Row{"[timing]\nclock_rate_bound = '1 %'\n",
                 "mortise.toml:2: timing.clock_rate_bound: must be a number, not a string"},
             Row{"data_dir = 'd'\n[timing]\nclock_rate_bound = 1\n",
                 "mortise.toml:3: timing.clock_rate_bound: must be from 0.0001 to 0.1; 0.01 is "
                 "1 %"},
             Row{"data_dir = 'd'\n[limits]\ncalls = 0\n",
                 "mortise.toml:3: limits.calls: must be from 1 to 65536, not 0"},
             Row{"data_dir = 'd'\n[tls]\nca = 'ca.pem'\n",
                 "mortise.toml: tls.certificate: missing: TLS takes tls.certificate, tls.key and "
                 "tls.ca"},
             Row{"[tls]\ninsecure = 'true'\n",
                 "mortise.toml:2: tls.insecure: must be true or false, not a string"},
             Row{"data_dir = 'd'\nlisten = '0.0.0.0:1'\n",
                 "mortise.toml:2: listen: \"0.0.0.0:1\" is not a loopback address: set "
                 "tls.certificate, tls.key and tls.ca (`mortise cert` makes the files), or "
                 "tls.insecure = true if everybody who reaches it may do everything"},
             Row{"data_dir = 'd'\nlisten = '7401'\n",
                 "mortise.toml:2: listen: \"7401\" is not an address: write host:port, or "
                 "[::1]:port for IPv6"},
             Row{"data_dir = 'd'\nlisten = 'localhost:99999'\n",
                 "mortise.toml:2: listen: \"localhost:99999\" is not an address: a port is at most "
                 "65535"},
             Row{"cluster = 'a'\n",
                 "mortise.toml: data_dir: missing: a voter needs a directory of its own"},
         }) {
        EXPECT_EQ(complaint(toml), expected) << toml;
    }
}

TEST(ConfigToml, ReadsANameInPlaceOfPeers) {
    const auto config = Config::from_string(
        "node_id = 4\ndata_dir = 'd'\nlisten = '10.0.0.4:7401'\npeers = 'dns:mortise:7401'\n"
        "expect = 3\ntls.insecure = true\n");
    EXPECT_EQ(config.peers_from, "dns:mortise:7401");
    EXPECT_EQ(config.expect, 3U);
    EXPECT_TRUE(config.peers.empty());
    const auto client = Config::from_string("role = 'client'\npeers = 'dns:mortise:7401'\n");
    EXPECT_EQ(client.peers_from, "dns:mortise:7401");
}

TEST(ConfigToml, NamesLineAndKeyOfANameThatIsWrong) {
    struct Row {
        std::string_view toml;  // from line 3 on
        std::string_view complaint;
    };
    const std::string_view name = "peers = 'dns:m:7401'\n";
    for (const auto& [toml, expected] : std::array{
             Row{"peers = ''\n",
                 "mortise.toml:3: peers: write [[peer]] for each peer, or peers = "
                 "\"dns:NAME:PORT\" to find them"},
             Row{"peers = 7401\n",
                 "mortise.toml:3: peers: write [[peer]] for each peer, or peers = "
                 "\"dns:NAME:PORT\" to find them"},
             Row{"peers = 'srv:m'\n",
                 "mortise.toml:3: peers: \"srv:m\" does not say where peers are: write "
                 "dns:NAME:PORT, with a name that has the addresses of all nodes, and their port"},
             Row{"peers = 'dns:10.0.0.1:7401'\n",
                 "mortise.toml:3: peers: \"dns:10.0.0.1:7401\" does not say where peers are: write "
                 "dns:NAME:PORT, with a name that has the addresses of all nodes, and their port"},
             Row{"expect = 3\n",
                 "mortise.toml:3: expect: is for peers that are found: set peers = "
                 "\"dns:NAME:PORT\""},
             Row{"peers = 'dns:m:7401'\n[[peer]]\nid = 1\naddress = 'a:1'\n",
                 "mortise.toml:3: peers: list each [[peer]], or find them with peers; not both"},
             Row{name,
                 "mortise.toml: expect: missing: say how many voters form the cluster, the nodes 1 "
                 "to expect"},
             Row{"peers = 'dns:m:7401'\nexpect = 1\n",
                 "mortise.toml:4: expect: must be from 2 to 7, not 1"},
             Row{"peers = 'dns:m:7401'\nexpect = 8\n",
                 "mortise.toml:4: expect: must be from 2 to 7, not 8"},
             Row{"peers = 'dns:m:7401'\nexpect = 3\n",
                 "mortise.toml: listen: missing: with peers a node listens on an address of its "
                 "own"},
             Row{"peers = 'dns:m:7401'\nexpect = 3\nlisten = '0.0.0.0:7401'\n",
                 "mortise.toml: advertise: missing: others cannot connect to \"0.0.0.0:7401\": "
                 "give the name or the address of this machine"},
             Row{"peers = 'dns:m:7401'\nexpect = 3\nlisten = '127.0.0.1:7401'\n", ""},
         }) {
        EXPECT_EQ(complaint("node_id = 1\ndata_dir = 'd'\n" + std::string{toml}), expected) << toml;
    }
}

TEST(ConfigToml, NamesLineAndKeyOfAPeerThatIsWrong) {
    struct Row {
        std::string_view peers;  // from line 4 on
        std::string_view complaint;
    };
    for (const auto& [peers, expected] : std::array{
             Row{"peer = 3\n",
                 "mortise.toml:4: peer: write [[peer]], with id and address, for each peer"},
             Row{"[peer]\nid = 1\n",
                 "mortise.toml:4: peer: write [[peer]], with id and address, for each peer"},
             Row{"peer = [1]\n",
                 "mortise.toml:4: peer: write [[peer]], with id and address, for each peer"},
             Row{"[[peer]]\nid = 1\n", "mortise.toml:4: peer.address: missing"},
             Row{"[[peer]]\naddress = 'a:1'\n", "mortise.toml:4: peer.id: missing"},
             Row{"[[peer]]\nid = 1\naddress = 'a:1'\nport = 1\n",
                 "mortise.toml:7: peer.port: unknown key; a peer has id, address"},
             Row{"[[peer]]\nid = 1\naddres = 'a:1'\n",
                 "mortise.toml:6: peer.addres: unknown key; a peer has id, address"},
             Row{"[[peer]]\nid = 'one'\naddress = 'a:1'\n",
                 "mortise.toml:5: peer.id: must be a whole number, not a string"},
             Row{"[[peer]]\nid = 1\naddress = 7401\n",
                 "mortise.toml:6: peer.address: must be a string, not a whole number"},
             Row{"[[peer]]\nid = 1\naddress = 'a:1'\n[[peer]]\nid = 1\naddress = 'b:1'\n",
                 "mortise.toml:8: peer.id: 1 is the id of two peers"},
             Row{"[[peer]]\nid = 1\naddress = 'a:1'\n[[peer]]\nid = 2\naddress = 'a:1'\n",
                 "mortise.toml:9: peer.address: \"a:1\" is the address of two peers"},
             Row{"[[peer]]\nid = 1\naddress = 'a'\n",
                 "mortise.toml:6: peer.address: \"a\" is not an address: write host:port, or "
                 "[::1]:port for IPv6"},
             Row{"[[peer]]\nid = 2\naddress = 'a:1'\n",
                 "mortise.toml:1: node_id: 1 is not the id of a peer: the peers are 2; correct "
                 "node_id, or use role = \"learner\""},
         }) {
        const std::string toml = "node_id = 1\ndata_dir = 'd'\nlisten = 'localhost:1'\n";
        EXPECT_EQ(complaint(toml + std::string{peers}), expected) << peers;
    }
    EXPECT_EQ(complaint("data_dir = 'd'\nlisten = 'localhost:1'\n[[peer]]\nid=1\naddress='a:1'\n"),
              "mortise.toml: node_id: missing: say which of the peers this node is");
    EXPECT_EQ(complaint("data_dir = 'd'\nnode_id = 1\n[[peer]]\nid=1\naddress='a:1'\n"),
              "mortise.toml: listen: missing: with peers a node listens on an address of its own");
    EXPECT_EQ(complaint("data_dir = 'd'\npeer = []\n"), "");
}

// If two times contradict each other, the error has the line of the one in the file.
TEST(ConfigToml, PointsToTheTimeThatWasWritten) {
    EXPECT_EQ(complaint("data_dir = 'd'\n[timing]\nelection_timeout = '3s'\n"),
              "mortise.toml:3: timing.election_timeout: a session_ttl of 10s is too short: at "
              "least 5 x election_timeout, 15s");
    EXPECT_EQ(complaint("data_dir = 'd'\n[timing]\nelection_timeout = '3s'\nsession_ttl = '9s'\n"),
              "mortise.toml:4: timing.session_ttl: a session_ttl of 9s is too short: at least 5 x "
              "election_timeout, 15s");
    EXPECT_EQ(complaint("data_dir = 'd'\n[timing]\nelection_timeout = '200ms'\n"),
              "mortise.toml:3: timing.election_timeout: a heartbeat of 100ms is too slow: at most "
              "a third of election_timeout, 200ms");
}

TEST(ConfigToml, ComplainsOfTheFirstLineThatIsWrong) {
    EXPECT_THAT(complaint("zebra = 1\napple = 1\nnode_id = 'x'\n"),
                StartsWith("mortise.toml:1: zebra: "));
    EXPECT_THAT(complaint("node_id = 'x'\n[[peer]]\nid = 'x'\n[zebra]\n"),
                StartsWith("mortise.toml:1: node_id: "));
    EXPECT_THAT(complaint("[[peer]]\nid = 'x'\naddress = 'a:1'\n[log]\nlevel = 1\n"),
                StartsWith("mortise.toml:2: peer.id: "));
}

TEST(ConfigToml, NamesTheLineOfWhatIsNoToml) {
    EXPECT_THAT(complaint("cluster = 'a'\nnode_id = \n"), StartsWith("mortise.toml:2: "));
    EXPECT_THAT(complaint("cluster = 'a'\ncluster = 'b'\n"), StartsWith("mortise.toml:2: "));
    EXPECT_THAT(complaint("cluster = 'a\n"), StartsWith("mortise.toml:1: "));
    EXPECT_THAT(complaint("cluster = '\xff'\n"), StartsWith("mortise.toml:1: "));
}

TEST(ConfigToml, SaysHowTextAndTablesAreWritten) {
    EXPECT_THAT(complaint("data_dir = data-1\n"),
                HasSubstr("could not determine value type; text stands in quotes: \"data-1\""));
    EXPECT_THAT(complaint("[tls\n"), HasSubstr("; the name of a table is written as [tls]"));
    EXPECT_THAT(complaint("[tls"), HasSubstr("; the name of a table is written as [tls]"));
    for (const char* twice : {"[timing]\n[log]\n[timing]\n", "timing.heartbeat = '1s'\n[timing]\n",
                              "cluster = 'a'\ncluster = 'b'\n"})
        EXPECT_THAT(complaint(twice), HasSubstr("; write it once, with all that belongs to it"));
}

std::string dotted(std::size_t parts, const std::string& part = "a") {
    std::string key = part;
    for (std::size_t i = 1; i < parts; ++i)
        key += "." + part;
    return key;
}

// The parser recurses for each part, and would overflow the stack.
TEST(ConfigToml, RefusesKeysOfVeryManyParts) {
    const auto deep = dotted(200'000);
    const std::string problem = "a key has more than 16 dots";
    for (const auto& line :
         {deep + " = 1", "[" + deep + "]", "[[" + deep + "]]", "x = {" + deep + " = 1}",
          "x = {y = 1, " + deep + " = 1}", dotted(200'000, "'a'") + " = 1",
          dotted(200'000, " \"a\" ") + " = 1", "x = {y = '.', z = \"\\\"\", " + deep + " = 1}",
          R"(x = {y = """a"""", )" + deep + " = 1}", "timing." + deep + " = 1"}) {
        SCOPED_TRACE(line.substr(0, 40));
        EXPECT_EQ(complaint("cluster = 'a'\n" + line + "\n"), "mortise.toml:2: " + problem);
    }
    EXPECT_EQ(complaint("x = \"\"\"\n\n\"\"\"\n" + dotted(18) + " = 1\n"),
              "mortise.toml:4: " + problem);
    EXPECT_THAT(complaint(dotted(17) + " = 1\n"), StartsWith("mortise.toml:1: a: unknown key"));
}

TEST(ConfigToml, CountsOnlyTheDotsOfKeys) {
    const std::string dots(100, '.');
    const auto config = Config::from_string("data_dir = '" + dots + "'  # " + dots + "\n# " + dots +
                                            "\ncluster = \"a\"\n");
    EXPECT_EQ(config.data_dir, dots);
    const auto long_text = "data_dir = \"\"\"\n'" + dots + "\\\"" + dots + "\"\"\"\n";
    EXPECT_EQ(Config::from_string(long_text).data_dir, "'" + dots + "\"" + dots);
    EXPECT_THAT(complaint("'" + dots + "' = 1\n"), HasSubstr("unknown key"));
}

TEST(ConfigToml, EscapesWhatItRepeats) {
    EXPECT_THAT(complaint("\"a\\u001b[2J\" = 1\n"),
                StartsWith(R"(mortise.toml:1: a\x1b[2J: unknown key)"));
    EXPECT_THAT(complaint("role = \"a\\nb\"\n"), HasSubstr(R"(not "a\x0ab")"));
    EXPECT_THAT(complaint("data_dir = \"a\\u0000b\"\n"),
                testing::Eq(R"(mortise.toml:1: data_dir: "a\x00b" is not a path)"));
    const std::string long_role(100'000, 'x');
    EXPECT_LT(complaint("role = '" + long_role + "'\n").size(), 300U);
}

// A key with a dot in it differs from a key in a table.
TEST(ConfigToml, IsNotFooledByAQuotedDot) {
    EXPECT_THAT(complaint("data_dir = 'd'\n\"timing.heartbeat\" = '1s'\n"),
                StartsWith("mortise.toml:2: \"timing.heartbeat\": unknown key"));
    EXPECT_EQ(complaint("data_dir = 'd'\ntiming.heartbeat = '50ms'\n"), "");
}

class ConfigFile : public testing::Test {
protected:
    ConfigFile() {
        std::string name = (std::filesystem::temp_directory_path() / "mortise-XXXXXX").string();
        EXPECT_NE(mkdtemp(name.data()), nullptr);
        directory = name;
    }
    ~ConfigFile() override { std::filesystem::remove_all(directory); }

    std::filesystem::path write(std::string_view name, std::string_view text) const {
        auto path = directory / name;
        std::ofstream{path, std::ios::binary} << text;
        return path;
    }

    static ConfigError refused(const std::filesystem::path& path) {
        try {
            (void)Config::from_file(path);
        } catch (const ConfigError& error) {
            return error;
        }
        ADD_FAILURE() << path << " was taken";
        return {Errc::invalid_argument, {}, ""};
    }

    std::filesystem::path directory;
};

TEST_F(ConfigFile, IsReadFromDisk) {
    EXPECT_EQ(Config::from_file(write("mortise.toml", whole)).cluster, "orders");
}

// The command line is no member: what a node needs for itself may be missing, or be wrong.
TEST_F(ConfigFile, IsReadForAClient) {
    const std::string peers =
        "[[peer]]\nid = 1\naddress = 'a:1'\n[[peer]]\nid = 2\naddress = 'b:1'\n";
    const auto alone = Config::client_from_file(write("peers.toml", peers));
    EXPECT_EQ(alone.peers, (std::vector<PeerConfig>{{1, "a:1"}, {2, "b:1"}}));
    EXPECT_EQ(alone.role, Role::client);
    EXPECT_NO_THROW(alone.validate());
    const auto of_node = Config::client_from_file(
        write("node.toml", "cluster = 'orders'\nnode_id = 7\nlisten = '10.0.0.1:1'\n" + peers +
                               "[timing]\nsession_ttl = '20s'\n"));
    EXPECT_EQ(of_node.cluster, "orders");
    EXPECT_EQ(of_node.timing.session_ttl, Duration{std::chrono::seconds{20}});
    EXPECT_EQ(of_node.node_id, 0U);
    EXPECT_TRUE(of_node.listen.empty());
    EXPECT_NO_THROW(of_node.validate());
    EXPECT_TRUE(Config::client_from_file(write("none.toml", "node_id = 1\n")).peers.empty());
    for (const std::string wrong : {"[[peer]]\nid = 1\naddress = 'a'\n", "colour = 1\n",
                                    "[timing]\nsession_ttl = '1ms'\n", "cluster = ''\n"})
        EXPECT_THROW((void)Config::client_from_file(write("wrong.toml", wrong)), ConfigError)
            << wrong;
}

TEST_F(ConfigFile, IsNamedInEveryError) {
    const auto path = write("odd.toml", "data_dir = 'd'\nsize = 1\n");
    EXPECT_THAT(refused(path).what(), StartsWith(path.string() + ":2: size: unknown key"));
}

TEST_F(ConfigFile, ThatIsNotThereIsAnErrorOfTheSystem) {
    const auto path = directory / "none.toml";
    const auto error = refused(path);
    EXPECT_EQ(error.code(), std::errc::no_such_file_or_directory);
    EXPECT_EQ(std::string{error.what()},
              path.string() +
                  ": cannot be read: No such file or directory; name a file that this user may "
                  "read");
}

TEST_F(ConfigFile, ThatIsADirectoryIsRefused) {
    const auto error = refused(directory);
    EXPECT_EQ(error.code(), std::errc::is_a_directory);
    EXPECT_EQ(std::string{error.what()}, directory.string() + ": is a directory");
}

TEST_F(ConfigFile, ThatIsFarTooLargeIsRefused) {
    const std::string comment = "# " + std::string((1U << 20U), 'x') + "\n";
    const auto path = write("large.toml", comment);
    EXPECT_EQ(std::string{refused(path).what()}, path.string() + ": is larger than 1 MiB");
}

}  // namespace
}  // namespace mortise
