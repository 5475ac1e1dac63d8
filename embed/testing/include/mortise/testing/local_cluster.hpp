// A whole cluster in one process, and trouble on demand: for the tests of programs that use
// Mortise.
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

namespace mortise::testing {

// For tests, where nobody wants to wait ten seconds for a lease to run out: sessions of two.
[[nodiscard]] TimingConfig quick_timing();

// What the nodes of a cluster say to each other: readable, or with TLS and certificates of an
// authority that the cluster makes for itself.
enum class Wire { plain, tls };
// Wire::tls if the environment variable MORTISE_TESTING_TLS is "1", so that a suite can be run both
// ways; otherwise Wire::plain.
[[nodiscard]] Wire default_wire();

// Real nodes on loopback, with real disks in a temporary directory that goes away with the cluster.
// Nodes count from 0; their NodeId is one more. Faults befall the links between them. One thread at
// a time may call this object; its nodes are as thread-safe as ever.
//
//   mortise::testing::LocalCluster cluster{3};
//   auto hold = cluster.node(0).acquire("orders/42");
//   cluster.isolate(0);  // hold.lost() fires, then somebody else can have it
//
// Everything blocks, and throws std::system_error when a node cannot start, std::logic_error for a
// node that there is not.
class LocalCluster {
public:
    // Returns when every node is ready. Throws std::runtime_error if that takes a minute.
    explicit LocalCluster(std::size_t nodes, TimingConfig timing = {}, Wire wire = default_wire());
    // Closes what is still running.
    ~LocalCluster();
    LocalCluster(LocalCluster&&) noexcept;
    LocalCluster& operator=(LocalCluster&&) noexcept;

    [[nodiscard]] std::size_t size() const noexcept;
    // Not of a node that was killed.
    [[nodiscard]] Node& node(std::size_t index);
    [[nodiscard]] bool is_running(std::size_t index) const;
    // Whom most running nodes take for it; empty while they do not agree.
    [[nodiscard]] std::optional<std::size_t> leader() const;
    // True once every running node is ready; false when that took longer than `wait_max`.
    [[nodiscard]] bool wait_ready(Duration wait_max);

    // The node is gone, and nobody is told: its links are cut before it closes, so that nothing it
    // says on its way out arrives. Holds of it turn node_stopped.
    void kill(std::size_t index);
    // Starts it on its old directory, killing it first if it runs. Its links are whole again. Does
    // not wait until it is ready.
    void restart(std::size_t index);
    // Bytes between this node and all others vanish from now on.
    void isolate(std::size_t index);
    // All links between running nodes are whole again.
    void heal();

    [[nodiscard]] std::filesystem::path directory() const;

    // A certificate for a node that is to be added, as its Config::tls. Blocks on the disk. Without
    // TLS, an empty TlsConfig.
    [[nodiscard]] TlsConfig issue_node(NodeId id);
    // A certificate for a user, for Remote; its directory is directory() and it goes away with
    // that. Blocks on the disk. Without TLS, an empty TlsConfig.
    [[nodiscard]] TlsConfig issue_user(const std::string& name, std::vector<AccessRole> roles,
                                       std::vector<AccessRule> rules = {});

private:
    class Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace mortise::testing
