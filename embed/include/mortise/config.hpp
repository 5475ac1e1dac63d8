// The configuration of a node. Fill in the struct, or read it with one of its static functions.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <mortise/duration.hpp>
#include <mortise/enums.hpp>
#include <mortise/node_id.hpp>

namespace mortise {

struct PeerConfig {
    NodeId id = 0;
    std::string address{};  // "host:port", "[::1]:port"

    friend bool operator==(const PeerConfig&, const PeerConfig&) = default;
};

// Must be equal on all members of a cluster.
struct TimingConfig {
    // How long the locks of a dead process stay taken, roughly. At least 200 ms, and at least 5
    // election timeouts.
    Duration session_ttl = std::chrono::seconds{10};
    // A silent leader is replaced within two of these; after 5 to 10 heartbeats already, if it was
    // punctual until then. At least 20 ms.
    Duration election_timeout = std::chrono::seconds{1};
    // At most a third of election_timeout.
    Duration heartbeat = std::chrono::milliseconds{100};
    // The time limit of every call that has no deadline of its own.
    Duration call_timeout = std::chrono::seconds{10};
    // How long the destructor of a node waits: this, and at most a second more.
    Duration close_timeout = std::chrono::seconds{2};
    // The fraction by which the members' clocks may run too fast or too slow; 0.01 is 1 %.
    double clock_rate_bound = 0.01;

    friend bool operator==(const TimingConfig&, const TimingConfig&) = default;
};

// Mutual TLS 1.3 between all nodes and clients of a cluster; see docs/tls.md. A node reads the
// files when it is opened and whenever one of them changes (see Node::reload_tls()).
struct TlsConfig {
    // Paths of PEM files: all three, or none. The key is refused if others than its owner can read
    // it; if it belongs to root, its group may read it too.
    std::filesystem::path certificate{};  // must name this cluster and this node
    std::filesystem::path key{};          // not encrypted; readable by its owner only
    std::filesystem::path ca{};           // the trusted authorities
    // Allows the node to listen without TLS on addresses that other machines reach. Everybody who
    // reaches it can then do everything and read everything on the wire.
    bool insecure = false;
    // Certificates that are not trusted any more: a text file with a serial number on each line, in
    // hexadecimal digits, and comments that begin with #. Empty: there are none.
    std::filesystem::path revoked{};

    // True if the files are configured.
    [[nodiscard]] bool is_set() const noexcept {
        return !certificate.empty() || !key.empty() || !ca.empty();
    }
    friend bool operator==(const TlsConfig&, const TlsConfig&) = default;
};

// One key and its value, beside the text of a line.
struct LogField {
    std::string_view key{};
    std::string_view value{};  // any bytes; numbers are decimal

    friend bool operator==(const LogField&, const LogField&) = default;
};

// A line of the log with its parts. It is valid during the call of the sink.
struct LogRecord {
    LogLevel level = LogLevel::warn;
    NodeId node = 0;
    // What the line says, for programs: "leader_changed". docs/monitoring.md lists the keys; they
    // stay the same in later versions, while texts may change.
    std::string_view key{};
    std::string_view text{};  // one line for a person, escaped
    std::span<const LogField> fields{};
    // Lines with this key that were dropped since the last one, because they came too often.
    std::uint64_t left_out = 0;
};

struct LogConfig {
    LogLevel level = LogLevel::warn;
    // Receives each line, without time, level and newline. It is called on threads of the node,
    // perhaps on several at once; it must not block or call the node. Exceptions are dropped.
    // Empty: lines go to stderr, and a line is dropped if writing it would block.
    std::function<void(LogLevel level, std::string_view line)> sink{};
    // Receives each line with its parts, under the same conditions. If it is set, lines do not go
    // to stderr; `sink` receives them as well, if it is set.
    std::function<void(const LogRecord& record)> record_sink{};
    // Of the lines on stderr. As JSON a line is an object with time, level, node, key, message and
    // fields, and with left_out if lines were left out; a sink is given the same either way.
    LogFormat format = LogFormat::text;
};

// When a node warns of what takes long: one event and one line of the log, with the name, the
// label, the token and who stands in the way; again each time that the age has doubled. Zero:
// never.
struct ObservabilityConfig {
    // A hold of this program is held for so long. A cached grant counts from when another request
    // waits for it.
    Duration slow_hold{};
    // An acquire of this program waits for so long. Not said of the candidates of an election, and
    // not on a client node.
    Duration long_wait{std::chrono::minutes{1}};
    // The names that begin with each of these are counted separately in the metrics
    // (PrefixActivity). At most 32.
    std::vector<std::string> prefixes{};

    friend bool operator==(const ObservabilityConfig&, const ObservabilityConfig&) = default;
};

// Limits on what a node may use.
struct LimitsConfig {
    // Acquiring calls of this program that are in progress; the next one fails with
    // Errc::resource_exhausted.
    std::uint64_t calls = 65'536;
    // The log that is kept for slow members, in memory and again on disk.
    std::uint64_t log_bytes = std::uint64_t{256} << 20U;
    // Bytes that wait to be sent to one peer; counted separately for the log and for requests to
    // the leader. Messages beyond it are dropped, and repeated later.
    std::uint64_t outbox_bytes = std::uint64_t{16} << 20U;
    // Inbound connections that are not authenticated yet. The next one closes an older one.
    std::uint64_t connections = 64;
    // Connections of clients, such as the command line. The next one closes the quietest that is no
    // client node at work; client nodes have seven eighths of them.
    std::uint64_t clients = 256;
    // While work comes fast, the two threads of a node that serve calls and the log look for more
    // for up to 0.1 ms before they sleep: calls take less time, and the processor is busier. An
    // idle node sleeps either way, as does one beside programs that want the processor.
    bool polling = true;

    friend bool operator==(const LimitsConfig&, const LimitsConfig&) = default;
};

struct Config {
    std::string cluster = "mortise";  // the name of the cluster: letters, digits, '.', '_' and '-'
    // The role of a node whose directory is empty: a voter bootstraps a cluster together with its
    // peers, a learner waits until it is added to theirs. Later the role is read from the
    // directory. A client is no member and has no directory: it needs `peers`, `timing`, and `tls`
    // if the cluster has it, and must have none of node_id, data_dir, listen and advertise.
    Role role = Role::voter;
    // This node's id among the peers; optional if there are none. With `peers_from` it may come
    // from the host name: that of "mortise-2" is 3.
    NodeId node_id = 0;
    std::filesystem::path data_dir{};  // for this node alone; created with its parents if missing
    // "host:port"; port 0 means any free port. Empty: the node does not listen. A host name is
    // resolved, and the node listens on each of its addresses. Without TLS they must be loopback
    // addresses; see TlsConfig::insecure.
    std::string listen{};
    // "host:port" where other members reach this node, if that differs from its entry in `peers`
    // or, without peers, from `listen`: for port mappings and containers. Empty: it does not
    // differ.
    std::string advertise{};
    // The cluster does what all of its members say; while they differ, what it did before.
    // Durability::replicated is as safe unless a majority of the machines loses power or crashes at
    // once; then what was acknowledged in the last moments may be forgotten, but no lock is granted
    // twice (docs/configuration.md).
    Durability durability = Durability::synced;
    // With Durability::replicated, how soon the disk has what was acknowledged. Ten of these bound
    // what can be forgotten.
    Duration sync_interval = std::chrono::milliseconds{50};
    // The voters, this one included; empty: a cluster of one node. For a learner: the present
    // members. For a client: the members that it may use.
    std::vector<PeerConfig> peers{};
    // "dns:NAME:PORT", in place of `peers`: the nodes at that port of the addresses that the name
    // has, now and later. In a file it is the key `peers`. The name says where nodes are, and each
    // node says itself who it is.
    std::string peers_from{};
    // With `peers_from`, of a voter: the nodes 1 to `expect` form the cluster, 2 to 7. A node with
    // an empty directory and another id joins it by itself: as a voter, or as a learner if that is
    // its role.
    std::uint64_t expect = 0;
    TimingConfig timing{};
    TlsConfig tls{};
    LogConfig log{};
    LimitsConfig limits{};
    ObservabilityConfig observability{};
    // Other processes use holds of this node, as the clients of an HttpDoor do. So a start after a
    // crash leaves the former session until its lease is over, and does not end it at once.
    bool holders_elsewhere = false;
    bool memory_only = false;  // see in_memory()

    // Reads and checks a TOML file. Relative paths in it are relative to the working directory in
    // which the node is opened. Blocks on the disk. Throws ConfigError.
    [[nodiscard]] static Config from_file(const std::filesystem::path& path);
    // Reads from the file of any node, or from one that has no more, what a program that is no
    // member needs: cluster, peers, timing, tls and log. These are checked, and the keys of the
    // node itself are left out. The result is that of a client. Throws ConfigError.
    [[nodiscard]] static Config client_from_file(const std::filesystem::path& path);
    // Reads and checks TOML text; errors name `file`. Throws ConfigError.
    [[nodiscard]] static Config from_string(std::string_view toml,
                                            std::string_view file = "configuration");
    // Reads and checks the environment alone. The variable of a key is MORTISE_ and the key in
    // capitals, with _ for each dot: MORTISE_NODE_ID, MORTISE_TIMING_SESSION_TTL. The peers are
    // MORTISE_PEER_LIST="1=host:port,2=host:port". Empty variables and variables that belong to no
    // key are ignored; but a variable that is spelt almost like one of a key (MORTISE_PEERLIST) is
    // an error. Throws ConfigError. Do not call it while another thread changes the
    // environment.
    [[nodiscard]] static Config from_environment();
    // Reads a file, and then each variable of from_environment() that is set over its key, and
    // checks the result. A variable of the peers takes the place of all peers of the file. An error
    // names the variable, or the file with the line.
    [[nodiscard]] static Config from_file_and_environment(const std::filesystem::path& path);
    // The same for client_from_file(). Here the peers of the file win over those of the variable,
    // because who names a file wants the cluster of that file.
    [[nodiscard]] static Config client_from_file_and_environment(const std::filesystem::path& path);
    // A cluster of one node without a listening port.
    [[nodiscard]] static Config single_node(std::filesystem::path data_dir);
    // A cluster of one node without a disk: closing it loses everything. For unit tests.
    [[nodiscard]] static Config in_memory();

    // Throws ConfigError for the first error. Opening a node does the same.
    void validate() const;
    // node_id, or 1 if it was left out; 0 for a client.
    [[nodiscard]] NodeId own_id() const noexcept {
        return node_id != 0 || role == Role::client ? node_id : NodeId{1};
    }
};

// Parses "1=host:port,2=host:port", the form of MORTISE_PEER_LIST; blanks around an item are
// ignored. Throws ConfigError for any other form. It does not check ids and addresses:
// Config::validate() does.
[[nodiscard]] std::vector<PeerConfig> parse_peer_list(std::string_view list);

// what() begins with the place, if it is known: "mortise.toml:7: timing.session_ttl: ...",
// "MORTISE_NODE_ID: ...". code() is Errc::invalid_argument, or the system's code when a file cannot
// be read.
class ConfigError : public std::system_error {
public:
    struct Place {
        std::string file{};    // empty: no file
        std::size_t line = 0;  // from 1; 0: no line
        std::string key{};     // "timing.session_ttl", or a variable; empty: the whole file
    };

    ConfigError(std::error_code code, Place place, const std::string& problem);
    ConfigError(const ConfigError&) noexcept = default;
    ConfigError& operator=(const ConfigError&) noexcept = default;
    ~ConfigError() override;

    [[nodiscard]] const char* what() const noexcept override;
    [[nodiscard]] const Place& place() const noexcept;

private:
    struct Text;
    std::shared_ptr<const Text> text_;
};

}  // namespace mortise
