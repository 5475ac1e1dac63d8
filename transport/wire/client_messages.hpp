// The messages between clients and members, as plain values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/agent/call.hpp"
#include "core/client/member_balance.hpp"
#include "core/locks/machine/session_view.hpp"
#include "core/observe/activity_view.hpp"
#include "core/observe/observed.hpp"
#include "core/raft/configuration.hpp"
#include "core/raft/role.hpp"

namespace mortise::transport {

struct MemberInfo {
    core::Member member;
    bool is_voter = true;  // otherwise a learner
    bool is_connected = false;
    core::LogIndex match;  // on the leader
    bool is_leaving = false;

    friend bool operator==(const MemberInfo&, const MemberInfo&) = default;
};

struct MemberStatus {
    core::NodeId self;
    core::ClusterId cluster;
    core::Role role = core::Role::follower;
    bool ready = false;
    core::Term term;
    std::optional<core::NodeId> leader;
    core::LogIndex commit;
    core::LogIndex applied;
    core::LogIndex log_first;
    core::LogIndex log_last;
    std::vector<MemberInfo> members;  // ascending
    std::uint64_t sessions = 0;
    std::uint64_t names = 0;
    core::Nanoseconds uptime{};
    std::string version;
    std::string cluster_name;
    std::optional<core::SessionId> session;  // of the member's own program
    bool insecure = false;                   // other machines reach it, without TLS
    std::string why_not_ready;  // empty: nothing beyond the other members of this struct
    bool removed = false;       // it knows that it is not a member any more
    core::MemberLoad load;      // by client nodes
    core::Durability durability = core::Durability::synced;  // of its cluster
    bool is_forgetful = false;  // it may lack entries that it has acknowledged

    friend bool operator==(const MemberStatus&, const MemberStatus&) = default;
};

// The answer to a request, or why there is none.
template <class Reply>
using ClientAnswer = std::variant<Reply, core::CallError, core::Denied>;

// Lists names with `prefix` that are greater than `after`; or, as inspect, the name `prefix`
// itself.
struct ListRequest {
    std::string prefix;
    std::string after;
    std::size_t limit = 1;
    bool local = false;
    bool is_exact = false;

    friend bool operator==(const ListRequest&, const ListRequest&) = default;
};

struct ListReply {
    std::vector<core::LockView> locks;
    bool more = false;  // ask again, after the last name of these

    friend bool operator==(const ListReply&, const ListReply&) = default;
};

using ListAnswer = ClientAnswer<ListReply>;

// The next changes for the observer of this connection.
struct ObserveRequest {
    core::ObservedNames names;
    core::Position from;
    bool continues = false;  // the members above do not count
    core::Nanoseconds patience{};
};

struct ObserveReply {
    std::vector<core::Observed> events;
    core::Position reached;  // everything up to here was told; not set while a state is told
    bool more = false;       // the next request is answered at once
    bool is_ready = false;   // otherwise the member may be far behind the others
};

using ObserveAnswer = ClientAnswer<ObserveReply>;

struct SessionsRequest {
    core::SessionId after;
    std::size_t limit = 1;
    bool local = false;

    friend bool operator==(const SessionsRequest&, const SessionsRequest&) = default;
};

struct SessionsReply {
    std::vector<core::SessionView> sessions;
    bool more = false;

    friend bool operator==(const SessionsReply&, const SessionsReply&) = default;
};

using SessionsAnswer = ClientAnswer<SessionsReply>;

using ActivityAnswer = ClientAnswer<core::ActivityView>;

using ChangeAnswer =
    std::variant<core::Changed, core::MembershipRefusal, core::CallError, core::Denied>;

}  // namespace mortise::transport
