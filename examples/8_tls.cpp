// Three nodes on three addresses that authenticate each other, and a user who may inspect and break
// locks but not acquire them. The certificates are made here, so that nothing needs to be set up;
// for a real cluster `mortise cert` makes them (docs/tls.md).
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>

#include <mortise/mortise.hpp>

using namespace std::chrono_literals;

namespace {

// Ports that are free at the moment, each on an address of its own.
std::vector<mortise::PeerConfig> free_addresses() {
    asio::io_context io;
    std::vector<asio::ip::tcp::acceptor> taken;
    std::vector<mortise::PeerConfig> peers;
    for (mortise::NodeId id = 1; id <= 3; ++id) {
        const auto host = "127.0.0." + std::to_string(id);
        taken.emplace_back(io, asio::ip::tcp::endpoint{asio::ip::make_address(host), 0});
        const auto port = taken.back().local_endpoint().port();
        peers.push_back({id, host + ":" + std::to_string(port)});
    }
    return peers;
}

// Issues a certificate with these options, signed by the authority in `pki`.
mortise::TlsConfig issue(const std::filesystem::path& pki, const std::string& stem,
                         mortise::CertificateOptions options) {
    options.authority_certificate = pki / "ca.pem";
    options.authority_key = pki / "ca.key";
    options.certificate = pki / (stem + ".pem");
    options.key = pki / (stem + ".key");
    mortise::issue_certificate(options);
    return {options.certificate, options.key, options.authority_certificate};
}

mortise::Config member(const std::vector<mortise::PeerConfig>& peers, std::size_t number,
                       const std::filesystem::path& directory) {
    mortise::Config config;
    config.cluster = "example";
    config.node_id = peers[number].id;
    config.listen = peers[number].address;
    config.peers = peers;
    config.data_dir = directory / std::to_string(config.node_id);
    mortise::CertificateOptions options;
    options.node = config.node_id;
    config.tls = issue(directory, "node-" + std::to_string(config.node_id), options);
    return config;
}

}  // namespace

int main() {
    char name[] = "/tmp/mortise-example-XXXXXX";
    const std::filesystem::path directory = mkdtemp(name);
    mortise::create_authority({"example", directory / "ca.pem", directory / "ca.key"});
    const auto peers = free_addresses();
    std::array<std::optional<mortise::Node>, 3> nodes;
    for (std::size_t i = 0; i < nodes.size(); ++i)
        nodes[i].emplace(member(peers, i, directory));
    for (auto& node : nodes) {
        if (!node->wait_ready(std::chrono::steady_clock::now() + 30s)) return 1;
    }
    auto hold = nodes[0]->acquire("orders/42");
    std::printf("node 1 holds orders/42, token %s\n", to_string(hold.token()).c_str());

    mortise::CertificateOptions alice;
    alice.user = "alice";
    alice.roles = {mortise::AccessRole::admin};
    mortise::Remote remote{{peers[1].address}, 10s, issue(directory, "alice", alice)};
    const auto seen = remote.inspect("orders/42");
    std::printf("alice asks node 2: held by node %llu\n",
                static_cast<unsigned long long>(seen.holders.at(0).node));

    mortise::Remote nobody{{peers[1].address}, 10s};
    const auto refused = nobody.status().front();
    std::printf("without a certificate: %s\n", refused.problem.c_str());

    const bool as_told = seen.holders.at(0).node == 1 && refused.error;
    for (auto& node : nodes)
        node.reset();
    std::filesystem::remove_all(directory);
    return as_told ? 0 : 1;
}
