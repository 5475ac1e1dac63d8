#include "embed/runtime/translate_activity.hpp"

#include "embed/runtime/translate.hpp"

namespace mortise::detail {

namespace {

ActivityRates from_core(const core::Rates& rates) {
    return {rates.length,      rates.grants,   rates.releases,    rates.losses,  rates.waiters_max,
            rates.wait.median, rates.wait.p99, rates.hold.median, rates.hold.p99};
}

std::vector<PrefixActivity> prefixes_of(const core::ContentionView& view) {
    std::vector<PrefixActivity> prefixes;
    for (const auto& each : view.prefixes) {
        prefixes.push_back({each.prefix, each.holders, each.waiters, each.contended, each.grants,
                            each.oldest_wait});
    }
    return prefixes;
}

}  // namespace

std::vector<ContendedName> contended_names_of(const std::vector<core::HotName>& hottest) {
    std::vector<ContendedName> names;
    for (const auto& hot : hottest)
        names.push_back({hot.name, from_core(hot.kind), hot.holders, hot.waiters, hot.oldest_wait});
    return names;
}

Activity activity_of(const core::ActivityView& view) {
    Activity activity;
    activity.node = view.node.raw();
    activity.cluster = view.cluster;
    activity.leader = view.leader.raw();
    activity.members = view.members;
    activity.sessions = view.sessions;
    activity.names = view.names;
    activity.waiters = view.contention.waiters;
    activity.contended_names = view.contention.contended;
    activity.oldest_wait = view.contention.oldest_wait;
    activity.hottest = contended_names_of(view.hottest);
    activity.prefixes = prefixes_of(view.contention);
    activity.recent = from_core(view.recent);
    for (const auto& slot : view.slots)
        activity.slots.push_back(from_core(slot));
    return activity;
}

void put_contention(const core::ContentionView& view, Metrics& metrics) {
    metrics.waiters = view.waiters;
    metrics.contended_names = view.contended;
    metrics.oldest_wait = view.oldest_wait;
    metrics.prefixes = prefixes_of(view);
}

}  // namespace mortise::detail
