// The service of this node for clients: the command line, and nodes with the role client. Transport
// calls it on the node's loop; embed implements it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/agent/call.hpp"
#include "core/node/message.hpp"
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

    friend bool operator==(const MemberStatus&, const MemberStatus&) = default;
};

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
    bool more = false;       // there are more names after the last of these
    bool truncated = false;  // some lock has more holders or waiters than are listed

    friend bool operator==(const ListReply&, const ListReply&) = default;
};

using ListAnswer = std::variant<ListReply, core::CallError, core::Denied>;

using ChangeAnswer =
    std::variant<core::Changed, core::MembershipRefusal, core::CallError, core::Denied>;

struct ForwardReply {
    bool taken = false;  // passed on; not more
    std::optional<core::NodeId> leader;

    friend bool operator==(const ForwardReply&, const ForwardReply&) = default;
};

// --- outcomes -----------------------------------------------------------------------------------

struct OutcomesRequest {
    core::LogIndex after;  // not set: from now on
    std::vector<core::SessionId> sessions;
    std::vector<std::uint64_t> nonces;  // and sessions opened under these, from then on

    friend bool operator==(const OutcomesRequest&, const OutcomesRequest&) = default;
};

struct OutcomeBatch {
    core::LogIndex index;
    core::Outcomes outcomes;

    friend bool operator==(const OutcomeBatch&, const OutcomeBatch&) = default;
};

enum class StreamEnd : std::uint8_t { unspecified, too_slow, position_gone, too_many, stopping };

// Implemented by transport; lives until stream_ended, unsubscribe or the end of the service.
class OutcomeSink {
public:
    virtual ~OutcomeSink() = default;
    // What concerns this stream of the entries up to `applied`, in the order of the log. Called
    // also when nothing does. Never blocks; may call unsubscribe.
    virtual void applied(core::LogIndex applied, std::vector<OutcomeBatch> batches) = 0;
    // The last call. The subscription is gone.
    virtual void ended(StreamEnd reason) = 0;
};

using SubscriptionId = core::Id<struct SubscriptionKind>;

struct Subscribed {
    SubscriptionId id;
    core::LogIndex applied;  // the stream begins behind this index
};

using SubscribeAnswer = std::variant<Subscribed, StreamEnd>;

class ClientService {
public:
    virtual ~ClientService() = default;

    [[nodiscard]] virtual MemberStatus status() const = 0;
    // Answered on the same thread, at once or later, exactly once unless the node stops.
    virtual void list(ListRequest request, std::function<void(ListAnswer)> answer) = 0;
    // The same. The caller's rights were checked before (client_rights.hpp).
    virtual void change(core::MembershipGoal goal, core::Nanoseconds patience,
                        std::function<void(ChangeAnswer)> answer) = 0;
    virtual void break_lock(core::BreakLock request, std::function<void(ChangeAnswer)> answer) = 0;
    // Commands are not decoded yet; the leader refuses what is malformed.
    [[nodiscard]] virtual ForwardReply forward(core::Forward forward) = 0;

    // The sink is called from later events on, not from within. It outlives the subscription.
    [[nodiscard]] virtual SubscribeAnswer subscribe(const OutcomesRequest& request,
                                                    OutcomeSink& sink) = 0;
    virtual void unsubscribe(SubscriptionId id) = 0;
};

}  // namespace mortise::transport
