#include "core/raft/configuration.hpp"

#include <algorithm>

namespace mortise::core {

namespace {

const Member* find_in(const std::vector<Member>& members, NodeId id) {
    const auto found = std::ranges::find(members, id, &Member::id);
    return found == members.end() ? nullptr : &*found;
}

}  // namespace

std::uint32_t ClusterId::mark() const {
    if (!is_set()) return 0;
    const auto half = high ^ low;
    const auto quarter = static_cast<std::uint32_t>(half ^ (half >> 32U));
    return quarter == 0 ? 1 : quarter;
}

Configuration Configuration::founding() const {
    return {cluster, founders.empty() ? voters : founders, {}, {}, {}};
}

const Member* Configuration::find(NodeId id) const {
    for (const auto* list : {&learners, &voters, &outgoing}) {
        if (const auto* member = find_in(*list, id)) return member;
    }
    return nullptr;
}

bool Configuration::is_current(const Member& member) const {
    return has(member.id, member.incarnation);
}

bool Configuration::has(NodeId id, Incarnation incarnation) const {
    const auto* member = find(id);
    return member != nullptr && member->incarnation == incarnation;
}

bool Configuration::is_voter(NodeId id) const {
    const auto votes_in = [&](const std::vector<Member>& members) {
        const auto* member = find_in(members, id);
        return member != nullptr && is_current(*member);
    };
    return votes_in(voters) || votes_in(outgoing);
}

bool Configuration::is_lasting_voter(NodeId id) const {
    const auto* member = find_in(voters, id);
    if (member == nullptr || !is_current(*member)) return false;
    const auto* former = find_in(outgoing, id);
    return !is_joint() || (former != nullptr && former->incarnation == member->incarnation);
}

bool Configuration::has(Incarnation incarnation) const {
    const auto is_in = [&](const std::vector<Member>& members) {
        return std::ranges::any_of(members, [&](const Member& member) {
            return member.incarnation == incarnation && is_current(member);
        });
    };
    return is_in(voters) || is_in(outgoing) || is_in(learners);
}

bool Configuration::is_learner(NodeId id) const {
    return find_in(learners, id) != nullptr;
}

std::vector<NodeId> Configuration::all() const {
    std::vector<NodeId> ids;
    for (const auto* list : {&voters, &outgoing, &learners}) {
        for (const auto& member : *list)
            ids.push_back(member.id);
    }
    std::ranges::sort(ids);
    ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
    return ids;
}

}  // namespace mortise::core
