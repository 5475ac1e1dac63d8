#include "embed/host/rate_limit.hpp"

#include <algorithm>
#include <utility>

namespace mortise::detail {

std::optional<std::uint64_t> RateLimit::admit(std::string_view cause, Clock::time_point now) {
    auto& budget = budget_of(cause, now);
    if (const auto refills = (now - budget.counted) / refill; refills > 0) {
        budget.lines =
            static_cast<std::uint32_t>(std::min<std::int64_t>(burst, budget.lines + refills));
        budget.counted += refills * refill;
    }
    if (budget.lines == 0) {
        ++budget.left_out;
        ++left_out_;
        return std::nullopt;
    }
    --budget.lines;
    return std::exchange(budget.left_out, 0);
}

RateLimit::Budget& RateLimit::budget_of(std::string_view cause, Clock::time_point now) {
    auto found = budgets_.find(cause);
    if (found == budgets_.end()) {
        if (budgets_.size() >= causes_max) cause = {};
        found = budgets_.try_emplace(std::string{cause}, Budget{.counted = now}).first;
    }
    return found->second;
}

}  // namespace mortise::detail
