// Checks the addresses that the configuration names.
#include <algorithm>
#include <string>
#include <string_view>

#include "tools/mortise/doctor/checks.hpp"
#include "tools/mortise/doctor/reach.hpp"

namespace mortise::cli {

namespace {

constexpr const char* about_listen = "listen";

bool all_are_loopback(const Resolved& resolved) {
    return std::ranges::all_of(resolved.endpoints, &Endpoint::is_loopback);
}

bool any_is_wildcard(const Resolved& resolved) {
    return std::ranges::any_of(resolved.endpoints, &Endpoint::is_wildcard);
}

struct ResolvedPeer {
    PeerConfig peer;
    Resolved resolved;
};

Finding judge_peer_address(const ResolvedPeer& one, bool others_are_remote) {
    const auto about = name_of_node(one.peer.id);
    const auto& address = one.peer.address;
    if (one.resolved.endpoints.empty()) {
        return problem(about, "the host of " + address + " has no address: " + one.resolved.problem,
                       "correct the address of " + about +
                           ", or add the name to the DNS or to "
                           "/etc/hosts of every machine");
    }
    if (any_is_wildcard(one.resolved)) {
        return problem(about, address + " is every address of a machine, and nobody's",
                       "name the address at which the others reach " + about);
    }
    if (others_are_remote && all_are_loopback(one.resolved)) {
        return problem(about,
                       address +
                           " is a loopback address, which means another machine to each of "
                           "the peers",
                       "name an address of the machine of " + about + " that the others reach");
    }
    return fine(about, address + " is " + one.resolved.endpoints.front().to_string());
}

// Behind a proxy or a port mapping the two addresses differ on purpose.
Findings judge_own_address(const Config& config, const ResolvedPeer& own) {
    Findings findings;
    const auto listen = resolve(config.listen);
    const auto here = split_address(config.listen);
    const auto there = split_address(own.peer.address);
    const auto and_why = " (a proxy or a port mapping is a reason to keep it)";
    if (here.port != "0" && here.port != there.port) {
        findings.push_back(
            warning(about_listen,
                    "the node listens on port " + here.port + ", and the peers have port " +
                        there.port + " for it",
                    "make both equal, in the files of all nodes" + std::string{and_why}));
    }
    const bool is_elsewhere =
        !own.resolved.endpoints.empty() &&
        std::ranges::none_of(own.resolved.endpoints, &Endpoint::is_of_this_machine);
    if (is_elsewhere) {
        findings.push_back(warning(about_listen,
                                   "no interface of this machine has the address " +
                                       own.peer.address + " that the peers have for this node",
                                   "correct the entry of " + name_of_node(own.peer.id) + and_why));
    }
    const bool is_unreachable = !listen.endpoints.empty() && all_are_loopback(listen) &&
                                !own.resolved.endpoints.empty() && !all_are_loopback(own.resolved);
    if (is_unreachable) {
        findings.push_back(problem(
            about_listen,
            config.listen +
                " is a loopback address, so the others do not reach this "
                "node at " +
                own.peer.address,
            "listen on an address that they reach, with TLS (`mortise cert` makes the files)"));
    }
    return findings;
}

Finding judge_name(const Config& config) {
    const auto name = config.peers_from.substr(std::string_view{"dns:"}.size());
    const auto found = resolve(name);
    if (found.endpoints.empty())
        return problem("peers", name + " leads nowhere: " + found.problem,
                       "give the name the addresses of the nodes, in the DNS or in /etc/hosts");
    return fine("peers", name + " has " + std::to_string(found.endpoints.size()) +
                             (found.endpoints.size() == 1 ? " address" : " addresses"));
}

}  // namespace

std::string name_of_node(NodeId id) {
    return "node " + std::to_string(id);
}

Findings check_addresses(const Config& config) {
    std::vector<ResolvedPeer> peers;
    for (const auto& peer : config.peers)
        peers.push_back({peer, resolve(peer.address)});
    const bool is_spread = std::ranges::any_of(peers, [](const ResolvedPeer& one) {
        return !one.resolved.endpoints.empty() && !all_are_loopback(one.resolved);
    });
    Findings findings;
    for (const auto& one : peers) {
        findings.push_back(judge_peer_address(one, is_spread));
        if (one.peer.id == config.own_id() && !config.listen.empty())
            append(findings, judge_own_address(config, one));
    }
    if (!config.peers_from.empty()) {
        findings.push_back(judge_name(config));
    } else if (peers.empty()) {
        findings.push_back(fine("peers", "there are none: this node is a cluster of one"));
    }
    return findings;
}

}  // namespace mortise::cli
