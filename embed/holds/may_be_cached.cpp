#include "embed/holds/may_be_cached.hpp"

namespace mortise::detail {

namespace {

bool may_be_cached(const AcquireOptions& options) {
    const bool is_timed = options.max_hold.is_set() || options.min_hold != Duration::zero() ||
                          options.progress_timeout.is_set() ||
                          options.lock_delay != Duration::zero();
    return options.caching == Caching::adaptive && !is_timed &&
           (options.mode == LockMode::exclusive || options.mode == LockMode::shared) &&
           options.on_uncertain == OnUncertain::lose && !options.on_contended &&
           !options.queue_policy;  // the cluster knows the policy of the name (S31)
}

}  // namespace

bool may_be_cached(const AcquireOrder& order) {
    return !order.several && !order.permits && may_be_cached(order.options);
}

bool may_be_taken_again(const AcquireOptions& options) {
    return may_be_cached(options) && options.mode == LockMode::exclusive &&
           options.locker == Locker{} && options.priority == 0 && !options.wait_max.is_set() &&
           !options.on_at_risk && !options.on_suspended && !options.cancel.stop_requested();
}

}  // namespace mortise::detail
