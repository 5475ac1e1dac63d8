#include "tests/sim/judges/wait_cycles.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "tests/sim/base/in_words.hpp"

namespace mortise::sim {

namespace {

using Locker = std::pair<core::SessionId, std::uint64_t>;
using WaitsFor = std::map<Locker, std::set<Locker>>;

void add_waits(const core::LockView& lock, const core::LockView::Waiting& waiting,
               WaitsFor& waits) {
    const auto session = waiting.operation.session;
    for (const auto& holder : lock.holders) {
        const bool is_own_hold =
            holder.operation.session == session && holder.operation.seq == waiting.upgrades;
        const bool counts = holder.locker.is_set() && !is_own_hold;
        if (!counts || core::compatible(holder.mode, waiting.mode)) continue;
        waits[{session, waiting.locker.number}].insert(
            {holder.operation.session, holder.locker.number});
    }
}

// Follows the waits until a locker occurs twice.
std::optional<Locker> find_cycle(const Locker& at, const WaitsFor& waits, std::set<Locker>& path,
                                 std::set<Locker>& done) {
    const auto found = waits.find(at);
    if (found == waits.end() || done.contains(at)) return std::nullopt;
    if (!path.insert(at).second) return at;
    for (const auto& next : found->second) {
        if (auto cycle = find_cycle(next, waits, path, done)) return cycle;
    }
    path.erase(at);
    done.insert(at);
    return std::nullopt;
}

}  // namespace

std::string standing_cycle(const std::vector<core::LockView>& locks, const TakesAny& takes_any) {
    WaitsFor waits;
    for (const auto& lock : locks) {
        for (const auto& waiting : lock.waiters) {
            // A try is given up soon (S43).
            const bool counts =
                waiting.locker.is_set() && !waiting.is_try && !takes_any(waiting.operation);
            if (counts) add_waits(lock, waiting, waits);
        }
    }
    std::set<Locker> done;
    for (const auto& [locker, others] : waits) {
        std::set<Locker> path;
        const auto cycle = find_cycle(locker, waits, path, done);
        if (!cycle) continue;
        return "locker " + std::to_string(cycle->second) + " of session " + in_words(cycle->first) +
               " waits for itself";
    }
    return {};
}

}  // namespace mortise::sim
