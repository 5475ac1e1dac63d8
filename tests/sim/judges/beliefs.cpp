#include "tests/sim/judges/beliefs.hpp"

#include <algorithm>

#include "tests/sim/base/in_words.hpp"

namespace mortise::sim {

namespace {

// A name for which the two conflict; null if there is none.
const std::string* conflict_of(const std::vector<core::NamedMode>& mine,
                               const std::vector<core::NamedMode>& theirs) {
    for (const auto& one : mine) {
        for (const auto& other : theirs) {
            if (one.name == other.name && core::conflict(one.mode, other.mode)) return &one.name;
        }
    }
    return nullptr;
}

// Two holds of permits conflict if they have a slot in common.
bool have_in_common(const core::Slots& mine, const core::Slots& theirs) {
    if (mine.empty() || theirs.empty()) return true;
    return std::ranges::any_of(
        mine, [&](std::uint32_t slot) { return std::ranges::find(theirs, slot) != theirs.end(); });
}

}  // namespace

void Beliefs::begins(core::NodeId node, core::OperationId hold, std::vector<core::NamedMode> names,
                     core::Instant ends, core::Slots slots) {
    believed_[hold] = {node, std::move(names), ends, std::move(slots)};
    check(hold);
}

void Beliefs::changes(core::OperationId hold, core::LockMode mode) {
    const auto found = believed_.find(hold);
    if (found == believed_.end() || found->second.names.empty()) return;
    found->second.names.front().mode = mode;
    check(hold);
}

std::optional<core::LockMode> Beliefs::mode_of(core::OperationId hold) const {
    const auto found = believed_.find(hold);
    if (found == believed_.end() || found->second.names.size() != 1) return std::nullopt;
    return found->second.names.front().mode;
}

void Beliefs::ends(core::OperationId hold, const std::string& name) {
    const auto found = believed_.find(hold);
    if (found == believed_.end()) return;
    std::erase_if(found->second.names, [&](const auto& one) { return one.name == name; });
}

void Beliefs::node_lost(core::NodeId node) {
    std::erase_if(believed_, [&](const auto& entry) { return entry.second.node == node; });
}

void Beliefs::lease_changed(core::NodeId node, const core::LeaseChanged& lease) {
    valid_until_[lease.session] = lease.valid_until;
    for (const auto& [hold, believed] : believed_) {
        if (believed.node == node && hold.session == lease.session) check(hold);
    }
}

bool Beliefs::is_believed(core::OperationId hold, const Believed& believed) const {
    const auto until = valid_until_.find(hold.session);
    return until != valid_until_.end() &&
           clocks_.boot(believed.node) < std::min(until->second, believed.ends);
}

// A belief ends only by itself, so it is enough to check when one begins, changes or is extended.
void Beliefs::check(core::OperationId hold) {
    const auto& mine = believed_.at(hold);
    if (!is_believed(hold, mine)) return;
    for (const auto& [other, theirs] : believed_) {
        if (other == hold) continue;
        const auto* name = conflict_of(mine.names, theirs.names);
        const bool conflicts = name != nullptr && have_in_common(mine.slots, theirs.slots);
        if (!conflicts || !is_believed(other, theirs)) continue;
        if (clocks_.out_of_bounds(mine.node) || clocks_.out_of_bounds(theirs.node)) {
            tally_.probe("two believed it, clocks out of bounds");
            continue;
        }
        violations_.report(mine.node, "local validity: node " + in_words(mine.node) + " and node " +
                                          in_words(theirs.node) + " both believe to hold " + *name +
                                          " (" + in_words(hold) + ", " + in_words(other) + ")");
    }
}

}  // namespace mortise::sim
