#include "tools/mortise/process_cluster.hpp"

#include <csignal>
#include <random>
#include <utility>

#include <asio/ip/tcp.hpp>

#include "tools/mortise/exit_code.hpp"
#include <mortise/certificates.hpp>

namespace mortise::cli {

namespace {

constexpr auto glance = std::chrono::milliseconds{50};

using asio::ip::tcp;

// On a free port that the system does not give to outgoing connections by itself: one of those
// could take the port while its member is down.
tcp::acceptor hold_port(asio::io_context& io, std::mt19937& random) {
    std::uniform_int_distribution<unsigned> ports{10'000, 29'999};
    constexpr int attempts_max = 1'000;
    for (int attempt = 0; attempt < attempts_max; ++attempt) {
        const auto port = static_cast<std::uint16_t>(ports(random));
        tcp::acceptor acceptor{io, tcp::v4()};
        asio::error_code taken;
        acceptor.bind({asio::ip::address_v4::loopback(), port}, taken);
        if (!taken) return acceptor;
    }
    return {io, tcp::endpoint{asio::ip::address_v4::loopback(), 0}};
}

}  // namespace

ProcessCluster::ProcessCluster(Plan plan)
    : plan_{std::move(plan)},
      directory_{"mortise-" + plan_.name, plan_.parent_directory},
      members_(plan_.size) {
    signals_.add(SIGINT);
    signals_.add(SIGTERM);
    signals_.async_wait([this](asio::error_code failed, int) { interrupted_ = !failed; });
    reserve_ports();
    if (plan_.links == Links::proxied) {
        links_ = std::make_unique<testkit::LinkMatrix>(plan_.size);
        for (std::size_t i = 0; i < size(); ++i)
            links_->set_target(i, addresses_[i]);
    }
    if (plan_.tls) make_certificates();
}

// Another program may take a port before the node binds it: then the node reports that.
void ProcessCluster::reserve_ports() {
    for (std::size_t i = 0; plan_.first_port != 0 && i < plan_.size; ++i)
        addresses_.push_back("127.0.0.1:" + std::to_string(plan_.first_port + i));
    if (!addresses_.empty()) return;
    std::mt19937 random{std::random_device{}()};
    std::vector<tcp::acceptor> holders;
    for (std::size_t i = 0; i < plan_.size; ++i) {
        holders.push_back(hold_port(io_, random));
        addresses_.push_back("127.0.0.1:" + std::to_string(holders.back().local_endpoint().port()));
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

Config ProcessCluster::config_of(std::size_t member) const {
    Config config;
    config.node_id = member + 1;
    config.data_dir = directory() / ("node-" + std::to_string(config.node_id));
    config.listen = addresses_[member];
    config.timing = plan_.timing;
    config.durability = plan_.durability;
    config.sync_interval = plan_.sync_interval;
    if (plan_.tls) config.tls = tls_of(config.node_id);
    for (std::size_t to = 0; to < size(); ++to)
        config.peers.push_back(
            {to + 1, links_ && to != member ? links_->address(member, to) : addresses_[to]});
    return config;
}

void ProcessCluster::start(std::size_t member, const ChildProcess::Program& program) {
    members_[member] = std::make_unique<ChildProcess>(
        io_, program, [this, member](const std::string& line) { take(member, line); });
}

void ProcessCluster::kill(std::size_t member) {
    members_[member].reset();
}

void ProcessCluster::say(std::size_t member, const std::string& line) {
    if (members_[member]) members_[member]->say(line);
}

void ProcessCluster::set_links(std::size_t member, testkit::LinkMode mode) {
    links_->set_mode(member, mode);
}

pid_t ProcessCluster::pid(std::size_t member) const {
    return members_[member] ? members_[member]->pid() : 0;
}

bool ProcessCluster::is_running(std::size_t member) const {
    return members_[member] != nullptr;
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
        if (!members_[i] || members_[i]->is_running()) continue;
        io_.poll();  // the child's last lines, if there are any
        if (on_end_) {
            kill(i);
            on_end_(i);
            continue;
        }
        throw Failure{ExitCode::software,
                      "node " + std::to_string(i + 1) + " ended by itself: " + last_line(i)};
    }
}

}  // namespace mortise::cli
