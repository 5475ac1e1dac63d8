#include "tools/mortise/access.hpp"

#include <algorithm>
#include <cstdlib>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tools/mortise/doctor/reach.hpp"
#include <mortise/certificates.hpp>
#include <mortise/config.hpp>
#include <mortise/detail/told_once.hpp>
#include <mortise/escaped.hpp>

namespace mortise::cli {

namespace {

using Clock = std::chrono::steady_clock;

// The value without blanks and line ends around it, as a node reads it.
std::filesystem::path variable(const char* name) {
    const char* const value = std::getenv(name);
    const std::string text = value != nullptr ? value : "";
    const auto first = text.find_first_not_of(" \t\r\n");
    if (first == std::string::npos) return {};
    return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

// Each of the three files that is missing is searched in the environment and the configuration.
TlsConfig tls_of(const Access& access) {
    auto tls = access.tls;
    TlsConfig other;
    if (access.config) {
        other = Config::client_from_file_and_environment(*access.config).tls;
    } else {
        other.certificate = variable("MORTISE_TLS_CERTIFICATE");
        other.key = variable("MORTISE_TLS_KEY");
        other.ca = variable("MORTISE_TLS_CA");
    }
    if (tls.certificate.empty() && tls.key.empty()) {
        tls.certificate = other.certificate;
        tls.key = other.key;
    }
    if (tls.ca.empty()) tls.ca = other.ca;
    const bool is_whole = !tls.certificate.empty() && !tls.key.empty() && !tls.ca.empty();
    if (tls.is_set() && !is_whole)
        throw Failure{ExitCode::usage,
                      "TLS takes a certificate, its key and the authorities: "
                      "--cert, --key and --ca"};
    return tls;
}

// A certificate names its cluster, which the configuration of a node has to repeat. Empty: nothing
// names it.
std::string cluster_of(const TlsConfig& tls) {
    if (!tls.is_set()) return variable("MORTISE_CLUSTER").string();
    for (const auto& certificate : read_certificates(tls.certificate)) {
        if (!certificate.cluster.empty()) return certificate.cluster;
    }
    return variable("MORTISE_CLUSTER").string();
}

// With a TTL that is shorter than usual, the other times that are compared with it are shorter too.
void set_ttl(TimingConfig& timing, Duration ttl) {
    const auto whole = ttl.to_nanoseconds();
    timing.session_ttl = ttl;
    timing.election_timeout = std::min(timing.election_timeout, Duration{whole / 5});
    timing.heartbeat = std::min(timing.heartbeat, Duration{whole / 15});
}

// Otherwise a node would name the key of a file that nobody wrote.
void check_ttl(const TimingConfig& timing) {
    auto any = Config::in_memory();
    any.timing = timing;
    try {
        any.validate();
    } catch (const ConfigError& error) {
        const std::string key = error.place().key + ": ";
        std::string problem = error.what();
        if (problem.starts_with("timing.session_ttl: ")) problem.erase(0, key.size());
        throw Failure{ExitCode::usage, "--ttl: " + problem};
    }
}

constexpr std::string_view by_name = "dns:";

// Only the peers are set, or the name that leads to them.
Config named_peers(const Access& access) {
    if (access.config) return Config::client_from_file_and_environment(*access.config);
    Config config;
    const auto list = variable("MORTISE_PEER_LIST").string();
    const bool is_name = list.starts_with(by_name);
    if (is_name) {
        config.peers_from = list;
        config.role = Role::client;
        config.validate();
    } else {
        config.peers = parse_peer_list(list);
    }
    return config;
}

// Where the name leads now.
std::vector<std::string> addresses_of(const Config& config) {
    std::vector<std::string> addresses;
    for (const auto& peer : config.peers)
        addresses.push_back(peer.address);
    if (config.peers_from.empty()) return addresses;
    const auto name = config.peers_from.substr(by_name.size());
    const auto found = resolve(name);
    if (found.endpoints.empty())
        throw Failure{ExitCode::unavailable, escaped(name) + " leads nowhere: " + found.problem};
    for (const auto& endpoint : found.endpoints) {
        const auto host = endpoint.to_string();
        const bool is_v6 = host.find(':') != std::string::npos;
        addresses.push_back((is_v6 ? "[" + host + "]" : host) + ":" + split_address(name).port);
    }
    return addresses;
}

// A node has no default address; this is the one of the documentation and of `mortise dev`.
constexpr auto usual_address = "127.0.0.1:7401";

MemberReport report_of(const std::string& address, const TlsConfig& tls) {
    constexpr Duration glance = std::chrono::seconds{1};
    auto remote = tls.is_set() ? Remote{{address}, glance, tls} : Remote{{address}, glance};
    return remote.status().front();
}

std::string member_on_this_host(const TlsConfig& tls) {
    const auto report = report_of(usual_address, tls);
    if (!report.error) return usual_address;
    throw Failure{ExitCode::usage, "which cluster? " + reasons_of({report}) +
                                       "; give --peer HOST:PORT or --config FILE, or set "
                                       "MORTISE_PEER_LIST"};
}

std::vector<std::string> addresses_of(const Access& access, const TlsConfig& tls) {
    if (!access.peers.empty()) return access.peers;
    auto addresses = addresses_of(named_peers(access));
    if (addresses.empty() && access.config)
        throw Failure{ExitCode::config, access.config->string() + ": names no peers"};
    if (addresses.empty()) addresses.push_back(member_on_this_host(tls));
    return addresses;
}

// A configuration names each address once; who types them may repeat one.
std::vector<PeerConfig> peers_at(const std::vector<std::string>& addresses) {
    std::vector<PeerConfig> peers;
    for (const auto& address : addresses) {
        if (std::ranges::find(peers, address, &PeerConfig::address) == peers.end())
            peers.push_back({peers.size() + 1, address});
    }
    return peers;
}

// A member of an earlier version does not tell the name.
std::string or_default(const std::string& cluster) {
    return cluster.empty() ? Config{}.cluster : cluster;
}

[[noreturn]] void fail_duration(const char* option, const std::string& text, const char* problem) {
    const auto seconds = Duration::parse(text + "s");
    const bool lacks_unit = seconds && *seconds > Duration::zero();
    throw Failure{ExitCode::usage, std::string{option} + ": \"" + escaped(text) + "\" is " +
                                       problem + ": write " +
                                       (lacks_unit ? text + "s" : "5s or 250ms")};
}

Duration timeout_of(const Access& access) {
    return positive_duration_of("--timeout", access.timeout);
}

}  // namespace

std::vector<Option> with_members(Access& access, std::vector<Option> own) {
    for (auto& each : std::vector<Option>{
             option("--peer HOST:PORT", value(access.peers),
                    "A member, HOST:PORT; may be repeated"),
             option("--config FILE", value(access.config, Kind::file),
                    "A configuration file that names the members")
                 .excluding("--peer"),
             option("--cert FILE", value(access.tls.certificate, Kind::file),
                    "With TLS: your certificate, a PEM file"),
             option("--key FILE", value(access.tls.key, Kind::file), "The key of --cert"),
             option("--ca FILE", value(access.tls.ca, Kind::file),
                    "The authorities of the cluster"),
             option("--timeout DURATION", value(access.timeout),
                    "How long to wait for each member")})
        own.push_back(std::move(each));
    return own;
}

void add_access(Command& command, Access& access) {
    command.options = with_members(access, std::move(command.options));
    command.options.push_back(flag("--json", access.json, "Print JSON"));
    command.notes =
        "Without --peer and --config, MORTISE_PEER_LIST names the members, or it is the one that "
        "listens on 127.0.0.1:7401. Without --cert, "
        "MORTISE_TLS_CERTIFICATE, _KEY and _CA or [tls] of --config are used.";
    command.exit_codes = exits({0, 64, 65, 66, 69, 74, 77, 78, 141}, std::move(command.exit_codes));
}

Option escaped_flag(bool& escaped, const std::string& what) {
    return flag("--escaped", escaped, what + " is written with escapes, as listings show it");
}

Option local_flag(bool& local) {
    return flag("--local", local, "The member's own state, which may be old");
}

Duration duration_of(const char* option, const std::string& text) {
    const auto duration = Duration::parse(text);
    if (duration) return *duration;
    const auto digits = std::min(text.find_first_not_of("0123456789"), text.size());
    if (digits != 0 && Duration::parse("1" + text.substr(digits)))
        throw Failure{ExitCode::usage, std::string{option} + ": \"" + escaped(text) +
                                           "\" is too long: at most 2562047h"};
    fail_duration(option, text, "not a duration");
}

Duration positive_duration_of(const char* option, const std::string& text) {
    const auto duration = duration_of(option, text);
    if (duration > Duration::zero()) return duration;
    fail_duration(option, text, "no time at all");
}

Remote remote_of(const Access& access) {
    const auto tls = tls_of(access);
    auto addresses = addresses_of(access, tls);
    if (!tls.is_set()) return Remote{std::move(addresses), timeout_of(access)};
    return Remote{std::move(addresses), timeout_of(access), tls};
}

Config client_config_of(const Access& access, const std::optional<std::string>& ttl) {
    Config config;
    config.log.level = LogLevel::error;  // the output belongs to the command
    if (access.config) {
        const auto file = Config::client_from_file_and_environment(*access.config);
        config.cluster = file.cluster;
        config.timing = file.timing;
        config.log.level = file.log.level;
    }
    config.role = Role::client;
    config.tls = tls_of(access);
    if (!access.config) config.cluster = cluster_of(config.tls);
    if (access.peers.empty()) config.peers_from = named_peers(access).peers_from;
    // A client looks the name up itself, again and again.
    if (config.peers_from.empty()) config.peers = peers_at(addresses_of(access, config.tls));
    if (ttl) set_ttl(config.timing, positive_duration_of("--ttl", *ttl));
    if (ttl) check_ttl(config.timing);
    return config;
}

std::string cluster_of_members(const Config& config, Clock::time_point until,
                               const std::stop_token& cancel) {
    while (!cancel.stop_requested()) {
        std::vector<MemberReport> silent;
        for (const auto& address : addresses_of(config)) {
            if (cancel.stop_requested()) break;
            silent.push_back(report_of(address, config.tls));
            if (!silent.back().error) return or_default(silent.back().status.cluster);
        }
        if (until <= Clock::now())
            throw Failure{ExitCode::unavailable,
                          "the cluster cannot be reached: " + reasons_of(silent)};
        std::this_thread::sleep_for(std::chrono::milliseconds{20});
    }
    return Config{}.cluster;
}

void nobody_answered(std::string_view reason) {
    throw Failure{ExitCode::unavailable, "no member answered: " + std::string{reason}};
}

std::string reasons_of(const std::vector<MemberReport>& reports) {
    std::vector<detail::MemberProblem> problems;
    for (const auto& report : reports)
        if (report.error) problems.push_back({report.address, report.problem});
    return detail::told_in_one_line(problems);
}

}  // namespace mortise::cli
