#include "tests/sim/judges/observations.hpp"

#include <utility>

namespace mortise::sim {

namespace {

constexpr std::uint64_t steps_between_moves = 4'000;

}  // namespace

Observations::Observations(Violations& violations, Tally& tally, std::uint64_t seed,
                           std::uint64_t nodes)
    : violations_{violations}, tally_{tally}, prng_{seed ^ 0x0b5e'47ed'0b5e'47edU} {
    const core::ObservedNames kinds[] = {{"", false}, {"name1", false}, {"name0", true}};
    for (std::uint64_t node = 1; node <= nodes; ++node) {
        for (const auto& names : kinds)
            all_.push_back({names, {names, {}}, {}, core::NodeId{node}, 1 + prng_.below(40)});
    }
}

void Observations::stepped(core::NodeId node, const core::NodeCore& core) {
    for (auto& one : all_) {
        if (!one.at.is_set() || prng_.one_in(steps_between_moves)) move_to(node, one);
        if (one.at == node && prng_.one_in(one.pace)) tell(node, core, one);
    }
}

void Observations::node_lost(core::NodeId node) {
    for (auto& one : all_) {
        if (one.at == node) one.at = {};
    }
}

void Observations::move_to(core::NodeId node, Observing& one) {
    one.at = node;
    one.has_moved = one.replay.position().is_set();
    one.observer = {one.names, one.replay.position()};
}

void Observations::tell(core::NodeId node, const core::NodeCore& core, Observing& one) {
    core::ObserverBudget budget{1 + prng_.below(16), 1 + prng_.below(64)};
    std::vector<core::Observed> told;
    one.observer.take(core.changes(), core.machine(), budget, told);
    const auto reached = one.replay.position();
    const auto era = core.changes().cluster();
    const bool is_behind = reached.is_of_later_era(era) ||
                           (!reached.is_foreign_to(era) && reached.index > core.applied_index());
    if (is_behind) {
        tally_.probe("observer ahead of its node");
        if (!told.empty()) violations_.report(node, "observer: was told what its node lacks");
        return;
    }
    for (const auto& each : told)
        take(node, each, one);
    if (!one.observer.has_more()) compare(node, core, one);
}

void Observations::take(core::NodeId node, const core::Observed& told, Observing& one) {
    const bool is_change = std::holds_alternative<core::NameChange>(told.what);
    const bool is_gap = std::holds_alternative<core::Gap>(told.what);
    if (std::exchange(one.has_moved, false)) {
        if (is_change) tally_.probe("observer continued on another node");
        if (is_gap) tally_.probe("observer began anew on another node");
    } else if (is_gap && one.replay.position().is_set()) {
        tally_.probe("observer was too slow");
    }
    if (const auto wrong = one.replay.take(told); !wrong.empty())
        violations_.report(node, "observer: " + wrong);
}

void Observations::compare(core::NodeId node, const core::NodeCore& core, const Observing& one) {
    if (!core.applied_index().is_set()) return;
    // It takes long with thousands of names.
    if (!prng_.one_in(1 + core.machine().table().size() / 32)) return;
    if (!one.replay.is_complete())
        return violations_.report(node, "observer: has nothing more, but no complete state");
    const auto differing = one.replay.differs_from(core.machine(), one.names);
    if (!differing.empty())
        violations_.report(node, "observer: was told another state of" + differing);
}

}  // namespace mortise::sim
