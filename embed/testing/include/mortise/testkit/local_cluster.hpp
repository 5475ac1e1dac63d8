// A whole cluster in one process, with faults on demand, for tests of programs that use Mortise.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <mortise/certificates.hpp>
#include <mortise/config.hpp>
#include <mortise/duration.hpp>
#include <mortise/node.hpp>

namespace mortise::testkit {

// Sessions of two seconds, for tests that wait until a lease ends.
[[nodiscard]] TimingConfig quick_timing();

// The connections between the nodes: plain, or TLS with certificates of an authority that the
// cluster creates.
enum class Wire { plain, tls };
// Wire::tls if the environment variable MORTISE_TESTING_TLS is "1", so that a suite can run both
// ways; otherwise Wire::plain.
[[nodiscard]] Wire default_wire();

// Real nodes on loopback, with real disks in a temporary directory that is removed with the
// cluster. Nodes count from 0; their NodeId is one more. Faults are injected into the links between
// them. One thread at a time may call this object; its nodes are thread-safe as always.
//
//   mortise::testkit::LocalCluster cluster{3};
//   auto hold = cluster.node(0).acquire("orders/42");
//   cluster.isolate(0);  // hold.lost() fires, then another node can acquire it
//
// All members may block. They throw std::system_error when a node cannot start, and
// std::logic_error for a node that does not exist.
class LocalCluster {
public:
    // Returns when every node is ready. Throws std::runtime_error after a minute.
    explicit LocalCluster(std::size_t nodes, TimingConfig timing = {}, Wire wire = default_wire());
    // Closes the running nodes.
    ~LocalCluster();
    LocalCluster(LocalCluster&&) noexcept;
    LocalCluster& operator=(LocalCluster&&) noexcept;

    [[nodiscard]] std::size_t size() const noexcept;
    // Must not be called for a node that was killed.
    [[nodiscard]] Node& node(std::size_t index);
    [[nodiscard]] bool is_running(std::size_t index) const;
    // The node that most running nodes regard as the leader; empty while they do not agree.
    [[nodiscard]] std::optional<std::size_t> leader() const;
    // True once every running node is ready; false when `wait_max` ended first.
    [[nodiscard]] bool wait_ready(Duration wait_max);

    // Removes the node without an orderly close: its links are cut first, so that nothing it sends
    // while it closes arrives. Its holds end with node_stopped.
    void kill(std::size_t index);
    // Starts the node on its old directory, after killing it if it runs, and heals its links. Does
    // not wait until it is ready.
    void restart(std::size_t index);
    // Drops all bytes between this node and the others from now on.
    void isolate(std::size_t index);
    // All links between running nodes are whole again.
    void heal();

    [[nodiscard]] std::filesystem::path directory() const;

    // A certificate for a node that is to be added, for its Config::tls. Blocks on the disk.
    // Without TLS: an empty TlsConfig.
    [[nodiscard]] TlsConfig issue_node(NodeId id);
    // A certificate for a user, for Remote. Its files are below directory(). Blocks on the disk.
    // Without TLS: an empty TlsConfig.
    [[nodiscard]] TlsConfig issue_user(const std::string& name, std::vector<AccessRole> roles,
                                       std::vector<AccessRule> rules = {});

private:
    class Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace mortise::testkit
