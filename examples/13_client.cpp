// A client node: a process that locks without being a member of the cluster. It has no disk, no
// address and no id; it needs the addresses of the members, and uses one of them. When that one is
// gone it uses another, and keeps what it holds. A thousand such processes share three voters.
// Here the members live in the same process, so that nothing needs to be set up.
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

// The same in a file: cluster = "example", role = "client", and the peers.
mortise::Config client(const std::vector<mortise::PeerConfig>& peers) {
    mortise::Config config;
    config.cluster = "example";
    config.role = mortise::Role::client;
    config.peers = peers;
    return config;
}

bool is_ready(mortise::Node& node) {
    return node.wait_ready(std::chrono::steady_clock::now() + 30s);
}

}  // namespace

int main() {
    char name[] = "/tmp/mortise-example-XXXXXX";
    const std::filesystem::path directory = mkdtemp(name);
    const auto peers = free_addresses();
    std::array<std::optional<mortise::Node>, 3> members;
    for (std::size_t i = 0; i < members.size(); ++i)
        members[i].emplace(member(peers, i, directory));
    for (auto& one : members) {
        if (!is_ready(*one)) return 1;
    }

    mortise::Node node{client(peers)};
    if (!is_ready(node)) return 1;
    auto hold = node.acquire("orders/42");
    std::printf("the client holds it, token %s\n", to_string(hold.token()).c_str());
    std::printf("a member gets it: %s\n",
                members[1]->try_acquire("orders/42") ? "yes" : "no, it is taken");

    members[0].reset();  // if the client used this member, it goes to another one
    hold.confirm(std::chrono::steady_clock::now() + 30s);
    std::printf("a member is closed; the client %s\n", hold.valid() ? "still holds it" : "lost it");

    const bool kept = hold.valid() && !hold.lost().stop_requested();
    const bool released = !hold.release();
    node.close();
    for (auto& one : members)
        one.reset();
    std::filesystem::remove_all(directory);
    return kept && released ? 0 : 1;
}
