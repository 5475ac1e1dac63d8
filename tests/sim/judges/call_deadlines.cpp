#include "tests/sim/judges/call_deadlines.hpp"

#include <algorithm>

#include "core/base/overloaded.hpp"
#include "tests/sim/base/in_words.hpp"

namespace mortise::sim {

core::Instant CallDeadlines::due(const core::Call& call, core::Instant now) const {
    const auto soon = now + call_timeout_;
    return std::visit(
        core::Overloaded{
            [&](const core::AcquireCall& one) {
                return std::min(one.deadline, one.request.wait ? core::Instant::never() : soon);
            },
            [&](const core::UpgradeCall& one) {
                return std::min(one.deadline, one.wait ? core::Instant::never() : soon);
            },
            [](const core::ConfirmCall& one) { return one.deadline; },
            [](const core::AwaitCall& one) { return one.deadline; },
            [&](const core::DowngradeCall&) { return soon; },
            [&](const core::ReleaseCall&) { return soon; },
            [&](const core::InspectCall&) { return soon; },
            [&](const core::WriteCall&) { return soon; },
            [](const auto&) { return core::Instant::never(); },
        },
        call);
}

void CallDeadlines::asked(core::NodeId node, const core::Call& call, core::Instant now) {
    const auto tag = core::tag_of(call);
    const auto at = due(call, now);
    const bool waits = !std::holds_alternative<core::CancelCall>(call);
    if (!tag.is_set() || !waits || at == core::Instant::never()) return;
    auto& open = open_[node];
    open.by_time.emplace(at, tag);
    open.by_tag.emplace(tag, at);
}

void CallDeadlines::answered(core::NodeId node, core::CallTag tag) {
    auto& open = open_[node];
    const auto found = open.by_tag.extract(tag);
    if (!found.empty()) open.by_time.erase({found.mapped(), tag});
}

void CallDeadlines::node_lost(core::NodeId node) {
    open_.erase(node);
}

void CallDeadlines::after_step(core::NodeId node, core::Instant now, core::Instant next) {
    const auto open = open_.find(node);
    if (open == open_.end() || open->second.by_time.empty()) return;
    const auto [at, tag] = *open->second.by_time.begin();
    if (next <= std::max(at, now)) return;
    violations_.report(node, "deadline: nobody will end call " + in_words(tag) + " in time");
}

}  // namespace mortise::sim
