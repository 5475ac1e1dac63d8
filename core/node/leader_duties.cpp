#include "core/node/leader_duties.hpp"

#include <algorithm>
#include <limits>

#include "core/codec/state_sum_codec.hpp"

namespace mortise::core {

namespace {

// The limit of writes that are not durable here yet. At the limit, new commands gather.
constexpr std::size_t writes_in_flight_max = 2;
// With no more than these under way, each command is proposed at once.
constexpr std::size_t few_commands = 2;
// The limit of entries in one write. Entries are small, so that each is applied quickly; a slow
// disk gets fewer and larger writes.
constexpr int entries_per_write_max = 32;
// The limit of commands that are in the log and not applied here. A later request, also one of
// another session, waits until all of them are applied, because only the fair queue takes sessions
// in turns. These are applied within some tens of milliseconds; the rest waits in the fair queue.
constexpr std::size_t unapplied_commands_max = 8 * entry_commands_max;
// The index of a Sweep that is not proposed yet: later than every other.
constexpr LogIndex some_time{std::numeric_limits<std::uint64_t>::max()};

}  // namespace

void LeaderDuties::begin_term() {
    uncommitted_ = {};
    unapplied_ = {};
    sweep_at_ = {};
    renewals_due_ = Instant::never();
    gives_way_at_ = Instant::never();
}

void LeaderDuties::sweep(LogIndex applied) {
    const bool sweeping = sweep_at_.is_set() && applied < sweep_at_;
    if (sweeping || !raft_.has_handed_out_own_term()) return;
    proposer_.add(Sweep{});
    sweep_at_ = some_time;
}

// A disk that does not keep up delays the whole cluster as long as its node leads. So the node
// transfers leadership to another one, and to the next if that does not help (P7, P10). A leader
// runs with each heartbeat, so this needs no timer of its own.
void LeaderDuties::give_way(Instant now) {
    if (saver_.takes_acquires()) {
        gives_way_at_ = Instant::never();
        return;
    }
    if (gives_way_at_ == Instant::never()) gives_way_at_ = now + options_.election_timeout;
    if (now < gives_way_at_ || raft_.is_transferring()) return;
    const auto next = next_to_lead(now);
    if (!next) return;
    gave_way_to_ = *next;
    // A transfer may take one timeout. If it fails, this node works for another one before it tries
    // again.
    gives_way_at_ = now + 2 * options_.election_timeout;
    raft_.transfer_to(*next, now);
}

// The next voter by id after the last target, which at first is this node, and then again from the
// lowest. So a new leader that lags as well continues with a node that had no turn yet.
std::optional<NodeId> LeaderDuties::next_to_lead(Instant now) const {
    std::optional<NodeId> first;
    for (const auto id : raft_.configuration().all()) {
        if (!raft_.configuration().is_voter(id) || !raft_.is_caught_up(id, now)) continue;
        if (id > gave_way_to_) return id;
        if (!first) first = id;
    }
    return first;
}

// Waits for the first commit of its term.
void LeaderDuties::propose_state_sum(StateComparison& comparison, Instant now) {
    const auto* sum = comparison.to_propose();
    if (sum == nullptr || !can_propose() || !raft_.has_handed_out_own_term()) return;
    if (raft_.propose(EntryKind::state_sum, encode_state_sum(*sum), now)) comparison.proposed(*sum);
}

void LeaderDuties::UnderWay::add(LogIndex index, std::size_t commands) {
    entries_.emplace_back(index, commands);
    commands_ += commands;
}

void LeaderDuties::UnderWay::got_there(LogIndex last) {
    for (; !entries_.empty() && entries_.front().first <= last; entries_.pop_front())
        commands_ -= entries_.front().second;
}

void LeaderDuties::propose_batches(LogIndex applied, Instant now) {
    if (!proposer_.has_renewals()) {
        renewals_due_ = Instant::never();  // the sessions of those that waited may have ended
    } else if (renewals_due_ == Instant::never()) {
        renewals_due_ = now + options_.heartbeat;
    }
    uncommitted_.got_there(raft_.commit_index());
    unapplied_.got_there(applied);
    if (patient_.are_due(applied, now)) {
        proposer_.hurry();
        patient_.clear();
    }
    // All entries of one step are one write: what follows gathers behind it.
    for (int entry = 0; entry < entries_per_write_max && propose_batch(now); ++entry) {
    }
}

// False if there is nothing more to propose now.
bool LeaderDuties::propose_batch(Instant now) {
    const bool due = proposer_.has_renewals() && now >= renewals_due_;
    // If an entry is made anyway, it takes the commands as well as the renewals.
    const bool all =
        saver_.takes_endings() && proposer_.has_commands() && (due || is_worth_an_entry());
    if ((!due && !all) || !can_propose()) return false;
    const auto commands = proposer_.commands();
    const auto newest = formats_.to_propose();
    auto batch = all ? proposer_.take_batch(newest) : proposer_.take_renewals(newest);
    const auto format = format_of(batch.payload);
    const auto index = raft_.propose(batch.kind, std::move(batch.payload), now);
    if (!index) return false;  // it has stepped down: the senders send again what was taken
    formats_.remember(format);
    if (all) patient_.clear();
    if (all && sweep_at_ == some_time) sweep_at_ = *index;
    const auto taken = commands - proposer_.commands();  // none if it only has renewals
    uncommitted_.add(*index, taken);
    unapplied_.add(*index, taken);
    if (!proposer_.has_renewals()) renewals_due_ = Instant::never();
    return true;
}

// An entry costs messages and a sync on each node, however many commands it has. So under load the
// commands gather until those under way are committed, or until they are twice as many as those:
// then they do not wait behind a small entry. Where little is under way nothing waits, so a single
// caller never waits for its own commands. Requests that only make a queue longer wait for others.
bool LeaderDuties::is_worth_an_entry() const {
    const bool is_full = proposer_.has_an_entry() || proposer_.commands() >= entry_commands_max;
    if (is_full || !proposer_.is_urgent()) return is_full;
    return uncommitted_.commands() <= few_commands ||
           proposer_.commands() >= 2 * uncommitted_.commands();
}

bool LeaderDuties::can_propose() const {
    return raft_.is_leader() && !raft_.is_transferring() &&
           raft_.writes_in_flight() < writes_in_flight_max &&
           unapplied_.commands() < unapplied_commands_max &&
           raft_.uncommitted_bytes() < options_.uncommitted_bytes_max && saver_.takes_entries();
}

// While nothing can be proposed a due time would only make the caller spin: the event that ends
// this is a step of its own.
Instant LeaderDuties::deadline() const {
    return can_propose() ? std::min(renewals_due_, patient_.deadline()) : Instant::never();
}

}  // namespace mortise::core
