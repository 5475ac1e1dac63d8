#include "core/leases/closure_countdowns.hpp"

#include "core/base/check.hpp"

namespace mortise::core {

void ClosureCountdowns::start(ClosureId closure, Nanoseconds patience, Nanoseconds elapsed,
                              Instant now) {
    const auto started = now - elapsed;
    const auto ends = started + patience;
    const bool is_new = running_.try_emplace(closure, Running{started, ends}).second;
    MORTISE_CHECK(is_new);
    by_end_.emplace(ends, closure);
}

void ClosureCountdowns::stop(ClosureId closure) {
    const auto found = running_.find(closure);
    if (found == running_.end()) return;
    by_end_.erase({found->second.ends, closure});
    run_out_.erase(closure);
    running_.erase(found);
}

void ClosureCountdowns::advance(Instant now) {
    while (!by_end_.empty() && by_end_.begin()->first <= now) {
        run_out_.insert(by_end_.begin()->second);
        by_end_.erase(by_end_.begin());
    }
}

Instant ClosureCountdowns::deadline() const {
    return by_end_.empty() ? Instant::never() : by_end_.begin()->first;
}

std::vector<SavedCountdown> ClosureCountdowns::save(Instant now) const {
    std::vector<SavedCountdown> all;
    all.reserve(running_.size());
    for (const auto& [closure, running] : running_)
        all.push_back({{}, {}, now - running.started, closure});
    return all;
}

}  // namespace mortise::core
