#include "core/node/quorum_timers.hpp"

#include <algorithm>
#include <utility>

namespace mortise::core {

namespace {

constexpr int grace_heartbeats = 3;
// The permits of a rate limiter run out one after the other: one report has those of this time.
constexpr Nanoseconds report_gathers = std::chrono::milliseconds{4};
constexpr std::size_t run_outs_per_reply_max = 1'024;

template <class Timer>
std::vector<Timer> first_of(const std::set<Timer>& run_out) {
    const auto told = std::min(run_out.size(), run_outs_per_reply_max);
    return {run_out.begin(), std::next(run_out.begin(), static_cast<std::ptrdiff_t>(told))};
}

}  // namespace

// --- the effects of applied entries -------------------------------------------------------------

void QuorumTimers::restart(const SavedCountdowns& saved, Instant now) {
    restart_leases(saved, now);
    restart_closures(saved, now);
}

void QuorumTimers::restart_leases(const SavedCountdowns& saved, Instant now) {
    saved_leases_.clear();
    for (const auto& one : saved.leases)
        saved_leases_[one.timer.session] = one;
    leases_ = {};
    const auto known = std::exchange(known_since_, {});
    for (const auto& [id, session] : machine_.sessions().all()) {
        const auto found = known.find(id);
        known_since_[id] = found == known.end() ? now : found->second;
        leases_.start({id, session.renewed_at}, lease_times(session.opened), saved_elapsed(session),
                      now);
    }
}

// A closure counts from when the entry at `since` was applied. For a broken hold this entry is a
// renewal: then a closure without a saved value begins with what this node has counted for the
// lease of that renewal, if it still runs. Otherwise it begins at zero.
void QuorumTimers::restart_closures(const SavedCountdowns& saved, Instant now) {
    std::map<ClosureId, Nanoseconds> known;
    for (const auto& one : saved.closures)
        known[one.timer] = one.elapsed;
    closures_ = {};
    for (const auto& [name, closures] : machine_.table().closures().all()) {
        for (const auto& closure : closures) {
            const auto found = known.find(closure.id);
            const auto elapsed = found != known.end()
                                     ? found->second
                                     : leases_.elapsed({closure.hold.session, closure.since}, now);
            closures_.start(closure.id, closure_times(closure.time_ms, closure.rho_ppm), elapsed,
                            now);
        }
    }
    if (const auto& closing = machine_.eras().closing) {
        const auto found = known.find(closing->id);
        closures_.start(closing->id, closure_times(closing->time_ms, closing->rho_ppm),
                        found != known.end() ? found->second : Nanoseconds{}, now);
    }
}

// A countdown continues from its saved value, or begins: it has never elapsed already (S4).
Nanoseconds QuorumTimers::saved_elapsed(const Session& session) const {
    const auto saved = saved_leases_.find(session.id);
    const bool same =
        saved != saved_leases_.end() && saved->second.timer.renewed_at == session.renewed_at;
    return same ? saved->second.elapsed : Nanoseconds{};
}

void QuorumTimers::renewed(SessionId id, Instant now) {
    const auto* session = machine_.sessions().find(id);
    if (session == nullptr) return;  // ended later in the same entry
    known_since_.try_emplace(id, now);
    leases_.stop(id);
    leases_.start({id, session->renewed_at}, lease_times(session->opened), saved_elapsed(*session),
                  now);
    lease_votes_.forget(id);
}

void QuorumTimers::ended(SessionId id) {
    known_since_.erase(id);
    leases_.stop(id);
    lease_votes_.forget(id);
}

// The closure of a broken hold counts from when the renewal was applied, not from the break.
void QuorumTimers::begun(const ClosureBegun& closure, Instant now) {
    closures_.start(closure.closure, closure_times(closure.time_ms, closure.rho_ppm),
                    leases_.elapsed({closure.hold.session, closure.since}, now), now);
}

void QuorumTimers::ended(ClosureId id) {
    closures_.stop(id);
    closure_votes_.forget(id);
}

// --- a voter's part -----------------------------------------------------------------------------

void QuorumTimers::advance(Instant now) {
    leases_.advance(now);
    const auto known = closures_.run_out().size();
    closures_.advance(now);
    if (closures_.run_out().size() != known)
        report_at_ = std::min(report_at_, now + report_gathers);
}

// With the next heartbeat a name would open up to a heartbeat too late.
bool QuorumTimers::take_due_report(Instant now) {
    if (now < report_at_) return false;
    report_at_ = Instant::never();
    return true;
}

void QuorumTimers::report_in(AppendReply& reply) const {
    reply.run_out = first_of(leases_.run_out());
    reply.closures_run_out = first_of(closures_.run_out());
}

std::optional<Nanoseconds> QuorumTimers::left(ClosureId closure, Instant now) const {
    return closures_.left(closure, now);
}

std::optional<Nanoseconds> QuorumTimers::left(SessionId session, Instant now) const {
    const auto* const found = machine_.sessions().find(session);
    if (found == nullptr) return std::nullopt;
    return leases_.left({session, found->renewed_at}, now);
}

Nanoseconds QuorumTimers::known(SessionId session, Instant now) const {
    const auto found = known_since_.find(session);
    return found == known_since_.end() ? Nanoseconds{} : now - found->second;
}

SavedCountdowns QuorumTimers::save(LogIndex applied, Instant now) const {
    SavedCountdowns all{leases_.save(now), closures_.save(now)};
    // After a start: leases that were saved for a renewal that is yet to be applied again stay.
    const auto is_ahead = [&](const auto& saved) { return saved.timer.renewed_at > applied; };
    std::erase_if(all.leases, [&](const auto& one) {
        const auto saved = saved_leases_.find(one.timer.session);
        return saved != saved_leases_.end() && is_ahead(saved->second);
    });
    for (const auto& [session, saved] : saved_leases_) {
        if (is_ahead(saved)) all.leases.push_back(saved);
    }
    return all;
}

std::optional<SavedCountdowns> QuorumTimers::take_due_save(LogIndex applied, Instant now) {
    if (now < std::min(leases_.save_at(), closures_.save_at())) return std::nullopt;
    auto all = save(applied, now);
    leases_.saved(now);
    closures_.saved(now);
    return all;
}

Instant QuorumTimers::deadline() const {
    return std::min({leases_.deadline(), closures_.deadline(), report_at_});
}

// --- a leader's part ----------------------------------------------------------------------------

void QuorumTimers::reported(NodeId by, const AppendReply& reply) {
    lease_votes_.report(by, reply.run_out);
    closure_votes_.report(by, reply.closures_run_out);
}

void QuorumTimers::begin_term() {
    lease_votes_.clear();
    closure_votes_.clear();
}

// Grace (S4): a new leader, or one that lost contact, first lets renewals arrive; and it judges no
// session before it has applied what earlier leaders committed.
bool QuorumTimers::may_end_any(Instant now) const {
    const auto grace = options_.heartbeat * grace_heartbeats;
    return now >= raft_.contact_since() + grace && raft_.has_handed_out_own_term();
}

std::vector<Command> QuorumTimers::commands_that_end_timers(const Proposer& proposer, Instant now) {
    if (!may_end_any(now)) return {};
    std::vector<Command> ends;
    const auto is_newest = [&](const RenewedLease& lease) {
        return machine_.sessions().is_newest_renewal(lease.session, lease.renewed_at);
    };
    const auto may_end = [&](const RenewedLease& lease) {
        return !proposer.has_renewal_of(lease.session);
    };
    for (const auto& lease : lease_votes_.decide(
             {raft_.configuration(), options_.self, leases_.run_out()}, is_newest, may_end))
        ends.emplace_back(Expire{lease.session, lease.renewed_at});
    const auto is_there = [&](ClosureId id) {
        const auto& era = machine_.eras().closing;
        return (era && era->id == id) || machine_.table().closures().find(id).has_value();
    };
    for (const auto closure : closure_votes_.decide(
             {raft_.configuration(), options_.self, closures_.run_out()}, is_there))
        ends.emplace_back(EndClosure{closure});
    return ends;
}

}  // namespace mortise::core
