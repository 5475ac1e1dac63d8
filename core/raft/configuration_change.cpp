#include "core/raft/configuration_change.hpp"

#include <algorithm>
#include <utility>

#include "core/base/check.hpp"

namespace mortise::core {

namespace {

bool erase_from(std::vector<Member>& members, NodeId id) {
    return std::erase_if(members, [&](const Member& member) { return member.id == id; }) != 0;
}

void insert_into(std::vector<Member>& members, const Member& member) {
    members.insert(std::ranges::upper_bound(members, member.id, {}, &Member::id), member);
}

}  // namespace

bool is_reached(const MembershipGoal& goal, const Configuration& by) {
    const auto* member = by.find(goal.member);
    switch (goal.kind) {
        case MembershipGoal::Kind::address:
        case MembershipGoal::Kind::learner:
            return member != nullptr && member->address == goal.address;
        case MembershipGoal::Kind::voter: return by.is_voter(goal.member);
        case MembershipGoal::Kind::gone: return member == nullptr;
        case MembershipGoal::Kind::leader: break;
    }
    return false;
}

bool passes_by_itself(MembershipRefusal refusal) {
    switch (refusal) {
        case MembershipRefusal::not_leader:
        case MembershipRefusal::leader_not_ready:
        case MembershipRefusal::change_in_progress:
        case MembershipRefusal::not_connected:
        case MembershipRefusal::not_caught_up: return true;
        default: return false;
    }
}

Configuration with_learner(Configuration before, const Member& learner) {
    erase_from(before.learners, learner.id);
    insert_into(before.learners, learner);
    return before;
}

Configuration with_address(Configuration before, NodeId id, const std::string& address) {
    for (auto* members : {&before.voters, &before.learners}) {
        for (auto& member : *members)
            if (member.id == id) member.address = address;
    }
    return before;
}

Configuration with_promoted(Configuration before, NodeId learner) {
    const auto found = std::ranges::find(before.learners, learner, &Member::id);
    MORTISE_CHECK(found != before.learners.end() && !before.is_joint());
    const auto member = *found;
    before.outgoing = before.voters;
    erase_from(before.learners, learner);
    erase_from(before.voters, learner);
    insert_into(before.voters, member);
    return before;
}

Configuration without_member(Configuration before, NodeId id) {
    MORTISE_CHECK(!before.is_joint());
    auto voters = before.voters;
    if (erase_from(voters, id)) before.outgoing = std::exchange(before.voters, voters);
    MORTISE_CHECK(!before.voters.empty());
    erase_from(before.learners, id);
    return before;
}

Configuration without_outgoing(Configuration before) {
    before.outgoing.clear();
    return before;
}

}  // namespace mortise::core
