// Everything a node needs to know at its start. Fill in the struct, or have it filled in by one of
// the functions at its end.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
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

// Equal on all members of a cluster.
struct TimingConfig {
    // How long the locks of a process that died stay taken, about. At least 200 ms, and 5 election
    // timeouts.
    Duration session_ttl = std::chrono::seconds{10};
    // After one to two of these without a leader there is an election. At least 20 ms.
    Duration election_timeout = std::chrono::seconds{1};
    // At most a third of election_timeout.
    Duration heartbeat = std::chrono::milliseconds{100};
    // Bounds every call that has no deadline of its own.
    Duration call_timeout = std::chrono::seconds{10};
    // Bounds what the destructor of a node waits for.
    Duration close_timeout = std::chrono::seconds{2};
    // By which part the clocks of the members may run too fast or too slow; 0.01 is 1 %.
    double clock_rate_bound = 0.01;

    friend bool operator==(const TimingConfig&, const TimingConfig&) = default;
};

// Mutual TLS 1.3 between all nodes and clients of a cluster; see docs/tls.md. A node reads the
// files when it is opened and whenever one of them changes (see Node::reload_tls()).
struct TlsConfig {
    // Paths of PEM files: all three, or none.
    std::filesystem::path certificate{};  // has to name this cluster and this node
    std::filesystem::path key{};          // unencrypted; readable by its owner and group at most
    std::filesystem::path ca{};           // the authorities whose certificates are believed
    // Without the files: whether the node may listen on addresses that other machines reach.
    // Whoever reaches it may then do everything, and can read everything on the wire.
    bool insecure = false;

    // Whether the files are given.
    [[nodiscard]] bool is_set() const noexcept {
        return !certificate.empty() || !key.empty() || !ca.empty();
    }
    friend bool operator==(const TlsConfig&, const TlsConfig&) = default;
};

struct LogConfig {
    LogLevel level = LogLevel::warn;
    // Gets each line: one line, without time, level and line end. Called on threads of the node,
    // perhaps on several at once; it must neither block nor call the node. What it throws is
    // dropped. Empty: lines go to stderr; a line that would have to wait there is dropped.
    std::function<void(LogLevel level, std::string_view line)> sink{};
};

// Bounds on what a node may use. Beyond one, a call is Errc::resource_exhausted.
struct LimitsConfig {
    std::uint64_t calls = 65'536;                         // under way at once, of this program
    std::uint64_t log_bytes = std::uint64_t{256} << 20U;  // kept in memory for slow members
    // Waiting to be sent, for each peer and lane: of the log, and of requests for the leader.
    std::uint64_t outbox_bytes = std::uint64_t{16} << 20U;
    std::uint64_t connections = 64;  // that have not said who they are yet
    std::uint64_t clients = 256;  // connections of programs that are no members: commands, for one

    friend bool operator==(const LimitsConfig&, const LimitsConfig&) = default;
};

struct Config {
    std::string cluster = "mortise";  // a name for people; letters, digits, '.', '_' and '-'
    // Of a node with an empty directory: a voter founds a cluster together with its peers, a
    // learner waits until it is added to theirs. Later the cluster knows what it is.
    Role role = Role::voter;
    NodeId node_id = 0;  // which of the peers this is; may be left out if there are none
    std::filesystem::path data_dir{};  // of this node alone; created if missing, with its parents
    // "host:port"; port 0: any free one. Empty: does not listen. A name is listened on at each of
    // its addresses. Unless `tls` says otherwise, they have to be loopback addresses.
    std::string listen{};
    // "host:port" where the other members find this node, if that is not what its entry in `peers`
    // says or, without peers, `listen`: behind port mappings, in containers. Empty: it is.
    std::string advertise{};
    // The voters, this one included; none: a cluster of one. Of a learner: the present members.
    std::vector<PeerConfig> peers{};
    TimingConfig timing{};
    TlsConfig tls{};
    LogConfig log{};
    LimitsConfig limits{};
    bool memory_only = false;  // see in_memory()

    // The configuration in a TOML file, checked. Relative paths in it are relative to the working
    // directory in which the node is opened. Blocks on the disk. Throws ConfigError.
    [[nodiscard]] static Config from_file(const std::filesystem::path& path);
    // As above. Errors name `file`.
    [[nodiscard]] static Config from_string(std::string_view toml,
                                            std::string_view file = "configuration");
    // From the environment alone, checked. The variable of a key is the key in capitals behind
    // MORTISE_, with _ for every dot: MORTISE_NODE_ID, MORTISE_TIMING_SESSION_TTL. The peers are
    // MORTISE_PEER_LIST="1=host:port,2=host:port". An empty variable counts as none; variables that
    // belong to no key are left alone. Throws ConfigError. Not while another thread changes the
    // environment.
    [[nodiscard]] static Config from_environment();
    // A cluster of one, which nobody can connect to.
    [[nodiscard]] static Config single_node(std::filesystem::path data_dir);
    // A cluster of one which forgets everything when it is closed. For unit tests.
    [[nodiscard]] static Config in_memory();

    // Throws ConfigError for the first thing that is wrong. Opening a node does the same.
    void validate() const;
    // node_id, or 1 where it may be left out.
    [[nodiscard]] NodeId own_id() const noexcept { return node_id != 0 ? node_id : NodeId{1}; }
};

// "1=host:port,2=host:port", as in MORTISE_PEER_LIST; blanks around an item do no harm. Throws
// ConfigError where that is not its form. Looks no further: Config::validate() does.
[[nodiscard]] std::vector<PeerConfig> parse_peer_list(std::string_view list);

// what() begins with the place, as far as there is one: "mortise.toml:7: timing.session_ttl: ...",
// "MORTISE_NODE_ID: ...". code() is Errc::invalid_argument, or that of the system when a file
// cannot be read.
class ConfigError : public std::system_error {
public:
    struct Place {
        std::string file{};    // empty: no file
        std::size_t line = 0;  // from 1; 0: no line
        std::string key{};     // "timing.session_ttl", or a variable; empty: the file as a whole
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
