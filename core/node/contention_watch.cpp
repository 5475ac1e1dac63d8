#include "core/node/contention_watch.hpp"

#include <utility>

#include "core/base/mutant.hpp"

namespace mortise::core {

void ContentionWatch::watch(OperationId hold, const std::vector<std::string>& names) {
    names_[hold] = names;
    for (const auto& name : names) {
        holds_[name].insert(hold);
        // A queue of ten tells each in turn that nine are left: those came before it was granted.
        if (!planted(Mutant::contention_before_grant_untold)) marked_.emplace(name, hold);
    }
}

void ContentionWatch::forget(OperationId hold) {
    const auto found = names_.extract(hold);
    if (found.empty()) return;
    for (const auto& name : found.mapped()) {
        const auto holds = holds_.find(name);
        holds->second.erase(hold);
        marked_.erase({name, hold});  // one that was broken is in the machine still
        if (holds->second.empty()) holds_.erase(holds);
    }
    std::erase_if(asked_, [&](const auto& one) { return one.second.hold == hold; });
}

void ContentionWatch::converted(OperationId hold) {
    const auto found = names_.find(hold);
    if (found == names_.end()) return;
    for (const auto& name : found->second)
        marked_.emplace(name, hold);
}

void ContentionWatch::somebody_waits(const std::string& name) {
    const auto found = holds_.find(name);
    if (found == holds_.end()) return;
    for (const auto hold : found->second)
        marked_.emplace(name, hold);
}

void ContentionWatch::on(const ReleaseAsked& asked) {
    for (const auto hold : asked.holds) {
        if (!names_.contains(hold)) continue;
        asked_.emplace_back(asked.name, Contended{hold, LockMode::exclusive, 0, asked.reason});
    }
}

void ContentionWatch::on_state_replaced() {
    for (const auto& [name, holds] : holds_)
        somebody_waits(name);
}

std::vector<Contended> ContentionWatch::take(const LockMachine& machine) {
    std::vector<Contended> told;
    for (auto& [name, one] : std::exchange(asked_, {})) {
        if (const auto found = machine.contention(name, one.hold)) one.waiters = found->waiters;
        told.push_back(std::move(one));
    }
    for (const auto& [name, hold] : std::exchange(marked_, {})) {
        const auto found = machine.contention(name, hold);
        if (found) told.push_back({hold, found->mode, found->waiters, {}});
    }
    return told;
}

}  // namespace mortise::core
