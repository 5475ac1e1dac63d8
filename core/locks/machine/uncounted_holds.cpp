#include "core/locks/machine/uncounted_holds.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>

namespace mortise::core {

void UncountedHolds::begin_counting(const Session& session, LogIndex known, LockTable& table) {
    const auto found = holds_.find(session.id);
    if (found == holds_.end()) return;
    std::erase_if(found->second, [&](Seq seq) {
        const auto* operation = session.operations.find(seq);
        if (operation == nullptr || !operation->held()) return true;
        const OperationId hold{session.id, seq};
        return std::ranges::all_of(operation->names(), [&](const RecordRef& record) {
            return table.count_max_hold(record->name(), hold, known);
        });
    });
    if (found->second.empty()) holds_.erase(found);
}

namespace {

constexpr std::uint64_t parts = 1'000'000;  // rho is given in millionths

std::uint32_t to_term(std::uint64_t ms) {
    return static_cast<std::uint32_t>(
        std::min<std::uint64_t>(ms, std::numeric_limits<std::uint32_t>::max()));
}

// Returns the time to be counted: when any clock that is right within rho has counted it, at least
// `ms` have passed.
std::uint64_t at_least(std::uint64_t ms, std::uint32_t rho_ppm) {
    return (ms * (parts + rho_ppm) + parts - 1) / parts;
}

}  // namespace

// The holder ends a hold after its max_hold by its own clock, which may be slow. By then no
// majority may have counted to the end.
HoldTerms counted_terms(const HoldTerms& terms, std::uint32_t rho_ppm) {
    if (!terms.is_set()) return {};
    const auto longest = at_least(terms.max_hold_ms, rho_ppm) * parts;
    const auto slow = parts - rho_ppm;
    return {to_term((longest + slow - 1) / slow), to_term(at_least(terms.min_hold_ms, rho_ppm)),
            to_term(at_least(terms.lock_delay_ms, rho_ppm))};
}

}  // namespace mortise::core
