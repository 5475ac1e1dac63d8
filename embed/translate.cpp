#include "embed/translate.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "core/locks/limits.hpp"

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
    }
    return Errc::outcome_unknown;
}

// The enumerations have the same order.
QueuePolicy from_core(core::QueuePolicy policy) {
    return static_cast<QueuePolicy>(policy);
}
static_assert(static_cast<int>(core::QueuePolicy::fifo) == static_cast<int>(QueuePolicy::fifo));
static_assert(static_cast<int>(core::Predecessor::broken) == static_cast<int>(Predecessor::broken));
static_assert(static_cast<int>(core::Role::leader) == static_cast<int>(Standing::leader));

Standing from_core(core::Role role) {
    return static_cast<Standing>(role);
}

namespace {

std::string why_not_ready(const transport::MemberStatus& member) {
    if (!member.cluster.is_set())
        return "the cluster is not formed yet: every configured voter must be up once";
    return member.leader ? "no session is open yet" : "no leader is known";
}

}  // namespace

Previous from_core(const core::Previous& previous) {
    return {static_cast<Predecessor>(previous.how), previous.label,
            FencingToken::from_raw(static_cast<std::int64_t>(previous.token.raw()))};
}

LockInfo from_core(const core::LockView& view) {
    LockInfo info;
    info.name = view.name;
    info.policy = from_core(view.policy);
    for (const auto& grant : view.holders) {
        const auto session = grant.operation.session;
        info.holders.push_back(
            {view.nodes.at(session).raw(), session.raw(), grant.label, from_core(grant.mode),
             FencingToken::from_raw(static_cast<std::int64_t>(grant.token.raw())),
             grant.since.raw(), false});
    }
    for (const auto& waiter : view.waiters) {
        const auto session = waiter.operation.session;
        info.waiters.push_back({view.nodes.at(session).raw(), session.raw(), waiter.label,
                                from_core(waiter.mode), waiter.since.raw()});
    }
    return info;
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
    for (const auto& info : member.members) {
        const auto role = info.is_voter ? Role::voter : Role::learner;
        if (info.member.id == member.self) {
            status.role = role;
            status.address = info.member.address;
        }
        status.members.push_back(
            {info.member.id.raw(), role, info.member.address, info.is_connected, info.match.raw()});
    }
    if (member.session) status.session = member.session->raw();
    status.uptime = member.uptime;
    status.version = member.version;
    status.ready = member.ready;
    if (!member.ready) status.why_not_ready = why_not_ready(member);
    return status;
}

std::error_code check_request(std::string_view name, const AcquireOptions& options) {
    const bool sound = core::is_valid_name(name) && options.label.size() <= core::label_bytes_max &&
                       options.mode <= LockMode::exclusive;
    const bool later = options.max_hold.is_set() || options.min_hold.is_set() ||
                       options.progress_timeout.is_set() || options.lock_delay.is_set() ||
                       options.priority != 0 || options.on_uncertain != OnUncertain::lose ||
                       options.on_at_risk || options.on_suspended || options.on_contended;
    const bool policy_known = !options.queue_policy || *options.queue_policy <= QueuePolicy::fifo;
    return sound && !later && policy_known ? std::error_code{} : Errc::invalid_argument;
}

core::Acquire to_request(std::string_view name, const AcquireOptions& options, bool wait) {
    core::Acquire request;
    request.name = name;
    request.mode = to_core(options.mode);
    request.wait = wait;
    request.label = options.label;
    if (options.queue_policy) {
        request.policy = static_cast<core::QueuePolicy>(*options.queue_policy);
        request.policy_given = true;
    }
    return request;
}

core::NodeOptions node_options(const Config& config) {
    core::NodeOptions options;
    options.self = core::NodeId{config.own_id()};
    for (const auto& peer : config.peers)
        options.voters.push_back({core::NodeId{peer.id}, {}, peer.address});
    if (options.voters.empty()) options.voters.push_back({options.self, {}, config.listen});
    std::ranges::sort(options.voters, {}, &core::Member::id);
    const auto& timing = config.timing;
    options.election_timeout = timing.election_timeout.to_nanoseconds();
    options.heartbeat = timing.heartbeat.to_nanoseconds();
    options.session_ttl_ms =
        static_cast<std::uint32_t>(timing.session_ttl.to_nanoseconds().count() / 1'000'000);
    options.clock_rate_bound_ppm =
        static_cast<std::uint32_t>(std::lround(timing.clock_rate_bound * 1e6));
    options.call_timeout = timing.call_timeout.to_nanoseconds();
    options.log_bytes_max = config.limits.log_bytes;
    return options;
}

}  // namespace mortise::detail
