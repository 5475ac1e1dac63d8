#include "embed/config/config_check.hpp"

#include <algorithm>
#include <optional>
#include <set>

#include "core/locks/limits.hpp"
#include "core/observe/activity_view.hpp"
#include "core/raft/configuration.hpp"
#include "embed/config/config_keys.hpp"
#include "embed/config/host_port.hpp"
#include <mortise/errc.hpp>

namespace mortise::detail {

namespace {

using namespace std::chrono_literals;

constexpr std::size_t cluster_bytes_max = 64;
constexpr Duration shortest = 1ms;
// With shorter times a node would mostly wait for the scheduler, and losses could not be announced.
constexpr Duration session_ttl_min = 200ms;
constexpr Duration election_timeout_min = 20ms;
constexpr Duration longest = 24h;
constexpr Duration sync_interval_max = 10s;
constexpr int ttl_election_timeouts_min = 5;
constexpr int election_heartbeats_min = 3;
constexpr double clock_rate_bound_min = 0.0001;
constexpr double clock_rate_bound_max = 0.1;
constexpr std::uint64_t mebibyte = std::uint64_t{1} << 20U;
constexpr std::uint64_t calls_max = 65'536;  // the limit of one session (S17)
constexpr std::uint64_t bytes_max = 1'024 * mebibyte;
constexpr std::uint64_t connections_max = 10'000;

std::string ids_of(const std::vector<PeerConfig>& peers) {
    std::string ids;
    for (const auto& peer : peers)
        ids += (ids.empty() ? "" : ", ") + std::to_string(peer.id);
    return ids;
}

class ConfigCheck {
public:
    ConfigCheck(const Config& config, const ConfigOrigin& origin)
        : config_{config}, origin_{origin} {}

    void run() const {
        check_names();
        check_found_peers();
        check_peers();
        check_own_peer();
        check_disk();
        check_tls();
        check_listen();
        check_advertise();
        check_timing();
        check_limits();
        check_observability();
    }

    void run_for_client() const {
        check_names();
        check_found_peers();
        check_peers();
        check_tls();
        check_timing();
    }

private:
    [[noreturn]] void refuse(std::string_view key, const std::string& problem) const {
        throw ConfigError{Errc::invalid_argument, origin_.place(key), problem};
    }
    // Two keys contradict each other. The error points to the one that was given.
    [[noreturn]] void refuse_pair(std::string_view key, std::string_view other,
                                  const std::string& problem) const {
        refuse(origin_.has(key) || !origin_.has(other) ? key : other, problem);
    }

    void check_tls() const {
        const auto& tls = config_.tls;
        if (!tls.is_set() && tls.revoked.empty()) return;
        const auto need = [this](const char* key, const std::filesystem::path& path) {
            if (path.empty()) refuse(key, "missing: TLS takes tls.certificate, tls.key and tls.ca");
        };
        need("tls.certificate", tls.certificate);
        need("tls.key", tls.key);
        need("tls.ca", tls.ca);
        if (tls.insecure)
            refuse("tls.insecure", "must be false, or left out, where the files of TLS are given");
    }

    void check_names() const {
        const auto& cluster = config_.cluster;
        if (cluster.empty() || cluster.size() > cluster_bytes_max) {
            refuse("cluster", "must have 1 to " + std::to_string(cluster_bytes_max) +
                                  " characters, not " + std::to_string(cluster.size()));
        }
        const bool plain = std::all_of(cluster.begin(), cluster.end(), [](char c) {
            return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                   c == '.' || c == '_' || c == '-';
        });
        if (!plain) {
            refuse("cluster",
                   in_quotes(cluster) + " may have letters, digits, '.', '_' and '-' only");
        }
    }

    [[nodiscard]] bool finds_peers() const { return !config_.peers_from.empty(); }

    void check_found_peers() const {
        if (!finds_peers()) {
            if (config_.expect != 0)
                refuse("expect", "is for peers that are found: set peers = \"dns:NAME:PORT\"");
            return;
        }
        if (!parse_found_peers(config_.peers_from)) {
            refuse("peers", in_quotes(config_.peers_from) +
                                " does not say where peers are: write dns:NAME:PORT, with a name "
                                "that has the addresses of all nodes, and their port");
        }
        if (!config_.peers.empty())
            refuse("peers", "list each [[peer]], or find them with peers; not both");
    }

    // One alone would be unanimous whenever it loses its directory, and form a second cluster.
    void check_expect() const {
        constexpr std::uint64_t least = 2;
        if (config_.expect == 0) {
            refuse("expect",
                   "missing: say how many voters form the cluster, the nodes 1 to expect");
        }
        if (config_.expect < least || config_.expect > core::voters_max) {
            refuse("expect", "must be from 2 to " + std::to_string(core::voters_max) + ", not " +
                                 std::to_string(config_.expect));
        }
    }

    // Members tell others this address. It is also for tools, and for nodes that find nobody.
    void check_own_address() const {
        if (config_.memory_only) refuse("peers", "a node in memory is a cluster of its own");
        if (config_.node_id == 0) {
            refuse("node_id",
                   "missing: give each node an id of its own, or a host name that ends with a "
                   "number: that of mortise-2 is 3");
        }
        if (config_.listen.empty())
            refuse("listen", "missing: with peers a node listens on an address of its own");
        if (!config_.advertise.empty()) return;
        const auto listen = check_address("listen", config_.listen);
        if (listen.port == 0 || is_any(listen)) {
            refuse("advertise", "missing: others cannot connect to " + in_quotes(config_.listen) +
                                    ": give the name or the address of this machine");
        }
    }

    void check_peers() const {
        std::set<NodeId> ids;
        std::set<std::string> addresses;
        for (std::size_t i = 0; i < config_.peers.size(); ++i) {
            const auto& [id, address] = config_.peers[i];
            const std::string key = "peer[" + std::to_string(i) + "]";
            if (id == 0) refuse(key + ".id", "must be 1 or more");
            if (!ids.insert(id).second) {
                refuse(key + ".id", std::to_string(id) + " is the id of two peers");
            }
            const auto parsed = check_address(key + ".address", address);
            if (parsed.port == 0) refuse(key + ".address", "the port of a peer must not be 0");
            if (!addresses.insert(canonical(parsed)).second) {
                refuse(key + ".address", in_quotes(address) + " is the address of two peers");
            }
        }
        check_peer_count();
    }

    // The peers of a client or a learner need not be voters.
    void check_peer_count() const {
        const bool is_voter = config_.role == Role::voter;
        const auto most = is_voter ? core::voters_max : core::members_max;
        if (config_.peers.size() <= most) return;
        refuse("peer", "at most " + std::to_string(most) + (is_voter ? " voters" : " members") +
                           ", not " + std::to_string(config_.peers.size()));
    }

    void check_own_peer() const {
        const auto& peers = config_.peers;
        if (origin_.has("node_id") && config_.node_id == 0) refuse("node_id", "must be 1 or more");
        if (config_.role == Role::client) return check_client();
        if (finds_peers()) {
            if (config_.role == Role::voter) check_expect();
            return check_own_address();
        }
        if (config_.role == Role::learner) return check_learner();
        if (peers.empty()) return check_alone();
        if (config_.node_id == 0) refuse("node_id", "missing: say which of the peers this node is");
        const bool found = std::any_of(peers.begin(), peers.end(), [this](const auto& peer) {
            return peer.id == config_.node_id;
        });
        if (!found) {
            refuse("node_id", std::to_string(config_.node_id) +
                                  " is not the id of a peer: the peers are " + ids_of(peers) +
                                  "; correct node_id, or use role = \"learner\"");
        }
        if (config_.listen.empty()) {
            refuse("listen", "missing: with peers a node listens on an address of its own");
        }
    }

    // Without this check a forgotten list of peers would bootstrap a second cluster.
    void check_alone() const {
        if (config_.node_id <= 1 || config_.memory_only) return;
        refuse("peer", "missing: node_id " + std::to_string(config_.node_id) +
                           " requires a list of peers; a cluster of one node lists only "
                           "this node");
    }

    // A learner joins an existing cluster and need not be among the peers that it names.
    void check_learner() const {
        const auto others = std::ranges::count_if(
            config_.peers, [this](const auto& peer) { return peer.id != config_.node_id; });
        if (others == 0) {
            refuse_pair("role", "peer",
                        "a learner joins a cluster: list the present members as its peers");
        }
        if (config_.node_id == 0) {
            refuse("node_id", "missing: a learner needs an id that no other member has");
        }
        if (config_.listen.empty()) {
            refuse("listen", "missing: with peers a node listens on an address of its own");
        }
        if (config_.memory_only) refuse("role", "a node in memory is a cluster of its own");
    }

    // A configuration with more is that of a member, and a voter would be missing in its cluster.
    void check_client() const {
        const std::string no_member = "must be left out: a client is no member of the cluster";
        if (config_.node_id != 0) refuse("node_id", no_member);
        if (!config_.data_dir.empty()) refuse("data_dir", no_member);
        if (!config_.listen.empty()) refuse("listen", no_member);
        if (!config_.advertise.empty()) refuse("advertise", no_member);
        if (config_.memory_only) refuse("role", "a node in memory is a cluster of its own");
        if (config_.peers.empty() && !finds_peers())
            refuse_pair("role", "peer", "a client uses a cluster: list its members as peers");
    }

    void check_disk() const {
        if (config_.role == Role::client) return;
        check_duration("sync_interval", config_.sync_interval, shortest, sync_interval_max);
        if (!config_.memory_only) {
            if (config_.data_dir.empty()) {
                refuse("data_dir", "missing: a voter needs a directory of its own");
            }
            return;
        }
        if (!config_.data_dir.empty()) refuse("data_dir", "a node in memory has no directory");
        if (config_.peers.size() > 1) refuse("peer", "a node in memory is a cluster of its own");
    }

    void check_listen() const {
        if (config_.listen.empty()) return;
        const auto address = check_address("listen", config_.listen);
        if (config_.tls.is_set() || config_.tls.insecure) return;
        // A host name is checked when it is resolved.
        if (!is_numeric(address) || is_loopback(address)) return;
        refuse("listen",
               in_quotes(config_.listen) +
                   " is not a loopback address: set tls.certificate, tls.key and tls.ca "
                   "(`mortise cert` makes the files), or tls.insecure = true if everybody "
                   "who reaches it may do everything");
    }

    void check_advertise() const {
        if (config_.advertise.empty()) return;
        const auto address = check_address("advertise", config_.advertise);
        if (address.port == 0) refuse("advertise", "the port must not be 0");
        if (is_any(address)) {
            refuse("advertise", in_quotes(config_.advertise) +
                                    " is no address that others can connect to: give the name or "
                                    "the address of this machine");
        }
        if (config_.listen.empty())
            refuse("advertise", "this node does not listen: set listen as well");
    }

    HostPort check_address(const std::string& key, const std::string& address) const {
        auto parsed = parse_host_port(address);
        if (!parsed) refuse(key, not_an_address(address));
        return *std::move(parsed);
    }

    void check_duration(std::string_view key, Duration value, Duration least,
                        Duration most = longest) const {
        if (value >= least && value <= most) return;
        refuse(key, "must be from " + to_string(least) + " to " + to_string(most) + ", not " +
                        to_string(value));
    }

    void check_timing() const {
        const auto& timing = config_.timing;
        check_duration("timing.session_ttl", timing.session_ttl, session_ttl_min);
        check_duration("timing.election_timeout", timing.election_timeout, election_timeout_min);
        check_duration("timing.heartbeat", timing.heartbeat, shortest);
        check_duration("timing.call_timeout", timing.call_timeout, shortest);
        check_duration("timing.close_timeout", timing.close_timeout, Duration::zero());
        const Duration least = timing.election_timeout.to_nanoseconds() * ttl_election_timeouts_min;
        if (timing.session_ttl < least) {
            refuse_pair("timing.session_ttl", "timing.election_timeout",
                        "a session_ttl of " + to_string(timing.session_ttl) +
                            " is too short: at least 5 x election_timeout, " + to_string(least));
        }
        const Duration most = timing.election_timeout.to_nanoseconds() / election_heartbeats_min;
        if (timing.heartbeat > most) {
            refuse_pair("timing.heartbeat", "timing.election_timeout",
                        "a heartbeat of " + to_string(timing.heartbeat) +
                            " is too slow: at most a third of election_timeout, " +
                            to_string(timing.election_timeout));
        }
        const double bound = timing.clock_rate_bound;
        if (!(bound >= clock_rate_bound_min && bound <= clock_rate_bound_max)) {
            refuse("timing.clock_rate_bound", "must be from 0.0001 to 0.1; 0.01 is 1 %");
        }
    }

    void check_range(std::string_view key, std::uint64_t value, std::uint64_t least,
                     std::uint64_t most) const {
        if (value >= least && value <= most) return;
        refuse(key, "must be from " + std::to_string(least) + " to " + std::to_string(most) +
                        ", not " + std::to_string(value));
    }

    void check_limits() const {
        const auto& limits = config_.limits;
        check_range("limits.calls", limits.calls, 1, calls_max);
        check_range("limits.log_bytes", limits.log_bytes, mebibyte, bytes_max);
        check_range("limits.outbox_bytes", limits.outbox_bytes, mebibyte, bytes_max);
        check_range("limits.connections", limits.connections, 1, connections_max);
        check_range("limits.clients", limits.clients, 1, connections_max);
    }

    void check_observability() const {
        const auto& watched = config_.observability;
        check_duration("observability.slow_hold", watched.slow_hold, Duration::zero());
        check_duration("observability.long_wait", watched.long_wait, Duration::zero());
        check_prefixes();
    }

    void check_prefixes() const {
        constexpr auto key = "observability.prefixes";
        const auto& prefixes = config_.observability.prefixes;
        if (prefixes.size() > core::prefixes_max) {
            refuse(key, "at most " + std::to_string(core::prefixes_max) + " prefixes, not " +
                            std::to_string(prefixes.size()));
        }
        std::set<std::string_view> seen;
        for (const auto& prefix : prefixes) {
            if (prefix.empty() || prefix.size() > core::name_bytes_max) {
                refuse(key, "a prefix has 1 to " + std::to_string(core::name_bytes_max) +
                                " bytes, not " + std::to_string(prefix.size()));
            }
            if (!seen.insert(prefix).second) refuse(key, in_quotes(prefix) + " is there twice");
        }
    }

    const Config& config_;
    const ConfigOrigin& origin_;
};

}  // namespace

ConfigError::Place ConfigOrigin::place(std::string_view key) const {
    const bool is_variable = variables.contains(key.starts_with("peer") ? "peer" : key);
    if (is_environment || is_variable) return {.key = variable_of(key)};
    const auto found = lines.find(key);
    std::string shown{key};
    if (shown.starts_with("peer[")) shown.erase(4, shown.find(']') - 3);
    return {.file = file, .line = found != lines.end() ? found->second : 0, .key = shown};
}

std::string variable_of(std::string_view key) {
    if (key.starts_with("peer")) return "MORTISE_PEER_LIST";
    std::string name = "MORTISE_";
    for (const char c : key) {
        const bool is_lower = c >= 'a' && c <= 'z';
        name += c == '.' ? '_' : is_lower ? static_cast<char>(c - 'a' + 'A') : c;
    }
    return name;
}

void check(const Config& config, const ConfigOrigin& origin) {
    ConfigCheck{config, origin}.run();
}

void check_for_client(const Config& config, const ConfigOrigin& origin) {
    ConfigCheck{config, origin}.run_for_client();
}

}  // namespace mortise::detail
