#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <mortise/testkit/link_matrix.hpp>
#include <mortise/testkit/local_cluster.hpp>
#include <mortise/testkit/temp_directory.hpp>

namespace mortise::testkit {

namespace {

constexpr auto start_limit = std::chrono::minutes{1};

}  // namespace

TimingConfig quick_timing() {
    TimingConfig timing;
    timing.session_ttl = std::chrono::seconds{2};
    timing.election_timeout = std::chrono::milliseconds{300};
    timing.heartbeat = std::chrono::milliseconds{50};
    timing.call_timeout = std::chrono::seconds{5};
    timing.close_timeout = std::chrono::seconds{2};
    return timing;
}

class LocalCluster::Impl {
public:
    Impl(std::size_t size, TimingConfig timing, Wire wire)
        : timing_{timing}, wire_{wire}, links_{size}, nodes_(size) {
        if (wire_ == Wire::tls) make_certificates();
        for (std::size_t i = 0; i < size; ++i)
            start(i);
    }

    Node& node(std::size_t index) {
        if (!is_running(index)) throw std::logic_error{"that node does not run"};
        return *nodes_[index];
    }
    [[nodiscard]] bool is_running(std::size_t index) const {
        return index < nodes_.size() && nodes_[index] != nullptr;
    }

    void kill(std::size_t index) {
        if (!is_running(index)) return;
        links_.set_mode(index, LinkMode::drop);
        nodes_[index].reset();
    }
    void restart(std::size_t index) {
        kill(index);
        start(index);
        isolated_.erase(index);
        heal_links();
    }
    void isolate(std::size_t index) {
        links_.set_mode(index, LinkMode::drop);
        isolated_.insert(index);
    }
    void heal() {
        isolated_.clear();
        heal_links();
    }

    [[nodiscard]] std::optional<std::size_t> leader() const {
        std::map<NodeId, std::size_t> votes;
        std::size_t running = 0;
        for (const auto& node : nodes_) {
            if (!node) continue;
            ++running;
            if (const auto leader = node->status().leader) ++votes[*leader];
        }
        for (const auto& [id, count] : votes)
            if (2 * count > running) return id - 1;
        return std::nullopt;
    }
    [[nodiscard]] bool wait_ready(Duration wait_max) const {
        const auto deadline = std::chrono::steady_clock::now() + wait_max;
        return std::ranges::all_of(
            nodes_, [&](const auto& node) { return !node || node->wait_ready(deadline); });
    }

    TlsConfig issue_node(NodeId id) {
        CertificateOptions options;
        options.node = id;
        return issue(std::move(options), "node-" + std::to_string(id));
    }

    TlsConfig issue_user(const std::string& name, std::vector<AccessRole> roles,
                         std::vector<AccessRule> rules) {
        CertificateOptions options;
        options.user = name;
        options.roles = std::move(roles);
        options.rules = std::move(rules);
        return issue(std::move(options), "user-" + name);
    }

    [[nodiscard]] std::size_t size() const { return nodes_.size(); }
    [[nodiscard]] const std::filesystem::path& directory() const { return directory_.path(); }

private:
    [[nodiscard]] std::filesystem::path authority() const { return directory_.path() / "ca.pem"; }

    TlsConfig issue(CertificateOptions options, const std::string& stem) {
        if (wire_ == Wire::plain) return {};
        TlsConfig tls{directory_.path() / (stem + ".pem"), directory_.path() / (stem + ".key"),
                      authority()};
        options.authority_certificate = authority();
        options.authority_key = directory_.path() / "ca.key";
        options.certificate = tls.certificate;
        options.key = tls.key;
        if (!std::filesystem::exists(tls.certificate)) issue_certificate(options);
        return tls;
    }
    void make_certificates() {
        AuthorityOptions options;
        options.cluster = Config{}.cluster;
        options.certificate = authority();
        options.key = directory_.path() / "ca.key";
        create_authority(options);
        for (std::size_t i = 0; i < nodes_.size(); ++i)
            tls_.push_back(issue_node(i + 1));
    }
    [[nodiscard]] Config config_of(std::size_t index) const {
        Config config;
        config.node_id = index + 1;
        config.data_dir = directory_.path() / std::to_string(config.node_id);
        config.listen = "127.0.0.1:0";
        config.timing = timing_;
        config.log.level = LogLevel::off;
        if (wire_ == Wire::tls) config.tls = tls_[index];
        for (std::size_t to = 0; to < nodes_.size(); ++to)
            config.peers.push_back({to + 1, links_.address(index, to)});
        return config;
    }
    // A node listens on any free port. Its peers know their links to it, and the links are given
    // its address.
    void start(std::size_t index) {
        if (index >= nodes_.size()) throw std::logic_error{"there is no such node"};
        nodes_[index] = std::make_unique<Node>(config_of(index));
        links_.set_target(index, nodes_[index]->status().address);
    }
    void heal_links() {
        for (std::size_t from = 0; from < nodes_.size(); ++from)
            for (std::size_t to = 0; to < nodes_.size(); ++to)
                if (from != to && is_reachable(from) && is_reachable(to))
                    links_.set_mode(from, to, LinkMode::pass);
    }
    [[nodiscard]] bool is_reachable(std::size_t index) const {
        return nodes_[index] != nullptr && !isolated_.contains(index);
    }

    TempDirectory directory_{"mortise-cluster"};
    TimingConfig timing_;
    Wire wire_;
    std::vector<TlsConfig> tls_;
    LinkMatrix links_;
    std::vector<std::unique_ptr<Node>> nodes_;
    std::set<std::size_t> isolated_;
};

Wire default_wire() {
    const char* const wanted = std::getenv("MORTISE_TESTING_TLS");
    return wanted != nullptr && std::string_view{wanted} == "1" ? Wire::tls : Wire::plain;
}

LocalCluster::LocalCluster(std::size_t nodes, TimingConfig timing, Wire wire)
    : impl_{std::make_unique<Impl>(nodes, timing, wire)} {
    if (!wait_ready(start_limit)) throw std::runtime_error{"the cluster did not get ready"};
}
LocalCluster::~LocalCluster() = default;
LocalCluster::LocalCluster(LocalCluster&&) noexcept = default;
LocalCluster& LocalCluster::operator=(LocalCluster&&) noexcept = default;

std::size_t LocalCluster::size() const noexcept {
    return impl_->size();
}
Node& LocalCluster::node(std::size_t index) {
    return impl_->node(index);
}
bool LocalCluster::is_running(std::size_t index) const {
    return impl_->is_running(index);
}
std::optional<std::size_t> LocalCluster::leader() const {
    return impl_->leader();
}
bool LocalCluster::wait_ready(Duration wait_max) {
    return impl_->wait_ready(wait_max);
}
void LocalCluster::kill(std::size_t index) {
    impl_->kill(index);
}
void LocalCluster::restart(std::size_t index) {
    impl_->restart(index);
}
void LocalCluster::isolate(std::size_t index) {
    impl_->isolate(index);
}
void LocalCluster::heal() {
    impl_->heal();
}
TlsConfig LocalCluster::issue_node(NodeId id) {
    return impl_->issue_node(id);
}
TlsConfig LocalCluster::issue_user(const std::string& name, std::vector<AccessRole> roles,
                                   std::vector<AccessRule> rules) {
    return impl_->issue_user(name, std::move(roles), std::move(rules));
}
std::filesystem::path LocalCluster::directory() const {
    return impl_->directory();
}

}  // namespace mortise::testkit
