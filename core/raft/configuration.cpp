#include "core/raft/configuration.hpp"

#include <algorithm>

namespace mortise::core {

namespace {

const Member* find_in(const std::vector<Member>& members, NodeId id) {
    const auto found = std::ranges::find(members, id, &Member::id);
    return found == members.end() ? nullptr : &*found;
}

}  // namespace

bool Configuration::is_voter(NodeId id) const {
    return find_in(voters, id) != nullptr || find_in(outgoing, id) != nullptr;
}

const Member* Configuration::find(NodeId id) const {
    for (const auto* list : {&voters, &outgoing, &learners}) {
        if (const auto* member = find_in(*list, id)) return member;
    }
    return nullptr;
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
