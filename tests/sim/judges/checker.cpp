#include "tests/sim/judges/checker.hpp"

#include <algorithm>
#include <limits>

#include "core/codec/configuration_codec.hpp"
#include "core/raft/quorum.hpp"
#include "tests/sim/base/in_words.hpp"

namespace mortise::sim {

Checker::Checker(std::size_t nodes, Violations& violations, Tally& tally)
    : violations_{violations},
      tally_{tally},
      votes_{violations},
      logs_{violations},
      commits_{violations},
      views_(nodes) {}

void Checker::attach(core::NodeId node, const Platter& platter) {
    view(node).platter = &platter;
}

void Checker::started(core::NodeId node, const core::Raft& raft) {
    auto& of = view(node);
    of.raft = &raft;
    check_recovered(node, of);
    of.term = raft.term();
    of.role = raft.role();
    of.commit = raft.commit_index();
    of.handed_out = raft.commit_index();
    of.late = 0;
    of.timers = 0;
    commits_.check_start(node, raft.commit_index());
}

// (7)
void Checker::check_recovered(core::NodeId node, const View& of) {
    const auto& found = of.raft->hard_state();
    const auto& promised = of.durable_state;
    const bool vote_lost = found.term == promised.term && promised.voted_for.is_set() &&
                           found.voted_for != promised.voted_for;
    if (found.term < promised.term || vote_lost) {
        violations_.report(node, "recovery: hard state of term " + in_words(found.term) +
                                     ", that of term " + in_words(promised.term) + " was durable");
    }
    if (!of.raft->log().has(of.durable_log)) {
        violations_.report(
            node, "recovery: " + in_words(of.durable_log) + " was durable and is not there");
    }
}

void Checker::stopped(core::NodeId node) {
    auto& of = view(node);
    const auto durable = of.raft->durable_index();
    of.durable_state = of.raft->durable_hard_state();
    of.durable_log = {of.raft->log().term_at(durable).value_or(core::Term{}), durable};
    of.raft = nullptr;
}

void Checker::wiped(core::NodeId node) {
    auto& of = view(node);
    of.durable_state = {};
    of.durable_log = {};
    const bool founded =
        std::ranges::any_of(views_, [](const View& each) { return each.platter->knows_cluster(); });
    of.was_wiped = founded;
    of.rolled_back = of.was_rolled_back = false;
    of.forgotten_before = {};
    if (founded) return;
    configuration_ = {};
    configured_at_ = {};
    configurations_.clear();
    commits_.forget_founding();
}

void Checker::rolled_back(core::NodeId node) {
    auto& of = view(node);
    of.durable_state = {};
    of.durable_log = {};
    of.rolled_back = of.was_rolled_back = true;
    of.forgotten_before = {};
    of.committed_then = commits_.last();
}

void Checker::lost_power(core::NodeId node) {
    auto& of = view(node);
    if (of.platter->unsynced != core::Unsynced::forgotten) return;
    if (of.durable_log.index > of.platter->last().index) of.durable_log = of.platter->last();
}

// (11). Of two votes in a later term than that of the leader, only one can matter. A follower has
// its leader's word for what all have.
void Checker::counts_again(core::NodeId node, core::NodeId witness) {
    auto& of = view(node);
    const auto& raft = *view(witness).raft;
    const auto index = raft.is_leader() ? std::min(of.platter->last().index, raft.commit_index())
                                        : raft.unwanted_index();
    const auto term = raft.log().term_at(index);
    const bool has_it = term && of.platter->has({*term, index});
    if (!has_it || *term != raft.term() || index <= of.committed_then) {
        violations_.report(witness, "forgetful: counts node " + in_words(node) +
                                        " again, which has index " + in_words(index));
    }
    votes_.forgot(node, of.platter->incarnation, of.platter->hard_state.term);
    of.rolled_back = false;
    of.forgotten_before = {};
}

bool Checker::is_lost(core::NodeId node, const core::Configuration& within) const {
    const auto* member = within.find(node);
    if (member == nullptr) return false;
    return view(node).rolled_back || member->incarnation != view(node).platter->incarnation;
}

void Checker::submitted(core::NodeId node, const core::Write& write) {
    if (write.truncate_from) tally_.probe("log truncated");
    if (write.append.empty()) return;
    const auto before = write.append.front().id.index.previous();
    auto previous = view(node).raft->log().term_at(before).value_or(core::Term{});
    for (const auto& entry : write.append) {
        // The first entry is checked by (8): one that did not survive a crash may differ.
        if (entry.id.index > core::LogIndex{1}) {
            logs_.appended(node, entry, previous);  // (2)
            if (entry.kind == core::EntryKind::configuration) check_change(node, entry);
        }
        previous = entry.id.term;
    }
}

void Checker::on_platter(core::NodeId node, const core::HardState& before,
                         const core::Write& write) {
    const auto& platter = *view(node).platter;
    votes_.hard_state(node, before, platter.hard_state);  // (1)
    if (!write.append.empty() && write.append.front().id.index == core::LogIndex{1}) {
        check_founding(node);
    }
}

// (8). A first entry that was on only one disk, which was replaced, does not count any more.
void Checker::check_founding(core::NodeId node) {
    const auto& mine = *view(node).platter;
    for (const auto& other : views_) {
        if (other.platter->founding == 0 || other.platter->founding == mine.founding) continue;
        violations_.report(
            node, "two foundings: another than that of node " + in_words(id_of(other)) + " (S47)");
    }
    const auto* entry = mine.find(core::LogIndex{1});
    if (entry == nullptr || entry->kind != core::EntryKind::configuration) return;
    if (configured_at_ > core::LogIndex{1}) return;
    configuration_ = core::decode_configuration(entry->payload).value_or(core::Configuration{});
    configured_at_ = core::LogIndex{1};
}

// (10). The appending leader uses the newest configuration in its log before the entry.
void Checker::check_change(core::NodeId node, const core::Entry& entry) {
    const auto& raft = *view(node).raft;
    const auto next = core::decode_configuration(entry.payload).value_or(core::Configuration{});
    configurations_.emplace(entry.id, next);
    if (!raft.is_leader() || raft.term() != entry.id.term) return;
    if (next.is_joint()) tally_.probe("joint configuration begun");
    const auto& before = raft.configuration_at(entry.id.index.previous());
    const bool steps = before.is_joint() ? next.voters == before.voters && !next.is_joint()
                       : next.is_joint() ? next.outgoing == before.voters
                                         : next.voters == before.voters;
    if (!steps) violations_.report(node, "membership: a change that is not joint");
    auto earlier = core::LogIndex{};
    for (auto index = raft.log().first_index(); index < entry.id.index; index = index.next()) {
        if (raft.log().at(index).kind == core::EntryKind::configuration) earlier = index;
    }
    if (earlier > raft.commit_index()) {
        violations_.report(node, "membership: a change before the one before is committed");
    }
}

void Checker::committed(core::NodeId node, const core::Entry& entry) {
    auto& of = view(node);
    if (entry.id.index != of.handed_out.next()) {  // (3)
        violations_.report(node, "commit order: handed out " + in_words(entry.id) + " after " +
                                     in_words(of.handed_out));
    }
    of.handed_out = entry.id.index;
    of.late = 0;
    of.timers = 0;
    const auto term = of.raft->term();
    if (!commits_.committed(node, entry, term)) return;
    if (entry.id.term < term) tally_.probe("entry committed that an earlier leader wrote");
    if (entry.kind == core::EntryKind::configuration && entry.id.index > configured_at_) {
        configuration_ = core::decode_configuration(entry.payload).value_or(core::Configuration{});
        configured_at_ = entry.id.index;
    }
    // All voters agree to the first entry, so it needs no quorum of disks.
    if (entry.id.index > core::LogIndex{1}) check_quorum(node, entry.id, "when reported");
    for (const auto& other : views_) {  // (5), for leaders of a later term
        if (other.raft == nullptr || !other.raft->is_leader()) continue;
        commits_.check_leader(id_of(other), other.raft->log(), other.raft->term(),
                              entry.id.index.previous());
    }
}

void Checker::state_replaced(core::NodeId node, core::LogId last) {
    auto& of = view(node);
    of.handed_out = last.index;
    if (last.index > commits_.last() || commits_.at(last.index) != last) {
        violations_.report(node, "state machine safety: took over a state as of " + in_words(last) +
                                     ", which was not committed");
    }
    if (of.platter->applied_id() != last) {
        violations_.report(node, "install: reported before it is on disk");
    }
}

// A lost disk may have had it, and a node that has not recovered, so it counts as if it had.
bool Checker::is_on_quorum(core::LogId id, const core::Configuration& of,
                           core::NodeId without) const {
    const auto carries = [&](const std::vector<core::Member>& members) {
        const auto holding = std::ranges::count_if(members, [&](const core::Member& member) {
            if (member.id == without) return false;
            const auto& held = view(member.id);
            const auto& platter = *held.platter;
            return held.rolled_back || member.incarnation != platter.incarnation ||
                   platter.unsynced == core::Unsynced::forgotten || platter.has(id);
        });
        return static_cast<std::size_t>(holding) >= core::majority_of(members.size());
    };
    return carries(of.voters) && (!of.is_joint() || carries(of.outgoing));
}

// (4). By the committed configuration, or by a later one that may be in force.
void Checker::check_quorum(core::NodeId node, core::LogId id, const char* when,
                           core::NodeId without) {
    if (is_on_quorum(id, configuration_, without)) return;
    for (const auto& [at, later] : configurations_) {
        if (at.index > configured_at_ && is_on_quorum(id, later, without)) return;
    }
    violations_.report(node,
                       "durability: committed " + in_words(id) + " is on too few disks, " + when);
}

// (11)
void Checker::check_forgetful(core::NodeId leader, core::LogId committed) {
    for (const auto& of : views_) {
        if (of.forgotten_before != leader) continue;
        check_quorum(leader, committed, "without the one that has forgotten", id_of(of));
    }
}

void Checker::after_step(core::NodeId node, bool was_timer, core::Instant now,
                         core::Instant deadline) {
    auto& of = view(node);
    const auto& raft = *of.raft;
    check_marks(node, of);
    if (raft.role() != of.role || raft.term() != of.term) check_role(node, of);
    of.term = raft.term();
    of.commit = raft.commit_index();
    if (was_timer) {
        check_deadline(node, of, now, deadline);
    } else {
        of.timers = 0;
        of.late = 0;
    }
}

void Checker::check_marks(core::NodeId node, const View& of) {
    const auto& raft = *of.raft;
    if (raft.term() < of.term || raft.commit_index() < of.commit) {
        violations_.report(node, "monotone: term or commit index went back");
    }
    // An entry of an earlier leader may be on a quorum and still be replaced (thesis 3.6.2); except
    // the first entry, which needs no quorum.
    const auto before = std::max(of.commit, core::LogIndex{1});
    const bool counted = raft.is_leader() && raft.commit_index() > before;
    if (counted && raft.log().term_at(raft.commit_index()) != raft.term()) {
        violations_.report(node, "commit: a leader counted replicas of an earlier term's entry");
    }
    if (counted) check_progress(node, of);
    if (counted && raft.commit_index() > of.commit)
        check_forgetful(node, {raft.term(), raft.commit_index()});
    if (raft.is_leader() && !raft.is_member() && raft.is_configuration_committed()) {
        tally_.probe("leader removed");
    }
    if (raft.durable_index() > of.platter->last().index) {
        violations_.report(
            node, "durable mark: index " + in_words(raft.durable_index()) + " is not on disk");
    }
}

// The acknowledgements that a leader counts on must be on disk, unless a leader of a later term has
// truncated the entries.
void Checker::check_progress(core::NodeId node, const View& of) {
    const auto& raft = *of.raft;
    for (const auto& peer : views_) {
        const auto* progress = raft.progress_of(id_of(peer));
        const bool moved_on = peer.platter->hard_state.term > raft.term();
        if (progress == nullptr || moved_on) continue;
        if (peer.rolled_back || progress->incarnation != peer.platter->incarnation) continue;
        if (peer.platter->unsynced == core::Unsynced::forgotten) continue;
        const auto term = raft.log().term_at(progress->match);
        if (!term || peer.platter->has({*term, progress->match})) continue;
        violations_.report(node, "progress: node " + in_words(id_of(peer)) + " has not index " +
                                     in_words(progress->match) + ", which its leader counts");
    }
}

void Checker::check_role(core::NodeId node, View& of) {
    const auto& raft = *of.raft;
    if (of.role == core::Role::candidate && raft.role() == core::Role::follower) {
        tally_.probe("candidate lost");
    }
    of.role = raft.role();
    if (!raft.is_leader()) return;
    votes_.leads(node, raft.term());  // (1)
    votes_.voted(node, of.platter->incarnation, raft.term(), node);
    const auto& within = raft.configuration();
    const bool elected = core::has_quorum(within, [&](core::NodeId voter) {
        return votes_.has_voted(voter, within.find(voter)->incarnation, raft.term(), node);
    });
    if (within.is_joint()) tally_.probe("leader elected while joint");
    if (!elected) {
        violations_.report(node, "election safety: leads without the votes of a majority");
    }
    commits_.check_leader(node, raft.log(), raft.term(), raft.log().base().index);  // (5)
    check_era(node, raft);
    for (const auto& other : views_) {
        const bool leads = other.raft != nullptr && other.raft != &raft && other.raft->is_leader();
        if (leads) tally_.probe("two leaders at once");
    }
}

// (12)
void Checker::check_era(core::NodeId node, const core::Raft& leader) {
    const auto last = leader.log().last();
    if (last.term != leader.term() || leader.log().at(last.index).kind != core::EntryKind::era)
        return;
    tally_.probe("era begun");
    const auto& within = leader.configuration();
    const auto remembers = [&](core::NodeId id) {
        return view(id).platter->unsynced != core::Unsynced::forgotten;
    };
    if (core::has_quorum(within, remembers))
        violations_.report(node, "era: a majority has forgotten nothing");
    for (const auto* voters : {&within.voters, &within.outgoing}) {
        for (const auto& [id, incarnation, address] : *voters) {
            if (!votes_.has_voted(id, incarnation, leader.term(), node))
                violations_.report(node, "era: without the vote of node " + in_words(id));
        }
    }
}

// (9), after a timer. A deadline may be late for a while, because a backlog is processed in pieces,
// one per step.
void Checker::check_deadline(core::NodeId node, View& of, core::Instant now,
                             core::Instant deadline) {
    constexpr std::uint64_t timers_max = 1'000;
    constexpr core::Nanoseconds window = std::chrono::seconds{1};
    const bool is_late = deadline <= now;
    of.late = is_late ? of.late + 1 : 0;
    if (of.late > late_max) violations_.report(node, "deadline: stays in the past");
    if (of.timers == 0 || now > of.timers_since + window) {
        of.timers = 0;
        of.timers_since = now;
    }
    if (++of.timers <= timers_max) return;
    violations_.report(node, "deadline: its timer fires again and again, and nothing else happens");
}

void Checker::sweep() {
    auto first = core::LogIndex{std::numeric_limits<std::uint64_t>::max()};
    for (const auto& of : views_) {
        sweep_node(id_of(of), of);
        first = std::min(first, of.platter->base.index.next());
    }
    first = std::max(first, core::LogIndex{2});
    for (auto index = first; index <= commits_.last(); index = index.next()) {
        check_quorum(core::NodeId{}, commits_.at(index), "in a sweep");
    }
}

void Checker::sweep_node(core::NodeId node, const View& of) {
    for (const auto& entry : of.platter->entries) {
        if (entry.id.index > core::LogIndex{1}) logs_.check(node, entry);
    }
    if (of.raft == nullptr) return;
    const auto& log = of.raft->log();
    const auto first = std::max(log.first_index(), core::LogIndex{2});
    for (auto index = first; index <= log.last().index; index = index.next()) {
        logs_.check(node, log.at(index));
    }
    const auto agreed = std::min(of.handed_out, commits_.last());
    for (auto index = log.first_index(); index <= agreed; index = index.next()) {
        if (log.has(commits_.at(index))) continue;
        violations_.report(node, "state machine safety: lost the committed entry of " +
                                     in_words(commits_.at(index)));
        return;
    }
}

}  // namespace mortise::sim
