// A cluster of three nodes. Normally each is a process on its own machine; here they share one
// process, so that nothing needs to be set up. One node is closed, and the other two continue.
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <vector>

#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>

#include <mortise/mortise.hpp>

using namespace std::chrono_literals;

namespace {

// Ports that are free at the moment. A real cluster has its addresses in a file.
std::vector<mortise::PeerConfig> free_addresses() {
    asio::io_context io;
    std::vector<asio::ip::tcp::acceptor> taken;
    std::vector<mortise::PeerConfig> peers;
    for (mortise::NodeId id = 1; id <= 3; ++id) {
        taken.emplace_back(io, asio::ip::tcp::endpoint{asio::ip::address_v4::loopback(), 0});
        peers.push_back({id, "127.0.0.1:" + std::to_string(taken.back().local_endpoint().port())});
    }
    return peers;
}

mortise::Config member(const std::vector<mortise::PeerConfig>& peers, std::size_t number,
                       const std::filesystem::path& directory) {
    mortise::Config config;
    config.cluster = "example";
    config.node_id = peers[number].id;
    config.listen = peers[number].address;
    config.peers = peers;
    config.data_dir = directory / std::to_string(config.node_id);
    return config;
}

}  // namespace

int main() {
    char name[] = "/tmp/mortise-example-XXXXXX";
    const std::filesystem::path directory = mkdtemp(name);
    const auto peers = free_addresses();
    std::array<std::optional<mortise::Node>, 3> nodes;
    for (std::size_t i = 0; i < nodes.size(); ++i)
        nodes[i].emplace(member(peers, i, directory));

    // The first start bootstraps the cluster as soon as all three nodes run.
    for (auto& node : nodes) {
        if (!node->wait_ready(std::chrono::steady_clock::now() + 30s)) return 1;
    }
    auto hold = nodes[0]->acquire("leader of the day");
    std::printf("node 1 holds it, token %s\n", to_string(hold.token()).c_str());
    std::printf("node 2 gets it: %s\n",
                nodes[1]->try_acquire("leader of the day") ? "yes" : "no, it is taken");

    nodes[0].reset();  // it releases its holds, and the other two are a majority
    auto next = nodes[1]->acquire("leader of the day");
    std::printf("node 1 is closed; node 2 holds it, token %s\n", to_string(next.token()).c_str());

    const bool risen = next.valid() && next.token() > hold.token();
    for (auto& node : nodes)
        node.reset();
    std::filesystem::remove_all(directory);
    return risen ? 0 : 1;
}
