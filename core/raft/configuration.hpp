// Who belongs to the cluster. In force from the moment its entry is appended, not when it commits
// (thesis 4.1): a node may otherwise campaign with a membership its leader already left behind.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <vector>

#include "core/base/ids.hpp"

namespace mortise::core {

// Random, minted once when the cluster is formed (S47).
struct ClusterId {
    std::uint64_t high = 0;
    std::uint64_t low = 0;

    [[nodiscard]] bool is_set() const { return high != 0 || low != 0; }
    friend constexpr bool operator==(const ClusterId&, const ClusterId&) = default;
    friend constexpr auto operator<=>(const ClusterId&, const ClusterId&) = default;
};

struct Member {
    NodeId id;
    Incarnation incarnation;  // a wiped disk comes back with another one, and is nobody's voter
    std::string address;

    friend bool operator==(const Member&, const Member&) = default;
};

constexpr std::size_t members_max = 64;
constexpr std::size_t address_bytes_max = 512;

// An id may be there twice while a new incarnation takes the place of an old one: the learner is
// then who answers to it, else the voter, else who is being left. The other one is gone: it counts
// as a member who never agrees.
struct Configuration {
    ClusterId cluster;
    std::vector<Member> voters;    // ascending ids, as the other lists
    std::vector<Member> outgoing;  // the voters being left, while joint; else empty
    std::vector<Member> learners;
    // The voters of the founding entry, once others are configured than founded: a voter that was
    // never told is told by that entry only (S47), which the log does not keep for ever.
    std::vector<Member> founders{};

    [[nodiscard]] bool is_formed() const { return cluster.is_set(); }
    [[nodiscard]] bool is_joint() const { return !outgoing.empty(); }
    // What the cluster began with.
    [[nodiscard]] Configuration founding() const;
    // Who answers to the id now.
    [[nodiscard]] const Member* find(NodeId id) const;
    [[nodiscard]] bool is_current(const Member& member) const;
    // Has this id, with this very directory.
    [[nodiscard]] bool has(NodeId id, Incarnation incarnation) const;
    // Who answers to the id has a vote.
    [[nodiscard]] bool is_voter(NodeId id) const;
    [[nodiscard]] bool is_learner(NodeId id) const;
    // Everybody who gets the log, once each, ascending.
    [[nodiscard]] std::vector<NodeId> all() const;

    friend bool operator==(const Configuration&, const Configuration&) = default;
};

}  // namespace mortise::core
