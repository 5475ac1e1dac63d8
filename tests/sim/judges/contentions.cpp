#include "tests/sim/judges/contentions.hpp"

#include <algorithm>

#include "tests/sim/base/in_words.hpp"

namespace mortise::sim {

namespace {

// By somebody whose session is alive: the traces of others wait to be swept, and nobody is told of
// them.
bool is_waited_for(const core::LockView& lock, core::OperationId hold) {
    const auto held = std::ranges::find(lock.holders, hold, &core::Grant::operation);
    return std::ranges::any_of(lock.waiters, [&](const core::LockView::Waiting& one) {
        const core::OperationId upgraded{one.operation.session, one.upgrades};
        if (one.upgrades.is_set()) return upgraded != hold;
        return held != lock.holders.end() && core::conflict(held->mode, one.mode);
    });
}

}  // namespace

bool keeps_waiting(const core::LockMachine& machine, const std::string& name,
                   core::OperationId hold) {
    return machine.views().contention(name, hold) && is_waited_for(machine.inspect(name), hold);
}

void Contentions::watched(core::NodeId node, core::OperationId hold,
                          std::vector<std::string> names) {
    watched_[hold] = {node, std::move(names), false, {}};
}

void Contentions::released(core::OperationId hold) {
    if (watched_.erase(hold) != 0) released_.insert(hold);
}

void Contentions::node_lost(core::NodeId node) {
    std::erase_if(watched_, [&](const auto& one) { return one.second.node == node; });
}

void Contentions::applied(core::NodeId node, const core::ReleaseAsked& asked) {
    for (const auto hold : asked.holds) {
        const auto found = watched_.find(hold);
        if (found != watched_.end() && found->second.node == node)
            found->second.to_hear.insert(asked.reason);
    }
}

void Contentions::told(core::NodeId node, const core::Contended& contended) {
    const auto found = watched_.find(contended.hold);
    if (found == watched_.end()) {
        if (!released_.contains(contended.hold))
            report(node, contended.hold, "is told that others want what it does not have");
        return;
    }
    if (!contended.reason.empty()) {
        tally_.probe("holder asked to release");
        if (!reasons_.contains(contended.reason))
            report(node, contended.hold, "is asked for by nobody: " + contended.reason);
        found->second.to_hear.erase(contended.reason);
        return;
    }
    tally_.probe("holder told of a waiter");
    found->second.was_told = true;
    if (contended.waiters == 0) report(node, contended.hold, "is told that nobody waits for it");
}

void Contentions::after_step(core::NodeId node, const core::LockMachine& machine) {
    for (const auto& [hold, watched] : watched_) {
        if (watched.node != node) continue;
        if (!watched.to_hear.empty()) report(node, hold, "was asked for, and did not hear of it");
        if (watched.was_told) continue;
        const bool is_wanted = std::ranges::any_of(
            watched.names, [&](const auto& name) { return keeps_waiting(machine, name, hold); });
        if (is_wanted) report(node, hold, "keeps somebody waiting, and was not told");
    }
}

void Contentions::report(core::NodeId node, core::OperationId hold, const std::string& what) {
    violations_.report(node, "contention: hold " + in_words(hold) + " " + what);
}

}  // namespace mortise::sim
