// What each event and each message does, before the other actions of its step.
#include <utility>
#include <variant>

#include "core/base/overloaded.hpp"
#include "core/node/message_admission.hpp"
#include "core/node/node_core.hpp"
#include "core/observe/activity.hpp"

namespace mortise::core {

void NodeCore::take(Event& event, Now now) {
    std::visit(Overloaded{
                   [&](PeerDown& one) {
                       peers_.gone(one.peer);
                       connection_lost(one.peer, now);
                   },
                   [&](ClientSaid& one) { clients_.said(one, now.steady); },
                   [&](ClientGone& one) { clients_.gone(one.client); },
                   [&](LifeRefused& one) {
                       if (own_life_.refused(one, now.steady)) raft_.note_doubt(one.by);
                   },
                   [&](UnknownTo& one) { raft_.on_unknown_to(one.peer); },
                   [&](TransferLeadership& one) { raft_.transfer_to(one.target, now.steady); },
                   [&](SnapshotRows& one) { raft_.on_snapshot_rows(std::move(one), now.steady); },
                   [&](auto& one) { on(one, now); },
               },
               event);
}

// --- connections --------------------------------------------------------------------------------

void NodeCore::on(const PeerUp& event, Now now) {
    const auto& hello = event.hello;
    const auto& generation = hello.generation;
    const bool is_somebody =
        hello.node.is_set() && generation.is_set() && hello.node != options_.self;
    if (!is_somebody) return refuse(hello.node, "Hello", "it names no other node");
    own_life_.heard_hello(hello.node);
    // Messages on the former connection may not have arrived, whether or not its end was noticed,
    // and whether or not this connection is worth anything.
    if (hello.node == leader_) {
        agent_.on_leader(true, now);
        clients_.on_leader(true);
    }
    switch (peers_.hear(hello, machine_.sessions().newest_start(generation.incarnation))) {
        case PeerMemory::Verdict::outlived:
            // This connection replaced the earlier one, which is down.
            connection_lost(hello.node, now);
            raft_.on_peer_restarted(hello.node);
            refuse(hello.node, "Hello", "a later start of that node was seen");
            return refuse_life(hello);
        case PeerMemory::Verdict::new_life: raft_.on_peer_restarted(hello.node); break;
        case PeerMemory::Verdict::same_life: break;
    }
    raft_.set_pace(peers_.pace());
    if (peers_.has_forgotten(hello)) return refuse_life(hello);
    if (hello.is_empty()) {
        bootstrap_.expects_offer(hello.node, effects_.send);
    } else {
        bootstrap_.met_member();
    }
}

void NodeCore::connection_lost(NodeId peer, Now now) {
    raft_.set_pace(peers_.pace());
    bootstrap_.needs_no_offer(peer);
    intake_.gone(peer);
    raft_.on_peer_down(peer, now.steady);
}

void NodeCore::refuse_life(const Hello& hello) {
    raft_.note_forgotten(hello.node);
    tell_superseded(hello);
}

// Repeated whenever it speaks: the message may be lost, and the node stays out until it knows.
void NodeCore::tell_superseded(const Hello& hello) {
    effects_.send.push_back({hello.node, Superseded{hello.generation}});
}

// --- messages -----------------------------------------------------------------------------------

// A message of a lost directory, or of an earlier run, does not count as one of the present run.
void NodeCore::on(Received& event, Now now) {
    const auto* sender = peers_.find(event.from);
    const bool current =
        sender != nullptr && (!event.start || event.start->is_same_start(sender->generation));
    if (!current) {
        refuse(event.from, "late", "it is of no present connection");
        const auto* outlived = peers_.find_outlived(event.from);
        if (outlived != nullptr) tell_superseded(*outlived);
        return;
    }
    const auto from = event.from;
    std::visit(Overloaded{
                   [&](FormationAnswer& message) { bootstrap_.take(from, message); },
                   [&](MembershipReply& message) {
                       call_desk_.changes().replied(from, message, now.steady);
                   },
                   [&](StreamGap& message) {
                       if (from != raft_.leader()) return;
                       agent_.on_gap(message.session, message.next);
                       clients_.on_gap(message);
                   },
                   [&](auto& message) { receive(from, message, now); },
               },
               event.message);
}

void NodeCore::receive(NodeId from, RaftMessage& message, Now now) {
    const auto admission = judge(from, message, raft_, peers_, bootstrap_);
    if (admission == Admission::not_a_member) raft_.dismiss(from);
    if (admission != Admission::admitted)
        return refuse(from, name_of(message), "it is not one of a member of this node's cluster");
    // In this order: an impossible message is no evidence about its sender either.
    if (raft_.refuses(from, message)) {
        ++refused_messages_;
        return;
    }
    if (!is_believed(from, message, now)) {
        refuse(from, name_of(message), "its sender has lost what it acknowledged");
        return let_catch_up(from, message, now);
    }
    bootstrap_.needs_no_offer(from);
    const auto* reply = std::get_if<AppendReply>(&message);
    const bool reports = reply != nullptr && raft_.is_leader() && reply->term == raft_.term();
    if (reports) timers_.reported(from, *reply);
    raft_.take_message(from, std::move(message), now.steady);
    if (reports) peers_.remember_acknowledged(from);
    peers_.remember_replicated();
    for (const auto peer : peers_.drop_former_runs(machine_.sessions(), applied_))
        raft_.note_counts_again(peer);
}

bool NodeCore::is_believed(NodeId from, const RaftMessage& message, Now now) {
    const auto& hello = peers_.at(from);
    const bool was_sound = !peers_.has_forgotten(hello);
    const auto belief = peers_.believe(from, message, now.steady);
    if (belief != PeerMemory::Belief::forgotten) return belief == PeerMemory::Belief::sound;
    if (was_sound) {
        refuse_life(hello);
    } else {
        tell_superseded(hello);
    }
    return false;
}

// If this leader alone knows what was forgotten, the peer does not give its directory up. So it
// receives the log all the same.
void NodeCore::let_catch_up(NodeId from, RaftMessage& message, Now now) {
    if (!peers_.is_only_witness_against(from, now.steady)) return;
    if (raft_.let_catch_up(from, std::move(message), now.steady)) peers_.counts_again(from);
}

void NodeCore::receive(NodeId from, const FormationQuestion& message, Now /*now*/) {
    if (bootstrap_.agrees(from, message)) {
        effects_.send.push_back({from, FormationAnswer{message.round}});
    } else {
        refuse(from, "FormationQuestion", "this node is not empty, or not the one that is asked");
    }
}

void NodeCore::receive(NodeId from, const FormationOffer& message, Now now) {
    if (bootstrap_.accepts(from, message)) {
        raft_.adopt_formation(message.founding, now.steady);
    } else if (!bootstrap_.has_accepted(message)) {
        refuse(from, "FormationOffer", "it is not for this node, or not of one of its voters");
    }
}

// A learner that missed its removal asks for no votes; its other requests show that it does not
// know.
void NodeCore::receive(NodeId from, const Forward& message, Now /*now*/) {
    if (!raft_.configuration().is_formed() || !peers_.is_trusted(from)) {
        refuse(from, "Forward", "its sender is no member, as far as is known here");
        if (peers_.is_stranger(from)) raft_.dismiss(from);
        return;
    }
    intake_.take(from, message);
    take_intake_output();
}

void NodeCore::receive(NodeId from, const Superseded& message, Now now) {
    switch (own_life_.said(from, message, now.steady)) {
        case OwnLife::Said::refused:
            return refuse(from, "Superseded", "it is about another start of this node");
        case OwnLife::Said::again: return;
        case OwnLife::Said::news: return raft_.note_doubt(from);
        case OwnLife::Said::news_of_only_other:
            raft_.note_doubt(from);
            effects_.disconnect.push_back(from);
            return;
    }
}

void NodeCore::receive(NodeId from, const MembershipRequest& message, Now now) {
    if (auto reply = membership_.answer(from, message, now.steady)) {
        effects_.send.push_back({from, *reply});
    } else {
        refuse(from, "MembershipRequest", "its sender may not ask for it");
    }
}

// --- time, the program, the disk ----------------------------------------------------------------

void NodeCore::on(const TimerFired& /*event*/, Now now) {
    raft_.on_timer(now.steady);
    agent_.on_timer(now);
    call_desk_.on_timer(now);
    bootstrap_.offer_to_all(effects_.send);
}

void NodeCore::on(Calls& event, Now now) {
    for (auto& call : event.calls)
        call_desk_.take(call, now);
}

void NodeCore::on(const WriteDone& event, Now now) {
    const bool was_durable = raft_.durable_index() >= LogIndex{1};
    raft_.on_write_done(event.id, now.steady);
    if (!was_durable) bootstrap_.offer_to_all(effects_.send);
}

void NodeCore::on(const StateDurable& event, Now /*now*/) {
    const auto target = saver_.durable(event.index, applied_, event.log_bytes_max);
    if (!target) return;
    raft_.purge_to(*target);
    effects_.purge_log_to = raft_.base();
}

void NodeCore::on(const InstallTaken& /*event*/, Now /*now*/) {
    installer_.written();
    raft_.set_room_for_state(installer_.has_room());
}

// The received state is durable and replaces this node's own.
void NodeCore::on(const StateInstalled& event, Now now) {
    if (!raft_.on_state_installed(event.last, now.steady)) return;
    machine_ = installer_.finish();
    clock_.state_replaced(now);
    note_format_of_state();
    has_new_starts_ = true;
    applied_ = event.last.index;
    changes_.restart(applied_);
    note_cluster();
    activity_->restart(machine_.table(), applied_, now.steady);
    saver_.replaced(applied_);
    comparison_.forget_own();
    timers_.restart(timers_.save(applied_, now.steady), now.steady);
    contentions_.on_state_replaced();
    // The program of this node has not learned what was decided in between.
    agent_.on_state_replaced(machine_.sessions(), now);
    clients_.on_state_replaced();
    effects_.state_replaced = event.last;
}

}  // namespace mortise::core
