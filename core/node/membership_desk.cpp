#include "core/node/membership_desk.hpp"

#include <algorithm>
#include <iterator>

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

// Two nodes at one address are one: the second could not be reached there.
bool is_taken(const std::string& address, const Configuration& by) {
    const auto members = by.all();
    return std::ranges::any_of(members, [&](NodeId id) { return by.find(id)->address == address; });
}

bool is_address(const std::string& address) {
    return !address.empty() && address.size() <= address_bytes_max;
}

}  // namespace

MembershipDesk::MembershipDesk(const NodeOptions& options, const Peers& peers,
                               const LogFormats& formats, Raft& raft)
    : options_{options},
      peers_{peers},
      formats_{formats},
      raft_{raft},
      wanted_{options.election_timeout * outsider_for} {}

void MembershipDesk::ask(MembershipCalls& calls, Effects& effects, Instant now) {
    if (calls.is_empty()) return;
    while (const auto leader = raft_.leader()) {
        const auto request = calls.take_due(*leader, now);
        if (!request) break;
        if (*leader == options_.self) {
            calls.replied(options_.self, consider(*request, now), now);
        } else {
            effects.send.push_back({*leader, *request});
        }
    }
    const MembershipCalls::View view{raft_.leader(), raft_.term(), raft_.configuration(),
                                     raft_.configuration_id().index, is_settled()};
    std::ranges::move(calls.take_finished(view, now), std::back_inserter(effects.answers));
}

std::optional<MembershipReply> MembershipDesk::answer(NodeId from, const MembershipRequest& request,
                                                      Instant now) {
    const bool is_formed = raft_.configuration().is_formed();
    if (!is_formed || !peers_.is_trusted(from) || !request.goal.member.is_set())
        return std::nullopt;
    // The rights of this node's own program were checked when it called.
    const bool may = peers_.at(from).access.may(Right::members, {});
    return may ? consider(request, now) : refusal(request, MembershipRefusal::not_allowed);
}

MembershipReply MembershipDesk::consider(const MembershipRequest& request, Instant now) {
    if (!raft_.is_leader()) return refusal(request, MembershipRefusal::not_leader);
    if (!raft_.has_committed_own_term()) {
        return refusal(request, MembershipRefusal::leader_not_ready);
    }
    const bool of_leader = request.goal.kind == MembershipGoal::Kind::leader;
    return of_leader ? consider_leader(request, now) : consider_members(request, now);
}

MembershipReply MembershipDesk::consider_members(const MembershipRequest& request, Instant now) {
    const auto& goal = request.goal;
    const auto& present = raft_.configuration();
    const auto index = raft_.configuration_id().index;
    if (is_reached(goal, without_outgoing(present))) {
        return reply_with(request, is_settled() ? State::done : State::begun);
    }
    if (goal.kind == MembershipGoal::Kind::learner) {
        if (present.find(goal.member) != nullptr) {
            return refusal(request, MembershipRefusal::already_member);
        }
        if (is_settled() && is_taken(goal.address, present))
            return refusal(request, MembershipRefusal::invalid_address);
        if (is_address(goal.address)) wanted_.expect(goal.member, goal.address, now);
    }
    if (goal.kind == MembershipGoal::Kind::address) {
        if (present.find(goal.member) == nullptr)
            return refusal(request, MembershipRefusal::unknown_member);
        if (!is_address(goal.address) || (is_settled() && is_taken(goal.address, present)))
            return refusal(request, MembershipRefusal::invalid_address);
    }
    if (!request.configuration.is_set()) {
        if (!is_settled()) return refusal(request, MembershipRefusal::change_in_progress);
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

ChangeResult MembershipDesk::begin_change(const MembershipGoal& goal, Instant now) {
    switch (goal.kind) {
        case MembershipGoal::Kind::learner: return add_member(goal.member, goal.address, now);
        case MembershipGoal::Kind::voter: return promote(goal.member, now);
        case MembershipGoal::Kind::address: return raft_.move(goal.member, goal.address, now);
        case MembershipGoal::Kind::gone: return raft_.remove(goal.member, now);
        case MembershipGoal::Kind::leader: break;  // does not change the members
    }
    return MembershipRefusal::not_a_voter;
}

// Adds the node as a learner. It must be running and connected: only the node itself knows its
// incarnation.
ChangeResult MembershipDesk::add_member(NodeId id, const std::string& address, Instant now) {
    if (!is_address(address)) return MembershipRefusal::invalid_address;
    const auto* found = peers_.find(id);
    if (found == nullptr) return MembershipRefusal::not_connected;
    if (!peers_.is_of_cluster(*found)) return MembershipRefusal::other_cluster;
    // The log of earlier leaders may contain changes that this leader has not applied.
    if (!raft_.has_handed_out_own_term()) return MembershipRefusal::leader_not_ready;
    if (formats_.is_too_old(*found)) return MembershipRefusal::too_old;
    if (!peers_.is_members_certificate(id)) return MembershipRefusal::not_a_members_certificate;
    return raft_.add_learner({id, found->generation.incarnation, address}, now);
}

// Nothing is proposed during a leadership transfer, so it is tried once, with a target that can
// take it at once.
MembershipReply MembershipDesk::consider_leader(const MembershipRequest& request, Instant now) {
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
    if (!raft_.is_caught_up(target, now)) {
        return refusal(request, MembershipRefusal::not_caught_up);
    }
    raft_.transfer_to(target, now);
    return reply_with(request, State::begun);
}

// Only the certificate on its connection shows whether it may vote.
ChangeResult MembershipDesk::promote(NodeId id, Instant now) {
    const bool is_learner = raft_.is_leader() && raft_.configuration().is_learner(id);
    if (is_learner) {
        if (peers_.find(id) == nullptr) return MembershipRefusal::not_connected;
        if (!peers_.is_voters_certificate(id)) return MembershipRefusal::not_a_voters_certificate;
    }
    return raft_.promote(id, now);
}

// Committed, and not joint.
bool MembershipDesk::is_settled() const {
    return raft_.is_configuration_committed() && !raft_.configuration().is_joint();
}

// --- automatic replacement ----------------------------------------------------------------------

// A member that lost its directory returns with another incarnation: first as a learner, and when
// it has caught up it replaces the lost voter (S47).
void MembershipDesk::take_in_newcomers(Instant now) {
    if (!raft_.has_handed_out_own_term()) return;
    for (const auto& [peer, hello] : peers_.connected()) {
        const auto& present = raft_.configuration();
        const auto* member = present.find(peer);
        if (member == nullptr || !peers_.is_of_cluster(hello) || formats_.is_too_old(hello))
            continue;
        if (!peers_.is_members_certificate(peer)) continue;
        ChangeResult begun = MembershipRefusal::already_member;
        if (member->incarnation != hello.generation.incarnation) {
            begun = raft_.add_learner({peer, hello.generation.incarnation, member->address}, now);
        } else if (present.is_learner(peer) &&
                   std::ranges::find(present.voters, peer, &Member::id) != present.voters.end()) {
            begun = promote(peer, now);
        }
        if (std::holds_alternative<LogIndex>(begun)) return;
    }
}

// A member that says the other one, or that is away, has to be restarted or removed first.
void MembershipDesk::follow_durability(Instant now) {
    const auto wanted = options_.durability;
    const auto& present = raft_.configuration();
    if (present.durability == wanted || !raft_.has_handed_out_own_term() || !is_settled()) return;
    const auto is_ready = [&](NodeId id) {
        if (id == options_.self) return true;
        const auto* hello = peers_.find(id);
        return hello != nullptr && present.has(id, hello->generation.incarnation) &&
               hello->durability == wanted;
    };
    if (std::ranges::all_of(present.all(), is_ready)) raft_.set_durability(wanted, now);
}

// --- connections --------------------------------------------------------------------------------

std::optional<std::vector<Member>> MembershipDesk::take_changed_peers(Instant now) {
    return wanted_.take_changed(raft_.configuration(), raft_.configuration_id(), now);
}

}  // namespace mortise::core
