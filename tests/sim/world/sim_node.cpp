// Steps, ports and the timer; node_life.cpp has starts, deaths and pauses.
#include "tests/sim/world/sim_node.hpp"

#include <algorithm>
#include <utility>

#include "tests/sim/base/formats.hpp"
#include "tests/sim/base/note_words.hpp"

namespace mortise::sim {

namespace {

const std::string disk_failed = "the disk failed";

}  // namespace

void SimNode::say(const char* text, std::uint64_t a, std::uint64_t b) {
    world_.timeline.say(id_, text, a, b);
}

void SimNode::handle(core::Event event) {
    if (!is_running()) return;
    if (!paused_ && !catching_up_) {
        step(std::move(event));
        return;
    }
    const auto* received = std::get_if<core::Received>(&event);
    if (received != nullptr && unread_from(received->from) >= world_.swarm.network.unread_max) {
        world_.tally.probe("many messages parked");
        return;
    }
    parked_.push_back(std::move(event));
}

std::size_t SimNode::unread_from(core::NodeId peer) const {
    if (parked_.size() < world_.swarm.network.unread_max) return 0;  // whichever senders they have
    return static_cast<std::size_t>(std::ranges::count_if(parked_, [peer](const auto& event) {
        const auto* received = std::get_if<core::Received>(&event);
        return received != nullptr && received->from == peer;
    }));
}

void SimNode::step(core::Event event) {
    const auto kind = event.index();
    if (const auto* done = std::get_if<core::WriteDone>(&event)) forget_write(done->id);
    if (const auto* up = std::get_if<core::PeerUp>(&event))
        world_.streams.connected(id_, up->hello.node);
    const auto refused = driver_->core().refused_messages();
    world_.count_step();
    effects_ = {};
    stepping_ = true;
    driver_->handle(std::move(event), read_clocks());
    stepping_ = false;
    if (dead_ || driver_->is_stopped()) {
        if (begins_anew_) return begin_anew();
        return crash();
    }
    if (driver_->core().refused_messages() != refused) world_.tally.probe("stranger refused");
    judge_step(kind);
    world_.observations.stepped(id_, driver_->core());
    if (raft().has_decided()) world_.tally.probe("more to apply after a step");
    const auto lag_max = world_.swarm.state_lag_bytes_max;
    if (driver_->core().state_lag_bytes() > lag_max + lag_max / 4) {
        world_.tally.probe("state on disk too far behind");
    }
    set_timer();
    owner_.stepped(id_);
}

// Between 1972 and 2039, so that a time is always written in as many bytes.
core::Now SimNode::read_clocks() {
    constexpr std::int64_t early = std::int64_t{1} << 36U;
    constexpr std::int64_t late = std::int64_t{1} << 41U;
    if (wall_ahead_ms_ == 0 || walls_.one_in(64))
        wall_ahead_ms_ = static_cast<std::uint64_t>(walls_.between(early, late));
    auto now = clock_.at(world_.heap.now());
    now.wall_ms = wall_ahead_ms_ + static_cast<std::uint64_t>(world_.heap.now() / sim_millisecond);
    return now;
}

void SimNode::judge_times() {
    const auto& core = driver_->core();
    const auto& marks = core.machine().clock();
    if (marks.is_empty()) return;
    const auto& newest = marks.newest();
    if (newest.index < newest_mark_.index || newest.ms < newest_mark_.ms)
        world_.violations.report(id_, "times: the newest mark fell");
    newest_mark_ = newest;
    const auto now = clock_.at(world_.heap.now());
    for (const auto& mark : {marks.all().front(), newest}) {
        const auto age = core.clock().age_of(mark.index, now);
        if (!age || *age < core::Nanoseconds{0})
            world_.violations.report(id_, "times: a mark has no age, or a negative one");
    }
}

void SimNode::judge_step(std::size_t kind) {
    const auto now = clock_.at(world_.heap.now()).steady;
    const bool was_timer = kind == core::Event{core::TimerFired{}}.index();
    world_.checker.after_step(id_, was_timer, now, driver_->deadline());
    world_.workload->stepped(id_, now, driver_->deadline());
    judge_times();
    // A leader's timer fires with each heartbeat, so twice the longest wait has no excuse.
    const auto patience = 2 * world_.swarm.election_timeout;
    const bool hangs = !unsynced_.empty() && now > unsynced_.front().at + patience;
    if (was_timer && hangs && raft().is_leader()) {
        world_.violations.report(id_, "stalled disk: leads on while its writes hang");
    }
    auto& trace = world_.trace;
    trace.number(static_cast<std::uint64_t>(world_.heap.now()));
    trace.number(id_.raw() << 8U | kind);
    trace.number(raft().term().raw() << 4U | static_cast<std::uint64_t>(raft().role()));
    trace.number(raft().commit_index().raw());
    trace.number(effects_.value());
}

void SimNode::forget_write(core::WriteId id) {
    std::erase_if(unsynced_, [&](const Unsynced& write) { return write.id <= id; });
}

// --- ports: the effects of the driver, in its order ---------------------------------------------

bool SimNode::is_dead() {
    if (effects_left_ > 0 && --effects_left_ == 0) dead_ = true;
    return dead_;
}

void SimNode::submit(core::Write write) {
    if (is_dead()) return;
    effects_.number(write.id.raw() << 16U | write.append.size());
    world_.checker.submitted(id_, write);
    unsynced_.push_back({write.id, clock_.at(world_.heap.now()).steady});
    if (write.truncate_from) say("truncates its log from index {}", write.truncate_from->raw());
    disk_.submit(std::move(write));
}

void SimNode::purge_to(const core::LogBase& base) {
    if (is_dead()) return;
    world_.tally.probe("log purged");
    disk_.purge_to(base);
}

void SimNode::send(core::NodeId to, core::PeerMessage message) {
    if (is_dead()) return;
    const auto* said = std::get_if<core::RaftMessage>(&message);
    effects_.number(to.raw() << 8U | (said == nullptr ? 255U : said->index()));
    world_.checker.sent(id_, to, message);
    const auto* forward = std::get_if<core::Forward>(&message);
    if (forward != nullptr)
        world_.streams.sent(id_, to, *forward, driver_->core().machine().sessions());
    owner_.carry(id_, to, std::move(message));
}

void SimNode::save(core::StateDelta delta) {
    if (is_dead()) return;
    effects_.number(delta.applied.index.raw() << 16U | delta.rows.size());
    disk_.save(std::move(delta));
}

void SimNode::save_countdowns(core::SavedCountdowns countdowns) {
    if (is_dead()) return;
    disk_.save_countdowns(std::move(countdowns));
}

void SimNode::lost(const core::HoldLost& lost) {
    if (is_dead()) return;
    effects_.number(lost.hold.seq.raw());
    say("loses its hold {}/{}", lost.hold.session.raw(), lost.hold.seq.raw());
    world_.workload->lost(id_, lost);
}

void SimNode::suspended(core::OperationId hold) {
    if (is_dead()) return;
    effects_.number(hold.seq.raw());
    say("has its hold {}/{} suspended", hold.session.raw(), hold.seq.raw());
    world_.workload->suspended(id_, hold);
}

void SimNode::contended(const core::Contended& contended) {
    if (is_dead()) return;
    effects_.number(contended.hold.seq.raw() << 8U | contended.waiters);
    say("hears that others want its hold {}/{}", contended.hold.session.raw(),
        contended.hold.seq.raw());
    world_.workload->contended(id_, contended);
}

void SimNode::lease_changed(const core::LeaseChanged& lease) {
    if (is_dead()) return;
    effects_.number(static_cast<std::uint64_t>(lease.valid_until.ns));
    world_.workload->lease_changed(id_, lease);
}

void SimNode::answered(std::vector<core::CallAnswer> answers) {
    for (const auto& answer : answers) {
        if (is_dead()) return;
        effects_.number(answer.tag.raw() << 8U | answer.result.index());
        if (answer.tag.is_set()) {
            world_.workload->answered(id_, answer);
        } else {
            change_answered(answer);
        }
    }
}

void SimNode::applied(const core::Applied& applied) {
    if (is_dead()) return;
    // Not its checksum: a time in it decides nothing.
    effects_.number(applied.entry.id.index.raw() << 32U | applied.entry.payload.size());
    effects_.number(applied.outcomes.size());
    world_.checker.committed(id_, applied.entry);
    world_.streams.applied(applied);
    if (applied.entry.kind == core::EntryKind::state_sum) world_.tally.probe("states compared");
    if (world_.swarm.upgrade) tell_format(applied.entry);
    for (const auto& outcome : applied.outcomes) {
        const auto* ended = std::get_if<core::SessionEnded>(&outcome);
        if (ended != nullptr && ended->how == core::SessionEnd::expired) {
            world_.tally.probe("session expired");
            say("applies the expiry of session {}", ended->session.raw());
        }
    }
    world_.workload->applied(id_, applied);
}

void SimNode::tell_format(const core::Entry& entry) {
    if (!core::has_commands(entry.kind)) return;
    const bool is_later = core::format_of(entry.payload) == later_format;
    world_.tally.probe(is_later ? "upgrade let the newer format in"
                                : "upgrade kept to the older format");
}

void SimNode::noted(const core::Note& note) {
    if (is_dead()) return;
    const core::NodeId liar{world_.swarm.liar};
    const bool by_liar = note.peer == liar || (liar.is_set() && raft().leader() == liar);
    // A directory that was rolled back may contradict its earlier messages. A follower that found
    // that refuses it until all have a later entry (docs/decisions/0089).
    const bool is_lie = note.kind == core::Note::Kind::refused_message && !by_liar;
    if (is_lie && !world_.checker.was_rolled_back(note.peer) &&
        !world_.checker.was_rolled_back(id_))
        world_.violations.report(id_,
                                 "refused a message of a peer in order: " + std::string{note.why});
    if (note.kind == core::Note::Kind::false_leader) {
        if (by_liar) world_.tally.probe("liar found out");
        // Who was rolled back may have forgotten its vote for it, and a liar's node takes the
        // answers to its lies for answers to its own questions.
        else if (id_ != liar && !world_.checker.was_any_rolled_back())
            world_.violations.report(id_, "claims: does not follow a leader that was elected");
    }
    const auto words = words_of(note);
    if (words.probe != nullptr) world_.tally.probe(words.probe);
    if (note.kind == core::Note::Kind::formed) {
        const bool founds = voters_.front().id == id_;
        world_.tally.probe(founds ? "cluster formed" : "empty node took an offer");
        if (life_ > 1) world_.tally.probe("cluster formed after a restart");
    }
    say(words.line, note.term.raw(), note.peer.raw());
    if (note.kind == core::Note::Kind::peer_counts_again) owner_.counts_again(id_, note.peer);
    const bool lags = driver_->core().state_lag_bytes() > world_.swarm.state_lag_bytes_max;
    if (lags && note.kind == core::Note::Kind::transfer_started)
        world_.tally.probe("leader gave way for its state on disk");
    const bool campaigns = note.kind == core::Note::Kind::became_candidate;
    if ((campaigns || note.kind == core::Note::Kind::became_leader) && world_.turmoil) {
        world_.turmoil();
    }
}

void SimNode::superseded() {
    if (is_dead()) return;
    const core::NodeId liar{world_.swarm.liar};
    // Nothing is promised if one of two members lies, and it may have lied when they were more.
    const auto& members = raft().configuration();
    const bool is_only_other = members.all().size() == 2 && members.find(liar) != nullptr;
    // Its peers remember what it has said, also if it was a lie.
    if (!world_.checker.was_rolled_back(id_) && id_ != liar && !is_only_other) {
        world_.violations.report(id_, "superseded: by its only life");
        return;
    }
    world_.tally.probe("rolled back member found out");
    begins_anew_ = true;
    dead_ = true;
}

void SimNode::copied() {
    if (!is_dead()) world_.violations.report(id_, "copied: no directory is");
}

void SimNode::disconnect(core::NodeId peer) {
    if (!is_dead()) owner_.disconnect(id_, peer);
}

void SimNode::notify(core::ClientId client, const core::ClientNotice& notice) {
    if (is_dead()) return;
    effects_.number(client.raw() << 16U | notice.outcomes.size());
    owner_.notify(id_, client, core::ClientNotice{notice});
}

void SimNode::disconnect(core::ClientId /*client*/) {
    if (!is_dead()) world_.violations.report(id_, "unfit client: none of them lies");
}

void SimNode::hang_up(core::ClientId client) {
    if (is_dead()) return;
    effects_.number(client.raw());
    owner_.hang_up(id_, client);
}

// Answered in the order of the requests.
void SimNode::read_snapshot(core::SnapshotRead read) {
    if (is_dead()) return;
    effects_.number(read.peer.raw());
    const auto latency = prng_.between(0, 4 * world_.swarm.disk.latency_max);
    read_at_ = std::max(read_at_, world_.heap.now()) + latency;
    world_.heap.at(read_at_, [this, read = std::move(read), life = life_] {
        if (life != life_ || (read.after && !disk_.has_view(read.peer))) return;
        auto rows = disk_.read(read);
        if (!rows) {
            world_.tally.probe("damage found by reading for another");
            write_failed();
            owner_.begins_anew(id_);  // the process opens its directory again, and examines it
            return;
        }
        world_.tally.probe("state read for another");
        handle(*std::move(rows));
    });
}

void SimNode::close_snapshot(core::NodeId peer) {
    if (is_dead()) return;
    world_.heap.at(read_at_, [this, peer, life = life_] {
        if (life == life_) disk_.close_view(peer);
    });
}

void SimNode::install(core::InstallStep step) {
    if (is_dead()) return;
    effects_.number(step.last.index.raw() << 16U | step.position);
    world_.tally.probe(step.position == 0 ? "install begun" : "install goes on");
    const bool done = step.done;
    disk_.install(std::move(step));
    take_install();
    if (done) finish_install();
}

void SimNode::take_install() {
    if (!world_.swarm.is_install_bounded()) return;  // other runs do not simulate this
    taken_at_ =
        std::max(taken_at_, world_.heap.now()) + prng_.between(0, world_.swarm.disk.latency_max);
    world_.heap.at(taken_at_, [this, life = life_] {
        if (life == life_) handle(core::InstallTaken{});
    });
}

// Executed when the writes before it are done.
void SimNode::finish_install() {
    const auto latency = prng_.between(1, 4 * world_.swarm.disk.latency_max);
    world_.heap.after(latency, [this, life = life_] {
        if (life != life_) return;
        const auto last = disk_.finish_install();
        if (last) {
            handle(core::StateInstalled{*last});
        } else {
            finish_install();
        }
    });
}

// The request of the nemesis, once: it does not wait for a change that has begun.
void SimNode::change_answered(const core::CallAnswer& answer) {
    const auto* error = std::get_if<core::CallError>(&answer.result);
    if (error != nullptr && *error == core::CallError::outcome_unknown)
        world_.tally.probe("membership change accepted");
    const auto* why = std::get_if<core::MembershipRefusal>(&answer.result);
    if (why == nullptr) return;
    world_.tally.probe("membership change refused");
    if (*why == core::MembershipRefusal::too_old) world_.tally.probe("newcomer too old");
}

void SimNode::state_replaced(core::LogId last) {
    if (is_dead()) return;
    effects_.number(last.index.raw());
    world_.tally.probe("state installed");
    world_.checker.state_replaced(id_, last);
    world_.streams.state_replaced(id_);
}

void SimNode::on_platter(const core::HardState& before, const core::Write& write) {
    world_.checker.on_platter(id_, before, write);
}

void SimNode::write_done(core::WriteId id) {
    if (!is_running() || dead_) return;
    if (stepping_ && !catching_up_) {
        forget_write(id);
        driver_->handle(core::WriteDone{id}, read_clocks());
    } else {
        handle(core::WriteDone{id});
    }
}

void SimNode::write_failed() {
    say("a write fails");
    driver_->fail(disk_failed);
    if (!stepping_) crash();
}

void SimNode::stopped(const std::string& reason) {
    // Only a disk may stop a node here; any other reason is an exception from the core.
    if (reason != disk_failed) world_.violations.report(id_, reason);
    dead_ = true;
}

// --- the timer ---------------------------------------------------------------------------------

// Deadlines move with almost every message. A timer that fires too early only checks again, so most
// steps set none.
void SimNode::set_timer() {
    const auto now = world_.heap.now();
    auto due = clock_.when(driver_->deadline(), now);
    if (due == sim_never) return;
    // A deadline in the past takes effect a moment later, so that time advances whatever a node
    // does.
    due = std::max(due, now + sim_microsecond);
    if (due >= timer_at_) return;
    // A node that has work to do at once does not sleep.
    const bool sleeps = !raft().has_decided();
    if (sleeps && world_.swarm.timer_slack != 0) due += prng_.between(0, world_.swarm.timer_slack);
    timer_at_ = due;
    world_.heap.at(due, [this, timer = ++timer_] {
        if (timer != timer_) return;
        timer_at_ = sim_never;
        timer_fired();
    });
}

void SimNode::timer_fired() {
    if (!is_running() || paused_) return;
    if (driver_->deadline() > clock_.at(world_.heap.now()).steady) {
        set_timer();
    } else {
        step(core::TimerFired{});
    }
}

}  // namespace mortise::sim
