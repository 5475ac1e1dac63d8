// The actions of one step: the event is handled, the log progresses, committed entries are applied,
// and this node's messages and answers are collected.
#include "core/node/node_core.hpp"

#include <algorithm>
#include <iterator>

#include "core/base/check.hpp"
#include "core/base/overloaded.hpp"
#include "core/node/commit_audience.hpp"
#include "core/observe/activity.hpp"

namespace mortise::core {

namespace {

RaftOptions raft_options(const NodeOptions& options) {
    RaftOptions raft;
    raft.self = options.self;
    raft.incarnation = options.generation.incarnation;
    raft.snapshot_bytes_max = options.snapshot_bytes_max;
    raft.decided_bytes_max = options.apply_bytes_max;
    raft.election_timeout = options.election_timeout;
    raft.heartbeat = options.heartbeat;
    raft.tells_every_commit = false;
    return raft;
}

// The last of many checks of the proposer's checksum: a change in memory since then is detected
// here. Otherwise it would exist on one replica only.
void check_intact(const Entry& entry) {
    if (is_intact(entry)) return;
    throw InvariantBroken{"entry " + std::to_string(entry.id.index.raw()) +
                          " was damaged in memory: it is not what was proposed"};
}

AgentOptions agent_options(const NodeOptions& options) {
    return {options.self,
            options.generation,
            options.former_life_ended,
            options.session_ttl_ms,
            options.clock_rate_bound_ppm,
            options.call_timeout,
            options.election_timeout,
            options.election_timeout,
            options.access,
            options.window,
            options.heartbeat,
            AgentOptions{}.batch_bytes,
            options.knows_origins() ? options.origin : Origin{}};
}

}  // namespace

NodeCore::NodeCore(NodeOptions options, NodeState state, Now now)
    : options_{std::move(options)},
      prng_{options_.seed},
      raft_{raft_options(options_), std::move(state.raft), Prng{prng_.next()}, now.steady},
      machine_{std::move(state.machine)},
      applied_{raft_.commit_index()},
      changes_{applied_, options_.changes_kept},
      activity_{
          std::make_unique<Activity>(options_.prefixes, machine_.table(), applied_, now.steady)},
      agent_{agent_options(options_), Prng{prng_.next()}, now},
      peers_{options_, raft_},
      own_life_{options_, raft_, peers_},
      own_memory_{options_, raft_},
      bootstrap_{options_, raft_, peers_, state.former_cluster},
      formats_{options_, raft_, peers_},
      clock_{machine_, raft_.log().last().index, now},
      membership_{options_, peers_, formats_, raft_},
      saver_{options_, raft_, applied_},
      installer_{options_},
      comparison_{options_},
      timers_{options_, raft_, machine_},
      call_desk_{options_, machine_, timers_, clock_, agent_, contentions_},
      clients_{options_, machine_, contentions_},
      intake_{options_, raft_, machine_, peers_, saver_},
      duties_{options_, saver_, raft_, intake_.proposer(), intake_.patient(), formats_} {
    MORTISE_CHECK(options_.self.is_set() && options_.generation.incarnation.is_set());
    timers_.restart(state.countdowns, now.steady);
    note_cluster();
    note_format_of_state();
}

// The log that made it may be purged.
void NodeCore::note_format_of_state() {
    if (!machine_.clock().is_empty()) formats_.remember(command_format_of_origins);
    if (!machine_.eras().is_empty()) formats_.remember(command_format_of_ceilings);
}

NodeCore::~NodeCore() = default;

// After an era there are other changes at places that observers may have been told of.
void NodeCore::note_cluster() {
    const auto mark = raft_.configuration().cluster.mark();
    const auto later = mark + static_cast<std::uint32_t>(machine_.eras().begun);
    changes_.belongs_to(mark != 0 && later == 0 ? 1 : later);
}

// The order was tried out: each action was moved up by one place, and some to places further away.
// The unit tests fail unless 6 comes before 7 and 8, 8 before 9, 9 before 12 and 22, 11 before 13,
// 12 before 13, 13 before 15 and 20, 14 before 15, and 16 before 17. They notice no other move that
// was tried: other reasons that are given here come from reading the code.
Effects NodeCore::step(Event event, Now now) {
    // 1. deadline() returns it when the next step is due at once.
    stepped_at_ = now.steady;
    // 2. A lease that ran out is noticed before an event or an outcome finds its holds.
    agent_.begin(now);
    // 3. Action 17 of the previous step found the removal, too late for its 13. So deadline() asked
    // for this step at once.
    if (std::exchange(was_removed_, false)) agent_.on_removed();
    // 4. A leader that slept steps down before anything is done in its name.
    raft_.begin_event(now.steady);
    // 5. The event may bring entries, which are refused without capacity.
    raft_.set_room(saver_.takes_entries());
    // 6. The actions below do what it makes necessary, once, whatever the event was.
    take(event, now);
    // 7. The event may be the last hello or answer that was missing.
    form_if_unanimous(now);
    // 8. After 6: one question for all its calls. Before 9, which has the answer at once where no
    // other voter has to agree.
    ask_leader(now);
    // 9. After 6, which commits. Everything below goes by the new state.
    take_decided(now);
    // 10. After 6 and 9, which may have brought a later start of a peer or of this node. A doubted
    // leader steps down, which 11 notices.
    judge_peers(now);
    judge_own_life(now);
    // 11. After all that may change the leader. Before 13 and 15: nothing of a former term is sent
    // or proposed.
    watch_leadership(now);
    // 12. After 9, up to which reads are answered. Before 13, because a try that is not busy
    // becomes a request.
    answer_reads(now);
    // 13. After 6, 9 and 12, which make requests. Before 15: a leader proposes its own at once.
    auto agent = agent_.collect(now);
    forward_requests(std::move(agent.forwards));
    forward_requests(clients_.take_forwards());
    // 14. After 9, which renews leases. Before 15, which ends them, and 17, which reports them.
    timers_.advance(now.steady);
    if (timers_.take_due_report(now.steady)) raft_.reply_early(now.steady);
    // 15. After 13 and 14, whose results it proposes.
    if (raft_.is_leader()) lead(now);
    // 16. After 15, because a leader that hands leadership over proposes nothing more. Before 17,
    // which sends and writes the change that begins here.
    membership_.ask(call_desk_.changes(), effects_, now.steady);
    // 17. After all that appends or asks something: one write, one message for each peer.
    take_raft_output(now);
    // 18. After 17, which may begin the second half of a change.
    effects_.peers = membership_.take_changed_peers(now.steady);
    // 19. After 9 and 13, which know the waiters and the lost holds.
    notify_holders(agent);
    // 20. Behind the answers of 6, 12 and 16. Clients get what was applied in 9, what 13 and 15
    // miss of their requests, and what 19 found on their holds.
    tell_program(agent);
    tell_clients();
    // 21. After 9 and 14.
    effects_.save_countdowns = timers_.take_due_save(applied_, now.steady);
    // 22. After 9; and after 17, which may refuse a snapshot that this state was waiting for.
    if (auto delta = saver_.hand_over_if_due(machine_, applied_, now.steady))
        effects_.save_state.push_back(std::move(*delta));
    // 23. After everything.
    effects_.deadline = deadline();
    return std::exchange(effects_, {});
}

Instant NodeCore::deadline() const {
    const bool has_more = raft_.has_decided() || clients_.has_more() || saver_.has_more();
    if (was_removed_ || has_more) return stepped_at_;
    return std::min({raft_.deadline(), agent_.deadline(), timers_.deadline(),
                     call_desk_.deadline(raft_.leader().has_value()), membership_.deadline(),
                     bootstrap_.deadline(), own_life_.deadline(), own_memory_.deadline(),
                     saver_.deadline(), duties_.deadline()});
}

void NodeCore::form_if_unanimous(Now now) {
    const auto founding = bootstrap_.form_if_unanimous(prng_, now.steady, effects_.send);
    if (founding) raft_.adopt_formation(*founding, now.steady);
}

void NodeCore::ask_leader(Now now) {
    own_memory_.recover(now.steady);
    // Without a leader it is asked again when there is one.
    if (const auto id = call_desk_.take_question(now)) raft_.read(*id, now.steady);
}

void NodeCore::take_decided(Now now) {
    auto decided = raft_.take_decided();
    for (auto& entry : decided.committed)
        apply(entry, now);
    for (const auto& grant : decided.reads) {
        if (!own_memory_.granted(grant.id, grant.index)) call_desk_.granted(grant.id, grant.index);
    }
}

void NodeCore::apply(Entry& entry, Now now) {
    MORTISE_CHECK(entry.id.index == applied_.next());
    check_intact(entry);
    applied_ = entry.id.index;
    saver_.applied(entry);
    formats_.remember(entry);
    agent_.on_progress(now);
    Applied applied{std::move(entry), {}};
    const bool begins_era = applied.entry.kind == EntryKind::era;
    if (begins_era || has_commands(applied.entry.kind)) {
        if (begins_era) {
            machine_.begin_era(applied_, applied.outcomes);
            note_cluster();
        } else {
            machine_.apply(applied_, formats_.commands_in(applied.entry, effects_.notes),
                           applied.outcomes);
        }
        clock_.applied(now);
        // Before the changes are moved on.
        activity_->applied(applied_, now.steady, machine_.name_changes(),
                           machine_.changed_queues());
        changes_.add(applied_, machine_.name_changes());
        for (const auto& outcome : applied.outcomes)
            route(outcome, applied_, now);
    } else {
        changes_.add(applied_, {});
        if (applied.entry.kind == EntryKind::configuration) note_cluster();
        if (applied.entry.kind == EntryKind::state_sum)
            comparison_.compare(applied.entry, applied_);
    }
    if (raft_.is_leader()) tell_commit(applied);
    if (comparison_.is_due(applied_)) {
        hand_over_rows();
        comparison_.keep({applied_, machine_.rows_sum()});
    }
    effects_.applied.push_back(std::move(applied));
}

void NodeCore::tell_commit(const Applied& applied) {
    const auto audience = audience_of(applied, machine_, intake_.session_members(),
                                      raft_.configuration().all().size());
    if (audience.everybody) return raft_.tell_commit_to_all(applied_);
    for (const auto node : audience.nodes)
        raft_.tell_commit(node, applied_);
}

// Tells each part that the outcome concerns, and the agent last.
void NodeCore::route(const Outcome& outcome, LogIndex index, Now now) {
    const auto ended = [&](SessionId session) {
        timers_.ended(session);
        intake_.ended(session);
    };
    std::visit(Overloaded{
                   [&](const SessionOpened& opened) {
                       has_new_starts_ = true;
                       const auto* session = machine_.sessions().find(opened.session);
                       if (session != nullptr && session->renewed_at == index)
                           timers_.renewed(opened.session, now.steady);
                   },
                   [&](const SessionRenewed& renewal) {
                       timers_.renewed(renewal.session, now.steady);
                       intake_.renewed(renewal);
                   },
                   [&](const SessionEvicted& one) { intake_.evicted(one.session); },
                   [&](const RenewalLost& lost) { ended(lost.session); },
                   [&](const SessionEnded& end) { ended(end.session); },
                   [&](const ClosureBegun& begun) { timers_.begun(begun, now.steady); },
                   [&](const ClosureEnded& end) { timers_.ended(end.closure); },
                   [&](const Answered& answered) {
                       if (answered.answer.kind == AnswerKind::converted)
                           contentions_.converted(agent_.converted_by(answered.operation));
                   },
                   [&](const Queued& queued) { note_waiter(queued.operation); },
                   [&](const ReleaseAsked& asked) {
                       contentions_.on(asked, [&](OperationId hold) { return agent_.has(hold); });
                   },
                   [](const auto&) {},
               },
               outcome);
    clients_.on_outcome(outcome, index);
    agent_.on_outcome(outcome, index, now);
}

// Unless it does not wait any more.
void NodeCore::note_waiter(OperationId waiter) {
    if (contentions_.is_empty()) return;
    const auto* session = machine_.sessions().find(waiter.session);
    if (session == nullptr) return;
    const auto* found = session->operations.find(waiter.seq);
    if (found == nullptr || found->held()) return;
    for (const auto& record : found->names())
        contentions_.somebody_waits(std::string{record->name()});
}

void NodeCore::hand_over_rows() {
    effects_.save_state.push_back(saver_.hand_over(machine_, applied_));
}

// A peer that said hello before this node knew of a later start of its directory. Mostly its run
// has ended, and the later one is about to say hello. If not, it is told as soon as it speaks: what
// the state shows, every member can say that has applied it (docs/decisions/0061).
void NodeCore::judge_peers(Now now) {
    if (!std::exchange(has_new_starts_, false)) return;
    for (const auto peer : peers_.drop_outlived(machine_.sessions())) {
        connection_lost(peer, now);
        raft_.on_peer_restarted(peer);
    }
}

void NodeCore::judge_own_life(Now now) {
    if (own_life_.is_outlived_in(machine_.sessions()) || raft_.is_left_behind())
        effects_.superseded = true;
    if (agent_.open_session()) own_life_.accepted();
    raft_.set_doubted(own_life_.is_doubted(now.steady), now.steady);
    switch (own_life_.judge(now.steady)) {
        case OwnLife::Verdict::none: return;
        case OwnLife::Verdict::ask: return raft_.ask_to_be_judged();
        case OwnLife::Verdict::outlived: effects_.superseded = true; return;
        case OwnLife::Verdict::copied: effects_.copied = true; return;
    }
}

void NodeCore::watch_leadership(Now now) {
    const auto leader = raft_.leader();
    if (leader == leader_ && raft_.term() == leader_term_) return;
    const bool led = leader_ == options_.self;
    leader_ = leader;
    leader_term_ = raft_.term();
    if (led || raft_.is_leader()) {
        intake_.clear();
        timers_.begin_term();
        duties_.begin_term();
        comparison_.begin_term();
    }
    agent_.on_leader(leader.has_value(), now);
    clients_.on_leader(leader.has_value());
    call_desk_.on_leader(now.steady);
    ask_leader(now);
}

void NodeCore::answer_reads(Now now) {
    call_desk_.answer_reads(applied_, now);
    effects_.answers = call_desk_.take_answers();
}

void NodeCore::forward_requests(std::vector<Forward> forwards) {
    for (auto& forward : forwards) {
        if (raft_.is_leader()) {
            intake_.take(options_.self, forward);
        } else if (leader_) {
            if (!leader_reads(forward.batch)) forward.batch = in_format_1(forward.batch);
            effects_.send.push_back({*leader_, std::move(forward)});
        }
    }
    take_intake_output();
}

bool NodeCore::leader_reads(const Bytes& batch) const {
    const auto* hello = peers_.find(*leader_);
    const auto reads = hello != nullptr ? hello->command_format : command_format_oldest;
    return batch.empty() || format_of(batch) <= reads;
}

void NodeCore::take_intake_output() {
    auto [gaps, notes, refused] = intake_.collect();
    for (const auto& [to, gap] : gaps) {
        if (to == options_.self) {
            agent_.on_gap(gap.session, gap.next);
            clients_.on_gap(gap);
        } else {
            effects_.send.push_back({to, gap});
        }
    }
    std::ranges::move(notes, std::back_inserter(effects_.notes));
    refused_messages_ += refused;
}

// Text that lives as long as the program.
void NodeCore::refuse(NodeId from, std::string_view message, std::string_view why) {
    ++refused_messages_;
    effects_.notes.push_back({Note::Kind::unheard_message, raft_.term(), from, message, why});
}

void NodeCore::lead(Now now) {
    // Renewals among it keep sessions from being ended below.
    intake_.take_early_forwards();
    intake_.ask_for_held_up();
    take_intake_output();
    membership_.take_in_newcomers(now.steady);
    membership_.follow_durability(now.steady);
    for (const auto& end : timers_.commands_that_end_timers(intake_.proposer(), now.steady))
        intake_.proposer().add(end);
    if (machine_.needs_sweep()) duties_.sweep(applied_);
    // While leadership is handed over, nothing more is proposed.
    duties_.give_way(now.steady);
    // Batches may take all the space that there is.
    duties_.propose_state_sum(comparison_, now.steady);
    auto& proposer = intake_.proposer();
    proposer.set_time(clock_.to_propose(now));
    proposer.set_sealing(sealing_of(raft_, machine_, proposer.raised_to()));
    duties_.propose_batches(applied_, now.steady);
}

void NodeCore::take_raft_output(Now now) {
    auto raft = raft_.collect(now.steady);
    effects_.write = std::move(raft.write);
    std::ranges::move(raft.notes, std::back_inserter(effects_.notes));
    std::ranges::move(raft.distrusted, std::back_inserter(effects_.disconnect));
    was_removed_ =
        std::ranges::find(effects_.notes, Note::Kind::removed, &Note::kind) != effects_.notes.end();
    effects_.read_snapshot = std::move(raft.read_snapshot);
    effects_.close_snapshots = std::move(raft.close_snapshots);
    for (auto& step : raft.install)
        install(std::move(step));
    for (auto& envelope : raft.send) {
        if (auto* reply = std::get_if<AppendReply>(&envelope.message)) timers_.report_in(*reply);
        effects_.send.push_back({envelope.to, std::move(envelope.message)});
    }
}

void NodeCore::install(InstallStep step) {
    if (!installer_.take(step)) return raft_.refuse_state();
    raft_.set_room_for_state(installer_.has_room());
    effects_.install.push_back(std::move(step));
}

void NodeCore::notify_holders(const AgentOutput& agent) {
    for (const auto& lost : agent.lost)
        contentions_.forget(lost.hold);
    for (const auto withdrawn : agent.withdrawn)
        contentions_.forget(withdrawn);
    // A request that waits for a cached grant recalls it (S40).
    for (const auto& answer : agent.answers) {
        const auto* acquired = std::get_if<Acquired>(&answer.result);
        if (acquired != nullptr && acquired->cached_tokens != 0)
            contentions_.watch(acquired->hold, {acquired->parts.front().name});
    }
    // A client gets the recalls that are open together with the state of its session.
    clients_.tell_states({applied_, machine_.eras().begun});
    if (!contentions_.is_empty()) effects_.contended = contentions_.take(machine_);
    clients_.take_theirs(effects_.contended);
}

void NodeCore::tell_program(AgentOutput& agent) {
    effects_.lost = std::move(agent.lost);
    effects_.suspended = std::move(agent.suspended);
    effects_.lease = agent.lease;
    std::ranges::move(agent.answers, std::back_inserter(effects_.answers));
}

void NodeCore::tell_clients() {
    auto told = clients_.collect({applied_, machine_.eras().begun});
    effects_.notices = std::move(told.notices);
    effects_.unfit_clients = std::move(told.unfit);
    effects_.replaced_clients = std::move(told.replaced);
    effects_.client_flow = std::move(told.flow);
}

void NodeCore::check_invariants() const {
    raft_.check_invariants();
    MORTISE_CHECK(applied_ <= raft_.commit_index());
    constexpr std::uint64_t sweep_every = 16;
    if (++checks_ % sweep_every != 0) return;
    agent_.check_invariants();
    check_grants_are_accounted_for();
}

// S6: every grant of this node's live session belongs to a hold or to the reaper.
void NodeCore::check_grants_are_accounted_for() const {
    const auto id = agent_.open_session();
    const auto* session = id ? machine_.sessions().find(*id) : nullptr;
    if (session == nullptr || session->operations.empty()) return;
    MORTISE_CHECK(
        std::ranges::includes(agent_.accounted_for(), session->operations, {}, {}, KeyOfEntry{}));
}

}  // namespace mortise::core
