#include "core/locks/table/request_groups.hpp"

#include <utility>

#include "core/base/check.hpp"

namespace mortise::core {

bool RequestGroups::join(std::string_view name, const Waiter& waiter) {
    auto& group =
        groups_.try_emplace(waiter.ticket, Group{waiter.operation, waiter.part, {}}).first->second;
    const bool same = group.operation == waiter.operation && group.part == waiter.part;
    return same && group.names.emplace(name, waiter.mode).second;
}

void RequestGroups::leave(std::string_view name, Ticket ticket) {
    const auto group = groups_.find(ticket);
    MORTISE_CHECK(group != groups_.end());
    group->second.names.erase(group->second.names.find(name));
    if (group->second.names.empty()) groups_.erase(group);
}

RequestGroups::Group RequestGroups::take(Ticket ticket) {
    auto group = groups_.extract(ticket);
    MORTISE_CHECK(!group.empty());
    return std::move(group.mapped());
}

std::size_t RequestGroups::names_waited_for(Ticket ticket) const {
    const auto group = groups_.find(ticket);
    return group == groups_.end() ? 0 : group->second.names.size();
}

}  // namespace mortise::core
