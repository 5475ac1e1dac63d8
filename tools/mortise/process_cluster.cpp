#include "tools/mortise/process_cluster.hpp"

#include <algorithm>
#include <csignal>
#include <fstream>
#include <map>
#include <utility>

#include <asio/ip/tcp.hpp>

#include "tools/mortise/exit_code.hpp"
#include "tools/mortise/member.hpp"
#include <mortise/certificates.hpp>

namespace mortise::cli {

namespace {

constexpr auto glance = std::chrono::milliseconds{50};

std::string last_line_of(const std::filesystem::path& file) {
    std::ifstream stream{file};
    std::string last;
    for (std::string line; std::getline(stream, line);)
        if (!line.empty()) last = line;
    return last;
}

}  // namespace

ProcessCluster::ProcessCluster(Plan plan, OnLine on_line)
    : plan_{std::move(plan)},
      on_line_{std::move(on_line)},
      directory_{"mortise-" + plan_.role, plan_.parent_directory},
      members_(plan_.size) {
    signals_.add(SIGINT);
    signals_.add(SIGTERM);
    signals_.async_wait([this](asio::error_code failed, int) { interrupted_ = !failed; });
    if (plan_.links == Links::proxied)
        links_ = std::make_unique<testkit::LinkMatrix>(plan_.size);
    else
        reserve_ports();
    if (plan_.tls) make_certificates();
}

// Another program may take a port before the node binds it: then the node reports that.
void ProcessCluster::reserve_ports() {
    using asio::ip::tcp;
    for (std::size_t i = 0; plan_.first_port != 0 && i < plan_.size; ++i)
        ports_.push_back("127.0.0.1:" + std::to_string(plan_.first_port + i));
    if (!ports_.empty()) return;
    const tcp::endpoint any{asio::ip::address_v4::loopback(), 0};
    std::vector<tcp::acceptor> holders;
    for (std::size_t i = 0; i < plan_.size; ++i) {
        holders.emplace_back(io_, any);
        ports_.push_back("127.0.0.1:" + std::to_string(holders.back().local_endpoint().port()));
    }
}

// Creates a temporary authority, which is removed with the directory.
void ProcessCluster::make_certificates() {
    AuthorityOptions authority;
    authority.cluster = Config{}.cluster;
    authority.certificate = directory() / "ca.pem";
    authority.key = directory() / "ca.key";
    create_authority(authority);
    for (NodeId id = 1; id <= size(); ++id) {
        const auto tls = tls_of(id);
        CertificateOptions options;
        options.authority_certificate = authority.certificate;
        options.authority_key = authority.key;
        options.node = id;
        options.certificate = tls.certificate;
        options.key = tls.key;
        issue_certificate(options);
    }
}

TlsConfig ProcessCluster::tls_of(NodeId id) const {
    const auto stem = (directory() / ("node-" + std::to_string(id))).string();
    return {stem + ".pem", stem + ".key", directory() / "ca.pem"};
}

Config ProcessCluster::config_of(std::size_t member) {
    Config config;
    config.node_id = member + 1;
    config.data_dir = directory() / ("node-" + std::to_string(config.node_id));
    config.listen = links_ ? "127.0.0.1:0" : ports_[member];
    config.timing = plan_.timing;
    if (plan_.tls) config.tls = tls_of(config.node_id);
    for (std::size_t to = 0; to < size(); ++to)
        config.peers.push_back({to + 1, links_ ? links_->address(member, to) : ports_[to]});
    return config;
}

void ProcessCluster::start(std::size_t member) {
    auto& it = members_[member];
    const auto output = directory() / ("node-" + std::to_string(member + 1) + ".log");
    it = {};
    it.process = std::make_unique<ChildProcess>(
        io_, plan_.role, output, [this, member](const Json& line) { take(member, line); });
    it.process->say(settings_of(config_of(member)));
}

void ProcessCluster::kill(std::size_t member) {
    members_[member].process.reset();
    members_[member].state = {};
}

void ProcessCluster::say(std::size_t member, const Json& line) {
    if (members_[member].process) members_[member].process->say(line);
}

void ProcessCluster::say_to_all(const Json& line) {
    for (std::size_t i = 0; i < size(); ++i)
        say(i, line);
}

void ProcessCluster::set_links(std::size_t member, testkit::LinkMode mode) {
    links_->set_mode(member, mode);
}

void ProcessCluster::take(std::size_t member, const Json& line) {
    auto& it = members_[member];
    if (line.contains("problem"))
        throw Failure{line.at("code").get<ExitCode>(), line.at("problem").get<std::string>()};
    if (line.contains("listening")) {
        it.listening = true;
        if (links_) links_->set_target(member, line.at("listening"));
    } else if (line.contains("status")) {
        const auto& status = line.at("status");
        it.state = {status.at("ready"), status.at("standing") == "leader", status.at("leader"),
                    status.at("why")};
    } else {
        on_line_(member, line);
    }
}

pid_t ProcessCluster::pid(std::size_t member) const {
    return members_[member].process ? members_[member].process->pid() : 0;
}

bool ProcessCluster::is_running(std::size_t member) const {
    return members_[member].process != nullptr;
}

const ProcessCluster::MemberState& ProcessCluster::state(std::size_t member) const {
    return members_[member].state;
}

std::optional<std::size_t> ProcessCluster::leader() const {
    std::map<NodeId, std::size_t> votes;
    for (const auto& member : members_)
        if (member.state.ready && ++votes[member.state.leader] > size() / 2)
            if (member.state.leader != 0) return member.state.leader - 1;
    return std::nullopt;
}

bool ProcessCluster::all_ready() const {
    return std::ranges::all_of(members_, [](const Member& member) { return member.state.ready; });
}

bool ProcessCluster::pump_until(const std::function<bool()>& done,
                                std::chrono::milliseconds limit) {
    const auto end = std::chrono::steady_clock::now() + limit;
    while (!done()) {
        if (std::chrono::steady_clock::now() >= end) return false;
        io_.run_one_for(glance);
        io_.restart();
        if (interrupted_) throw Failure{ExitCode::interrupted, "interrupted"};
        look_after_members();
        if (idle_) idle_();
    }
    return true;
}

void ProcessCluster::look_after_members() {
    if (may_end_) return;
    for (std::size_t i = 0; i < size(); ++i) {
        const auto& process = members_[i].process;
        if (!process || process->is_running()) continue;
        io_.poll();  // the child's last lines, if there are any
        if (on_end_) {
            kill(i);
            on_end_(i);
            continue;
        }
        throw Failure{ExitCode::software,
                      "node " + std::to_string(i + 1) + " ended by itself: " +
                          last_line_of(directory() / ("node-" + std::to_string(i + 1) + ".log"))};
    }
}

}  // namespace mortise::cli
