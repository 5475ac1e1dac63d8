// The identity in a certificate, and what the certificate allows. This file knows the names (SAN
// URIs) in a certificate; transport reads certificates and checks their signatures.
//
//   mortise://CLUSTER/node/ID            the member with that id
//   mortise://CLUSTER/user/NAME          a person or a program that is not a member
//   mortise://CLUSTER/role/ROLE          voter, learner, client, observer or admin
//   mortise://CLUSTER/may/RIGHT/PREFIX   a rule; RIGHT is acquire, break or observe
//   mortise://CLUSTER/may/members        the rule for changes of the membership
//
// A certificate names exactly one node or one user and at least one role. Without rules it has the
// rights of its roles, on every name. With rules it has only the rights that both a rule and a role
// give. A URI of this scheme that this version does not understand makes the whole certificate
// invalid, because it may be a restriction.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/ids.hpp"
#include "core/base/result.hpp"

namespace mortise::core {

constexpr std::size_t cluster_name_bytes_max = 64;
constexpr std::size_t user_name_bytes_max = 56;
constexpr std::size_t access_rules_max = 64;          // of one certificate
constexpr std::size_t access_prefix_bytes_max = 512;  // as long as the longest name

enum class AccessRole : std::uint8_t { voter, learner, client, observer, admin };

enum class Right : std::uint8_t {
    acquire,
    break_lock,
    observe,  // list, inspect, and the event streams
    members,  // add, promote and remove members, transfer leadership
};

[[nodiscard]] std::string_view to_string(AccessRole role);
// The word that stands for the right in a rule.
[[nodiscard]] std::string_view to_string(Right right);

// Allows one right on the names that begin with the prefix; an empty prefix means every name. For
// Right::members the prefix is empty.
struct AccessRule {
    Right right = Right::acquire;
    std::string prefix;

    friend bool operator==(const AccessRule&, const AccessRule&) = default;
};

// What a certificate allows, without the name of its owner.
struct Access {
    std::vector<AccessRole> roles;  // ascending, each once
    std::vector<AccessRule> rules;

    // Allows everything. A cluster without TLS grants this to every connection.
    [[nodiscard]] static Access all();

    [[nodiscard]] bool has(AccessRole role) const;
    // Whether the right is allowed on this name. For Right::members the name is empty.
    [[nodiscard]] bool may(Right right, std::string_view name) const;
    // Whether the right is allowed on every name with this prefix.
    [[nodiscard]] bool may_all(Right right, std::string_view prefix) const;
    // Whether everything that `other` allows is allowed by this access too.
    [[nodiscard]] bool covers(const Access& other) const;

    friend bool operator==(const Access&, const Access&) = default;
};

struct Identity {
    std::string cluster;
    NodeId node;       // set: the owner is a member
    std::string user;  // otherwise the name of the user
    Access access;

    // "node 3" or "user alice": for messages, and for the log of commands.
    [[nodiscard]] std::string name() const;

    friend bool operator==(const Identity&, const Identity&) = default;
};

// The identity in the SAN URIs of a certificate, in any order. URIs of other schemes are skipped.
// The error says in one sentence what is wrong or missing.
[[nodiscard]] Result<Identity> identity_from(const std::vector<std::string>& uris);
// The reverse. Requires what identity_from() demands.
[[nodiscard]] std::vector<std::string> uris_of(const Identity& identity);

// 1 to 64 letters, digits, '.', '_' and '-'.
[[nodiscard]] bool is_cluster_name(std::string_view name);
// 1 to 56 letters, digits, '.', '_', '-' and '@'.
[[nodiscard]] bool is_user_name(std::string_view name);

}  // namespace mortise::core
