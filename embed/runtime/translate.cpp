#include "embed/runtime/translate.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <tuple>

#include "core/client/client_core.hpp"
#include "core/locks/limits.hpp"
#include "core/node/node_options.hpp"
#include "embed/config/host_port.hpp"
#include "embed/holds/locker_state.hpp"
#include "embed/runtime/member_places.hpp"
#include "embed/values/holder.hpp"
#include "embed/values/origin.hpp"

namespace mortise::detail {

Errc errc_of(core::CallError error) {
    switch (error) {
        case core::CallError::timed_out: return Errc::timed_out;
        case core::CallError::cancelled: return Errc::cancelled;
        case core::CallError::session_expired: return Errc::session_expired;
        case core::CallError::lock_lost: return Errc::lock_lost;
        case core::CallError::not_held: return Errc::not_held;
        case core::CallError::outcome_unknown: return Errc::outcome_unknown;
        case core::CallError::no_quorum: return Errc::no_quorum;
        case core::CallError::resource_exhausted: return Errc::resource_exhausted;
        case core::CallError::kind_mismatch: return Errc::kind_mismatch;
        case core::CallError::node_stopped: return Errc::node_stopped;
        case core::CallError::deadlock: return Errc::deadlock;
        case core::CallError::invalid_argument: return Errc::invalid_argument;
    }
    return Errc::outcome_unknown;
}

Errc errc_of(core::MembershipRefusal refusal) {
    using Why = core::MembershipRefusal;
    switch (refusal) {
        case Why::leader_not_ready:
        case Why::change_in_progress:
        case Why::not_connected:
        case Why::not_caught_up:
        case Why::overtaken: return Errc::not_ready;
        case Why::not_leader:
        case Why::would_lose_quorum: return Errc::no_quorum;
        case Why::too_many_members: return Errc::resource_exhausted;
        case Why::too_old: return Errc::incompatible;
        case Why::not_allowed:
        case Why::not_a_members_certificate:
        case Why::not_a_voters_certificate: return Errc::permission_denied;
        case Why::unknown_member:
        case Why::already_member:
        case Why::already_voter:
        case Why::other_cluster:
        case Why::last_voter:
        case Why::invalid_address:
        case Why::not_a_voter: break;
    }
    return Errc::invalid_argument;
}

std::string reason_of(core::MembershipRefusal refusal) {
    using Why = core::MembershipRefusal;
    switch (refusal) {
        case Why::not_leader: return "no member leads the cluster now";
        case Why::leader_not_ready: return "the leader is new, or transferring leadership";
        case Why::change_in_progress: return "another change of the members is in progress";
        case Why::unknown_member: return "it is not a member of the cluster";
        case Why::already_member:
            return "a member with this id has another address: move it, or remove it first";
        case Why::already_voter: return "it is a voter already";
        case Why::not_connected:
            return "the leader and the new node do not reach each other: does it run, with the "
                   "present members as its peers, and is that its address?";
        case Why::other_cluster: return "its data directory belongs to another cluster";
        case Why::not_caught_up: return "it has not caught up with the leader";
        case Why::last_voter: return "it is the last voter";
        case Why::would_lose_quorum:
            return "too few of the members that would vote then answer now";
        case Why::too_many_members:
            return "the cluster has as many members, or as many voters, as it can have";
        case Why::invalid_address:
            return "the address is empty, too long, or that of another member";
        case Why::not_a_voter: return "it is not a voter, so it cannot lead";
        case Why::overtaken: return "the cluster was changed meanwhile: check its members first";
        case Why::too_old:
            return "it runs a version that does not read what the cluster has written: upgrade it";
        case Why::not_allowed:
            return "the certificate of the member that asks does not allow it to change the "
                   "members";
        case Why::not_a_members_certificate:
            return "its certificate has neither the role voter nor the role learner";
        case Why::not_a_voters_certificate:
            return "its certificate has only the role learner: a voter's certificate is needed";
    }
    return "refused";
}

// The enumerations have the same order.
QueuePolicy from_core(core::QueuePolicy policy) {
    return static_cast<QueuePolicy>(policy);
}
static_assert(static_cast<int>(core::QueuePolicy::fifo) == static_cast<int>(QueuePolicy::fifo));
static_assert(static_cast<int>(core::QueuePolicy::prefer_writers) ==
              static_cast<int>(QueuePolicy::prefer_writers));
static_assert(static_cast<int>(core::Predecessor::broken) == static_cast<int>(Predecessor::broken));
static_assert(static_cast<int>(core::Role::leader) == static_cast<int>(Standing::leader));

Standing from_core(core::Role role) {
    return static_cast<Standing>(role);
}

Durability from_core(core::Durability durability) {
    return durability == core::Durability::replicated ? Durability::replicated : Durability::synced;
}

NameKind from_core(core::RecordKind kind) {
    static_assert(static_cast<int>(NameKind::barrier) == static_cast<int>(core::last_record_kind));
    return static_cast<NameKind>(kind);
}

namespace {

std::string why_not_ready(const transport::MemberStatus& member) {
    if (!member.why_not_ready.empty()) return member.why_not_ready;
    if (!member.cluster.is_set())
        return "in no cluster yet: one is formed when every configured voter is up, and a learner "
               "waits until it is added to one";
    const bool is_member = std::ranges::any_of(
        member.members, [&](const auto& info) { return info.member.id == member.self; });
    if (member.removed || !is_member) return std::string{removed_in_words};
    return member.leader ? "no session is open yet" : "no leader is known";
}

}  // namespace

namespace {

ClosedBy closed_by(core::Closure::Kind kind) {
    switch (kind) {
        case core::Closure::Kind::min_hold: return ClosedBy::min_hold;
        case core::Closure::Kind::lock_delay: return ClosedBy::lock_delay;
        case core::Closure::Kind::broken:
        case core::Closure::Kind::max_hold:
        case core::Closure::Kind::era: break;  // these two keep no name closed
    }
    return ClosedBy::broken;
}

void add_closures_of(const core::LockView& view, LockInfo& info) {
    info.is_closed = view.is_closed;
    info.closed_under = from_core(view.closed_under);
    for (const auto& closing : view.closings) {
        const Duration left = closing.left ? Duration{*closing.left} : Duration::max();
        info.closures.push_back({closed_by(closing.kind), from_core(closing.token), left});
    }
}

void add_totals(const core::LockView& view, LockInfo& info) {
    info.holders_total = view.holders_total;
    info.waiters_total = view.waiters_total;
    info.closures_total = view.closings_total;
    info.truncated = info.holders_total > info.holders.size() ||
                     info.waiters_total > info.waiters.size() ||
                     info.closures_total > info.closures.size();
}

}  // namespace

namespace {

Duration or_unknown(std::optional<core::Nanoseconds> time) {
    return time ? Duration{*time} : Duration::max();
}

Origin origin_in(const core::LockView& view, core::SessionId session) {
    const auto* origin = view.origin_of(session);
    return origin == nullptr ? Origin{} : from_core(*origin);
}

HolderInfo holder_in(const core::LockView& view, const core::Grant& grant) {
    const auto session = grant.operation.session;
    const auto left = view.leases_left.find(session);
    auto holder = holder_of(grant, view.nodes.at(session));
    if (left != view.leases_left.end()) holder.lease_left = Duration{left->second};
    holder.age = or_unknown(view.age_of(grant.since));
    holder.origin = origin_in(view, session);
    return holder;
}

WaiterInfo waiter_in(const core::LockView& view, const core::LockView::Waiting& waiter) {
    const auto session = waiter.operation.session;
    return {view.nodes.at(session).raw(),
            session.raw(),
            waiter.label,
            from_core(waiter.mode),
            waiter.since.raw(),
            waiter.upgrades.is_set(),
            waiter.priority,
            waiter.permits,
            or_unknown(view.age_of(waiter.since)),
            origin_in(view, session)};
}

void put_kind(const core::Semaphore::View& semaphore, LockInfo& info) {
    info.limit.emplace(SemaphoreLimit{semaphore.permits, semaphore.version});
}

void put_kind(const core::Latch::View& latch, LockInfo& info) {
    info.latch.emplace(LatchCount{latch.remaining});
}

void put_kind(const core::Barrier::View& barrier, LockInfo& info) {
    info.barrier.emplace(
        BarrierPhase{barrier.parties, barrier.arrived, barrier.phase, barrier.is_broken});
    for (const auto& member : barrier.members)
        info.members.push_back(
            {member.node.raw(), member.session.raw(), member.parties, member.arrived});
}

}  // namespace

LockInfo from_core(const core::LockView& view) {
    LockInfo info;
    info.name = view.name;
    info.policy = from_core(view.policy);
    for (const auto& grant : view.holders)
        info.holders.push_back(holder_in(view, grant));
    for (const auto& waiter : view.waiters)
        info.waiters.push_back(waiter_in(view, waiter));
    add_closures_of(view, info);
    add_totals(view, info);
    if (view.value)
        info.value.emplace(LockValue{view.value->bytes, view.value->version, view.value->dirty});
    std::apply([&](const auto&... kind) { ((kind ? put_kind(*kind, info) : void()), ...); },
               view.kinds);
    return info;
}

std::vector<ErrorDetail::Wait> from_core(const std::vector<core::CycleStep>& cycle) {
    std::vector<ErrorDetail::Wait> steps;
    for (const auto& step : cycle) {
        auto who = step.label;
        if (who.empty()) who = in_words(step.node);
        if (step.label.empty() && step.locker != 0)
            who += ", locker " + std::to_string(step.locker);
        steps.push_back({std::move(who), step.waits_for});
    }
    return steps;
}

std::string in_words(core::NodeId node) {
    return node.is_set() ? "node " + std::to_string(node.raw()) : "a client";
}

std::string to_text(const core::ClusterId& cluster) {
    if (!cluster.is_set()) return {};
    std::string text(33, '\0');
    std::snprintf(text.data(), text.size(), "%016llx%016llx",
                  static_cast<unsigned long long>(cluster.high),
                  static_cast<unsigned long long>(cluster.low));
    text.pop_back();
    return text;
}

SessionInfo session_of(const core::SessionView& view) {
    SessionInfo info;
    info.id = view.id.raw();
    info.node = view.node.raw();
    info.label = view.label;
    info.age = view.age.value_or(view.known);
    info.origin = from_core(view.origin);
    info.ttl = std::chrono::milliseconds{view.ttl_ms};
    info.lease_left = view.left ? Duration{*view.left} : Duration::max();
    info.holds = view.holds;
    info.waits = view.waits;
    return info;
}

Status status_of(const transport::MemberStatus& member) {
    Status status;
    status.id = member.self.raw();
    status.cluster = member.cluster_name;
    status.cluster_id = to_text(member.cluster);
    status.standing = from_core(member.role);
    status.term = member.term.raw();
    if (member.leader) status.leader = member.leader->raw();
    status.commit_index = member.commit.raw();
    status.applied_index = member.applied.raw();
    status.first_index = member.log_first.raw();
    for (const auto& info : member.members) {
        const auto role = info.is_voter ? Role::voter : Role::learner;
        if (info.member.id == member.self) {
            status.role = role;
            status.address = info.member.address;
        }
        status.members.push_back({info.member.id.raw(), role, info.member.address,
                                  info.is_connected, info.match.raw(), info.is_leaving,
                                  info.member.incarnation.raw()});
    }
    if (member.session) status.session = member.session->raw();
    status.uptime = member.uptime;
    status.version = member.version;
    status.insecure = member.insecure;
    status.durability = from_core(member.durability);
    status.forgetful = member.is_forgetful;
    status.ready = member.ready;
    if (!member.ready) status.why_not_ready = why_not_ready(member);
    return status;
}

namespace {

// Zero if there is no limit; otherwise at least a millisecond.
std::uint32_t to_term(Duration term) {
    using std::chrono::milliseconds;
    if (!term.is_set()) return 0;
    return static_cast<std::uint32_t>(
        std::chrono::ceil<milliseconds>(term.to_nanoseconds()).count());
}

}  // namespace

core::Acquire to_request(const AcquireOptions& options, bool wait) {
    core::Acquire request;
    request.wait = wait;
    request.label = options.label;
    request.priority = static_cast<core::Priority>(options.priority);
    if (const auto locker = LockerState::of(options.locker)) request.locker = locker->tag();
    request.terms = {to_term(options.max_hold), to_term(options.min_hold),
                     to_term(options.lock_delay)};
    if (options.queue_policy) {
        request.policy = static_cast<core::QueuePolicy>(*options.queue_policy);
        request.policy_given = true;
    }
    return request;
}

namespace {

// Longer than the longest pause between two attempts of a member to connect.
constexpr core::Nanoseconds founding_pause = std::chrono::seconds{3};

// Whether members of a cluster can have the address of this node.
bool may_be_known(const Config& config) {
    const auto address = parse_host_port(config.listen);
    return address && address->port != 0 && !config.memory_only;
}

// Who forms the cluster. With a name of the peers that is said by the number alone, and no name
// server can change it; the others tell their addresses when they are found. A node beyond that
// number forms none.
std::vector<core::Member> voters_of(const Config& config) {
    std::vector<core::Member> voters;
    const core::NodeId self{config.own_id()};
    if (!config.peers_from.empty()) {
        for (NodeId id = 1; id <= config.expect && config.own_id() <= config.expect; ++id)
            voters.push_back({core::NodeId{id}, {}, id == config.own_id() ? config.listen : ""});
        return voters;
    }
    for (const auto& peer : config.peers)
        voters.push_back({core::NodeId{peer.id}, {}, peer.address});
    if (voters.empty()) voters.push_back({self, {}, config.listen});
    return voters;
}

}  // namespace

core::NodeOptions node_options(const Config& config) {
    core::NodeOptions options;
    options.self = core::NodeId{config.own_id()};
    if (config.role == Role::voter) {
        options.voters = voters_of(config);
        const auto own = std::ranges::find(options.voters, options.self, &core::Member::id);
        if (!config.advertise.empty() && own != options.voters.end())
            own->address = config.advertise;
        std::ranges::sort(options.voters, {}, &core::Member::id);
    }
    const auto& timing = config.timing;
    if (may_be_known(config)) options.founding_pause = founding_pause;
    options.election_timeout = timing.election_timeout.to_nanoseconds();
    options.heartbeat = timing.heartbeat.to_nanoseconds();
    options.session_ttl_ms =
        static_cast<std::uint32_t>(timing.session_ttl.to_nanoseconds().count() / 1'000'000);
    options.clock_rate_bound_ppm =
        static_cast<std::uint32_t>(std::lround(timing.clock_rate_bound * 1e6));
    options.cluster_name = config.cluster;
    options.durability = config.durability == Durability::replicated ? core::Durability::replicated
                                                                     : core::Durability::synced;
    options.call_timeout = timing.call_timeout.to_nanoseconds();
    options.log_bytes_max = config.limits.log_bytes;
    options.origin = own_origin();
    options.origin.address = config.advertise.empty() ? config.listen : config.advertise;
    options.origin = core::tidied(std::move(options.origin));
    return options;
}

core::ClientOptions client_options(const Config& config) {
    const auto as_member = node_options(config);
    core::ClientOptions options;
    options.members = places_of(config);
    options.election_timeout = as_member.election_timeout;
    options.session_ttl_ms = as_member.session_ttl_ms;
    options.clock_rate_bound_ppm = as_member.clock_rate_bound_ppm;
    options.call_timeout = as_member.call_timeout;
    options.origin = own_origin();
    return options;
}

}  // namespace mortise::detail
