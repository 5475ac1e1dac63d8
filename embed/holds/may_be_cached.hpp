// Which acquires a cached grant can serve, by what they ask for (S43).
#pragma once

#include <mortise/detail/start.hpp>
#include <mortise/options.hpp>

namespace mortise::detail {

// Whether the grant of such an acquire may be cached.
[[nodiscard]] bool may_be_cached(const AcquireOrder& order);
// Whether the owner of the last use may take it again with these options without being told of
// anything: one exclusive hold, and no locker, priority, limit of the wait, or callback.
[[nodiscard]] bool may_be_taken_again(const AcquireOptions& options);

}  // namespace mortise::detail
