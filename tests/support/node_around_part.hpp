// What a part of a node is given, without the node: one of three voters that know each other, its
// peers and its state. A test changes these by hand, and asks the part alone.
#pragma once

#include "core/node/peers.hpp"
#include "core/node/state_saver.hpp"
#include "tests/support/node_fixture.hpp"

namespace mortise::core::test {

// Node 1, which leads once it is elected. Time stands still between calls of beat().
struct NodeAroundPart {
    explicit NodeAroundPart(const NodeOptions& given = node_options(1, {1, 2, 3}))
        : options{given} {}

    void elect() { cluster.elect(n1); }
    void beat() { cluster.beat(n1); }
    [[nodiscard]] const Raft& raft() { return cluster[n1].raft(); }
    [[nodiscard]] Instant now() { return cluster[n1].now; }
    void meet(const Hello& hello) { peers.hear(hello, {}); }
    // A member that belongs to the cluster, by its own hello.
    [[nodiscard]] Hello member_hello(NodeId id) {
        Hello hello{id, {member(id.raw()).incarnation, BootEpoch{1}}, {}, {}};
        hello.cluster = raft().configuration().cluster;
        return hello;
    }

    // Applied with the next entry, whatever the log has.
    void apply(const Command& command) {
        applied = applied.next();
        Outcomes outcomes;
        machine.apply(applied, {command}, outcomes);
    }
    // A session of that node, opened in the machine.
    SessionId open(NodeId id, std::uint32_t ttl_ms = 10'000) {
        apply(opening_of(id, ttl_ms));
        return machine.sessions().newest();
    }

    NodeOptions options;
    RaftCluster cluster{1, 2, 3};
    LockMachine machine;
    LogIndex applied{1};
    Peers peers{options, raft()};
    StateSaver saver{options, raft(), LogIndex{1}};
};

}  // namespace mortise::core::test
