// Changes of the membership: those of this node's program on their way to the leader, and the
// leader's answers.
#include <algorithm>
#include <utility>

#include "core/node/node_core.hpp"

namespace mortise::core {

namespace {

// The time, in election timeouts, for which the node stays connected with nodes that are not
// members. For a new node it begins anew with each request.
constexpr int outsider_for = 2;

using State = MembershipReply::State;

MembershipReply reply_with(const MembershipRequest& request, State state) {
    MembershipReply reply;
    reply.id = request.id;
    reply.state = state;
    return reply;
}

MembershipReply refusal(const MembershipRequest& request, MembershipRefusal why) {
    auto reply = reply_with(request, passes_by_itself(why) ? State::not_yet : State::refused);
    reply.why = why;
    return reply;
}

// Two nodes at one address count as one: the second could not be reached there.
bool is_taken(const std::string& address, const Configuration& by) {
    const auto members = by.all();
    return std::ranges::any_of(members, [&](NodeId id) { return by.find(id)->address == address; });
}

bool is_address(const std::string& address) {
    return !address.empty() && address.size() <= address_bytes_max;
}

}  // namespace

// --- who asks -----------------------------------------------------------------------------------

void NodeCore::call(ChangeCall& call, Now now) {
    if (changes_.is_full()) effects_.answers.push_back(changes_.give_way());
    changes_.add(std::move(call), now.steady);
}

void NodeCore::ask_for_changes(Now now) {
    if (changes_.is_empty()) return;
    while (const auto leader = raft_.leader()) {
        const auto request = changes_.take_due(*leader, now.steady);
        if (!request) break;
        if (*leader == options_.self) {
            changes_.replied(options_.self, consider(*request, now), now.steady);
        } else {
            effects_.send.push_back({*leader, *request});
        }
    }
    const bool is_settled = raft_.is_configuration_committed() && !raft_.configuration().is_joint();
    const MembershipCalls::View view{raft_.leader(), raft_.term(), raft_.configuration(),
                                     raft_.configuration_id().index, is_settled};
    std::ranges::move(changes_.take_over(view, now.steady), std::back_inserter(effects_.answers));
}

void NodeCore::receive(NodeId from, const MembershipReply& reply, Now now) {
    changes_.replied(from, reply, now.steady);
}

// --- who is asked -------------------------------------------------------------------------------

void NodeCore::receive(NodeId from, const MembershipRequest& request, Now now) {
    if (!is_formed() || !is_trusted(from) || !request.goal.member.is_set()) {
        ++refused_messages_;
        return;
    }
    // The rights of this node's own program were checked when it called.
    const bool may = connected_.at(from).access.may(Right::members, {});
    effects_.send.push_back(
        {from, may ? consider(request, now) : refusal(request, MembershipRefusal::not_allowed)});
}

MembershipReply NodeCore::consider(const MembershipRequest& request, Now now) {
    if (!raft_.is_leader()) return refusal(request, MembershipRefusal::not_leader);
    if (!raft_.has_committed_own_term()) {
        return refusal(request, MembershipRefusal::leader_not_ready);
    }
    const bool of_leader = request.goal.kind == MembershipGoal::Kind::leader;
    return of_leader ? consider_leader(request, now) : consider_members(request, now);
}

MembershipReply NodeCore::consider_members(const MembershipRequest& request, Now now) {
    const auto& goal = request.goal;
    const auto& present = raft_.configuration();
    const auto index = raft_.configuration_id().index;
    const bool is_settled = raft_.is_configuration_committed() && !present.is_joint();
    if (is_reached(goal, without_outgoing(present))) {
        return reply_with(request, is_settled ? State::done : State::begun);
    }
    if (goal.kind == MembershipGoal::Kind::learner) {
        if (present.find(goal.member) != nullptr) {
            return refusal(request, MembershipRefusal::already_member);
        }
        if (is_settled && is_taken(goal.address, present))
            return refusal(request, MembershipRefusal::invalid_address);
        expect(goal, now);
    }
    if (goal.kind == MembershipGoal::Kind::address) {
        if (present.find(goal.member) == nullptr)
            return refusal(request, MembershipRefusal::unknown_member);
        if (!is_address(goal.address) || (is_settled && is_taken(goal.address, present)))
            return refusal(request, MembershipRefusal::invalid_address);
    }
    if (!request.configuration.is_set()) {
        if (!is_settled) return refusal(request, MembershipRefusal::change_in_progress);
        auto reply = reply_with(request, State::looked);
        reply.configuration = index;
        reply.term = raft_.term();
        return reply;
    }
    if (request.configuration != index) return refusal(request, MembershipRefusal::overtaken);
    const auto begun = begin_change(goal, now);
    const auto* why = std::get_if<MembershipRefusal>(&begun);
    return why != nullptr ? refusal(request, *why) : reply_with(request, State::begun);
}

ChangeResult NodeCore::begin_change(const MembershipGoal& goal, Now now) {
    switch (goal.kind) {
        case MembershipGoal::Kind::learner: return add_member(goal.member, goal.address, now);
        case MembershipGoal::Kind::voter: return promote(goal.member, now);
        case MembershipGoal::Kind::address:
            return raft_.move(goal.member, goal.address, now.steady);
        case MembershipGoal::Kind::gone: return raft_.remove(goal.member, now.steady);
        case MembershipGoal::Kind::leader: break;  // not a change of the members
    }
    return MembershipRefusal::not_a_voter;
}

// As a learner. It must be running and connected: only it knows what its directory is.
ChangeResult NodeCore::add_member(NodeId id, const std::string& address, Now now) {
    if (!is_address(address)) return MembershipRefusal::invalid_address;
    const auto found = connected_.find(id);
    if (found == connected_.end()) return MembershipRefusal::not_connected;
    if (!is_of_cluster(found->second)) return MembershipRefusal::other_cluster;
    // What earlier leaders left may be newer than anything this one has applied.
    if (!raft_.has_handed_out_own_term()) return MembershipRefusal::leader_not_ready;
    if (is_too_old(found->second)) return MembershipRefusal::too_old;
    if (!is_members_certificate(id)) return MembershipRefusal::not_a_members_certificate;
    return raft_.add_learner({id, found->second.generation.incarnation, address}, now.steady);
}

// Nothing is proposed while leadership is handed over, so it is tried once, with somebody who can
// take it at once.
MembershipReply NodeCore::consider_leader(const MembershipRequest& request, Now now) {
    const auto target = request.goal.member;
    if (target == options_.self) return reply_with(request, State::done);
    if (!raft_.configuration().is_voter(target)) {
        return refusal(request, MembershipRefusal::not_a_voter);
    }
    // A caller that looked in an earlier term looks again: it did not cause the election in
    // between. A late copy of a request still has no effect.
    if (request.term != raft_.term()) {
        auto reply = reply_with(request, State::looked);
        reply.configuration = raft_.configuration_id().index;
        reply.term = raft_.term();
        return reply;
    }
    if (raft_.is_transferring()) return reply_with(request, State::begun);
    if (request.begun) {
        auto failed = reply_with(request, State::refused);
        failed.why = MembershipRefusal::not_caught_up;
        return failed;
    }
    if (!raft_.is_caught_up(target, now.steady)) {
        return refusal(request, MembershipRefusal::not_caught_up);
    }
    raft_.transfer_to(target, now.steady);
    return reply_with(request, State::begun);
}

// --- whom to be connected with ------------------------------------------------------------------

// A new node must be connected before it can be added: only it knows its incarnation.
void NodeCore::expect(const MembershipGoal& goal, Now now) {
    const bool is_full = outsiders_.size() >= members_max && !outsiders_.contains(goal.member);
    if (!is_full && is_address(goal.address)) keep_connected(goal.member, goal.address, now);
}

void NodeCore::keep_connected(NodeId id, const std::string& address, Now now) {
    auto& outsider = outsiders_[id];
    if (outsider.address != address) told_peers_of_ = {};
    outsider = {address, now.steady + options_.election_timeout * outsider_for};
}

// A removed node stays connected for a while, so that it learns of its removal.
void NodeCore::tell_peers(Now now) {
    const auto gone = std::erase_if(
        outsiders_, [&](const auto& each) { return now.steady >= each.second.until; });
    if (gone != 0) told_peers_of_ = {};
    if (!is_formed() || told_peers_of_ == raft_.configuration_id()) return;
    const auto& present = raft_.configuration();
    for (const auto& [id, address] : std::exchange(members_told_, {})) {
        if (present.find(id) == nullptr) keep_connected(id, address, now);
    }
    told_peers_of_ = raft_.configuration_id();
    auto& peers = effects_.peers.emplace();
    for (const auto id : present.all()) {
        peers.push_back(*present.find(id));
        members_told_[id] = peers.back().address;
    }
    for (const auto& [id, outsider] : outsiders_) {
        if (present.find(id) == nullptr) peers.push_back({id, {}, outsider.address});
    }
}

Instant NodeCore::forgets_outsiders_at() const {
    auto next = Instant::never();
    for (const auto& [id, outsider] : outsiders_)
        next = std::min(next, outsider.until);
    return next;
}

}  // namespace mortise::core
