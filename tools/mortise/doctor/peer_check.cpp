// Connects to the peers, and asks each for its status.
#include <algorithm>
#include <future>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include "tools/mortise/doctor/checks.hpp"
#include "tools/mortise/doctor/reach.hpp"

namespace mortise::cli {

namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

// The two samples of a clock are so far apart that what a call takes is a small part of the
// greatest difference that is allowed; within limits, since a person waits.
milliseconds between_samples(const UptimeSample& first, double bound) {
    constexpr milliseconds least{1000};
    constexpr milliseconds most{4000};
    const auto wanted = 4 / bound * (first.ended - first.began);
    return std::clamp(std::chrono::ceil<milliseconds>(wanted), least, most);
}

std::string in_words(milliseconds time) {
    return to_string(Duration{time});
}

// Empty if something takes connections at the address.
std::optional<Finding> judge_reach(const PeerConfig& peer, const Reached& reached,
                                   milliseconds patience) {
    const auto name = name_of_node(peer.id);
    const auto& address = peer.address;
    const auto port = split_address(address).port;
    switch (reached.how) {
        case Reach::connected: break;
        case Reach::unresolved:
            return problem(name, "the host of " + address + " has no address: " + reached.detail,
                           "correct the address of " + name + ", or add the name to the DNS");
        case Reach::refused:
            return problem(name,
                           address +
                               " refuses the connection: nothing listens there, or a "
                               "firewall rejects it",
                           "start " + name +
                               ", or correct its address; its listen must not be a "
                               "loopback address if it is on another machine");
        case Reach::no_route:
            return problem(name, "there is no way to " + address + ": " + reached.detail,
                           "check the address, the network of both machines, and firewalls that "
                           "reject");
        case Reach::silent:
            return problem(name,
                           address + " does not answer within " + in_words(patience) +
                               ": a firewall drops the packets, or the machine is off",
                           "open TCP port " + port +
                               " in the firewalls between the machines, and "
                               "check that the machine of " +
                               name + " runs");
        case Reach::failed:
            return problem(name, "cannot connect to " + address + ": " + reached.detail,
                           "check the address of " + name);
    }
    return std::nullopt;
}

Remote remote_of(const Config& config, const std::string& address, milliseconds patience) {
    if (config.tls.is_set()) return Remote{{address}, patience, config.tls};
    return Remote{{address}, patience};
}

struct TimedReport {
    MemberReport report;
    UptimeSample sample;
};

TimedReport ask(const Config& config, const std::string& address, milliseconds patience) {
    auto remote = remote_of(config, address, patience);
    TimedReport timed;
    timed.sample.began = std::chrono::steady_clock::now().time_since_epoch();
    timed.report = remote.status().front();
    timed.sample.ended = std::chrono::steady_clock::now().time_since_epoch();
    timed.sample.uptime = timed.report.status.uptime.to_nanoseconds();
    return timed;
}

void compare_clocks(const Config& config, const TimedReport& first, PeerAnswer& answer,
                    milliseconds patience) {
    const auto bound = config.timing.clock_rate_bound;
    std::this_thread::sleep_for(between_samples(first.sample, bound));
    const auto second = ask(config, answer.peer.address, patience);
    if (second.report.error) return;
    auto rate = judge_clock_rate(name_of_node(answer.peer.id), first.sample, second.sample, bound);
    if (rate) answer.findings.push_back(*std::move(rate));
}

PeerAnswer ask_peer(const Config& config, const PeerConfig& peer, milliseconds patience) {
    PeerAnswer answer{peer, {}, {}};
    const auto reached = reach(resolve(peer.address), patience);
    if (auto wrong = judge_reach(peer, reached, patience)) {
        answer.findings.push_back(*std::move(wrong));
        return answer;
    }
    if (auto half = judge_silent(peer, reached.silent)) answer.findings.push_back(*std::move(half));
    auto first = TimedReport{};
    try {
        first = ask(config, peer.address, patience);
    } catch (const std::system_error&) {  // the files of TLS, which have a finding of their own
        answer.findings.push_back(fine(name_of_node(peer.id), peer.address + " takes connections"));
        return answer;
    }
    if (first.report.error) {
        answer.findings.push_back(judge_stranger(peer, first.report, config.tls.is_set()));
        return answer;
    }
    answer.report = first.report;
    compare_clocks(config, first, answer, patience);
    return answer;
}

}  // namespace

// It is connected by another endpoint, a moment later than it could be.
std::optional<Finding> judge_silent(const PeerConfig& peer,
                                    const std::vector<std::string>& silent) {
    if (silent.empty()) return std::nullopt;
    std::string which;
    for (const auto& endpoint : silent)
        which += (which.empty() ? "" : ", ") + endpoint;
    return warning(name_of_node(peer.id),
                   "one address of " + peer.address +
                       " takes connections, and this one does not answer: " + which,
                   "take it out of the DNS, or open its port in the firewalls");
}

Finding judge_stranger(const PeerConfig& peer, const MemberReport& report, bool with_tls) {
    const auto name = name_of_node(peer.id);
    const auto& address = peer.address;
    if (report.error == std::errc::timed_out) {
        return problem(name,
                       address +
                           " takes connections and says nothing: another program, or a node "
                           "that hangs",
                       "check which program listens there (`ss -ltnp` on that machine)");
    }
    if (report.error == std::errc::connection_reset && !with_tls) {
        return problem(name,
                       address +
                           " ends the connection: what listens there is not Mortise, or it "
                           "requires TLS",
                       "check which program listens there; if the cluster uses TLS, set "
                       "tls.certificate, tls.key and tls.ca");
    }
    const bool names_it = report.problem.find(address) != std::string::npos;
    const auto text = names_it ? report.problem : address + ": " + report.problem;
    // In the words of the node, which are the same whatever program asks.
    if (report.problem.find("the node is not a member") != std::string::npos) {
        return problem(name, text,
                       "its members serve nobody with the certificate of a node that is not one of "
                       "them: add this node (`mortise members add` with the files of a member or "
                       "an admin), or use other files if it was removed");
    }
    if (report.error == std::errc::permission_denied) {
        return problem(name, text,
                       "compare the files of both nodes with `mortise cert show --ca CA FILE`");
    }
    return problem(name, text, "check which program listens there, and its log");
}

std::vector<PeerAnswer> check_peers(const Config& config, milliseconds patience) {
    std::vector<std::future<PeerAnswer>> asked;
    for (const auto& peer : config.peers) {
        if (peer.id == config.own_id()) continue;
        asked.push_back(std::async(std::launch::async, [&config, &peer, patience] {
            return ask_peer(config, peer, patience);
        }));
    }
    std::vector<PeerAnswer> answers;
    answers.reserve(asked.size());
    for (auto& each : asked)
        answers.push_back(each.get());
    return answers;
}

}  // namespace mortise::cli
