// The members of the cluster. A configuration is in force from the moment its entry is appended,
// not when it commits (thesis 4.1): otherwise a node might campaign with a configuration that its
// leader has already replaced.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <vector>

#include "core/base/ids.hpp"
#include "core/raft/durability.hpp"

namespace mortise::core {

// It is random, and is created once, when the cluster is formed (S47).
struct ClusterId {
    std::uint64_t high = 0;
    std::uint64_t low = 0;

    [[nodiscard]] bool is_set() const { return high != 0 || low != 0; }
    // Tells clusters apart where there is no room for the id. Zero if the id is not set.
    [[nodiscard]] std::uint32_t mark() const;
    friend constexpr bool operator==(const ClusterId&, const ClusterId&) = default;
    friend constexpr auto operator<=>(const ClusterId&, const ClusterId&) = default;
};

struct Member {
    NodeId id;
    Incarnation incarnation;  // a wiped disk comes back with another one, which has no vote
    std::string address;

    friend bool operator==(const Member&, const Member&) = default;
};

constexpr std::size_t voters_max = 7;  // each of them has every entry on its disk
constexpr std::size_t members_max = 64;
constexpr std::size_t address_bytes_max = 512;

// An id may occur twice while a new incarnation replaces an old one. Then the id means the learner,
// or the voter if there is no such learner, or else the outgoing voter. The other entry counts as a
// member that never agrees.
struct Configuration {
    ClusterId cluster;
    std::vector<Member> voters;    // ascending ids, like the other lists
    std::vector<Member> outgoing;  // while joint: the voters of the old configuration; else empty
    std::vector<Member> learners;
    // The voters of the first entry, if the present voters are others. A voter that never received
    // the outcome of the bootstrap can learn it only from the first entry (S47), which the log does
    // not keep for ever.
    std::vector<Member> founders{};
    Durability durability = Durability::synced;

    [[nodiscard]] bool is_formed() const { return cluster.is_set(); }
    [[nodiscard]] bool is_joint() const { return !outgoing.empty(); }
    // Returns the configuration of the bootstrap.
    [[nodiscard]] Configuration founding() const;
    // Returns the member that the id means now. Null if there is none.
    [[nodiscard]] const Member* find(NodeId id) const;
    [[nodiscard]] bool is_current(const Member& member) const;
    // Returns whether the id means the member with this data directory.
    [[nodiscard]] bool has(NodeId id, Incarnation incarnation) const;
    // Returns whether any id means the member with this data directory.
    [[nodiscard]] bool has(Incarnation incarnation) const;
    // Returns whether the member that the id means has a vote.
    [[nodiscard]] bool is_voter(NodeId id) const;
    // Returns whether that member also has its vote when the present change is done or undone: in a
    // joint configuration it is a voter of both lists.
    [[nodiscard]] bool is_lasting_voter(NodeId id) const;
    [[nodiscard]] bool is_learner(NodeId id) const;
    // Returns the ids of all members, each once, in ascending order.
    [[nodiscard]] std::vector<NodeId> all() const;

    friend bool operator==(const Configuration&, const Configuration&) = default;
};

}  // namespace mortise::core
