#include "tests/sim/judges/closure_times.hpp"

#include <algorithm>

#include "tests/sim/base/formats.hpp"
#include "tests/sim/base/in_words.hpp"

namespace mortise::sim {

void ClosureTimes::applied(core::NodeId node, const core::Applied& applied, SimTime now) {
    if (applied.entry.id.index <= last_) return;
    last_ = applied.entry.id.index;
    for (const auto& outcome : applied.outcomes) {
        if (const auto* begun = std::get_if<core::ClosureBegun>(&outcome)) on_begun(*begun, now);
        if (const auto* ended = std::get_if<core::ClosureEnded>(&outcome))
            on_ended(node, applied, ended->closure, now);
    }
}

void ClosureTimes::on_begun(const core::ClosureBegun& begun, SimTime now) {
    using enum core::Closure::Kind;
    // The leases that it waits for were counted by their holders with slower clocks.
    if (begun.kind == era) begun_[begun.closure] = {now, begun.time_ms * sim_millisecond};
    if (begun.kind != min_hold && begun.kind != lock_delay) return;
    const auto terms = terms_of_(begun.hold);
    const auto asked = begun.kind == min_hold ? terms.min_hold_ms : terms.lock_delay_ms;
    begun_[begun.closure] = {now, asked * sim_millisecond};
}

// A quorum timer may also end with the hold or name that it is about.
void ClosureTimes::on_ended(core::NodeId node, const core::Applied& applied,
                            core::ClosureId closure, SimTime now) {
    const auto found = begun_.extract(closure);
    if (found.empty() || now - found.mapped().at >= found.mapped().least || too_fast_()) return;
    const auto batch = commands_in(applied.entry.payload);
    const auto ends_it = [&](const core::Command& command) {
        const auto* ending = std::get_if<core::EndClosure>(&command);
        return ending != nullptr && ending->closure == closure;
    };
    if (!batch || std::ranges::none_of(*batch, ends_it)) return;
    const auto missing = (found.mapped().least - (now - found.mapped().at)) / sim_millisecond;
    violations_.report(node, "closure: " + in_words(closure) + " is over too early, by " +
                                 std::to_string(missing) + " ms");
}

}  // namespace mortise::sim
