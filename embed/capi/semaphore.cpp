// Semaphores, rate limiters, and the removal of a name.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <mortise.h>

#include "embed/capi/acquired.hpp"
#include "embed/capi/calls.hpp"
#include "embed/capi/handles.hpp"
#include "embed/capi/options.hpp"
#include <mortise/detail/start.hpp>
#include <mortise/rate_limiter.hpp>
#include <mortise/semaphore.hpp>

using namespace mortise::capi;
using mortise::detail::Attempt;

struct mortise_semaphore {
    mortise::Semaphore semaphore;
};

struct mortise_rate_limiter {
    mortise::RateLimiter limiter;
};

namespace mortise::capi {
namespace {

Asked<detail::AcquireOrder> permits_of(const mortise_semaphore* semaphore, std::uint32_t count,
                                       const mortise_acquire_options* options,
                                       detail::Attempt attempt,
                                       detail::Deadline deadline = detail::Deadline::max()) {
    const auto& asked = existing(semaphore, "semaphore is NULL").semaphore;
    return {detail::runtime_of(asked),
            detail::order_of(asked, count, options_of(options), attempt, deadline)};
}

std::optional<std::vector<Slot>> take(RateLimiter& limiter, std::uint32_t count, Duration wait,
                                      const AcquireOptions& options) {
    if (!wait.is_set()) return limiter.acquire(count, options);
    if (wait == Duration::zero()) return limiter.try_acquire(count, options);
    return limiter.acquire_for(count, wait, options);
}

}  // namespace
}  // namespace mortise::capi

int mortise_semaphore_new(const mortise_node* node, const char* name, size_t name_length,
                          uint32_t limit, mortise_semaphore** semaphore, mortise_error** error) {
    clear(semaphore);
    return guarded(error, [&] {
        require(node != nullptr, "node is NULL");
        require(semaphore != nullptr, "semaphore is NULL");
        const auto wanted = text(name, name_length, "name is NULL");
        *semaphore = new mortise_semaphore{mortise::Semaphore{node->node, wanted, limit}};
    });
}

void mortise_semaphore_free(mortise_semaphore* semaphore) {
    delete semaphore;
}

int mortise_semaphore_acquire(mortise_semaphore* semaphore, uint32_t count,
                              const mortise_acquire_options* options, mortise_hold** hold,
                              mortise_error** error) {
    return acquire(hold, error,
                   [&] { return permits_of(semaphore, count, options, Attempt::wait); });
}

int mortise_semaphore_try_acquire(mortise_semaphore* semaphore, uint32_t count,
                                  const mortise_acquire_options* options, mortise_hold** hold,
                                  mortise_error** error) {
    return acquire(hold, error,
                   [&] { return permits_of(semaphore, count, options, Attempt::once); });
}

int mortise_semaphore_acquire_for(mortise_semaphore* semaphore, uint32_t count, int64_t wait_max_ns,
                                  const mortise_acquire_options* options, mortise_hold** hold,
                                  mortise_error** error) {
    return acquire(hold, error, [&] {
        return permits_of(semaphore, count, options, Attempt::until, deadline_of(wait_max_ns));
    });
}

int mortise_semaphore_acquire_async(mortise_semaphore* semaphore, uint32_t count,
                                    int64_t wait_max_ns, const mortise_acquire_options* options,
                                    mortise_acquired_callback acquired, void* context,
                                    void (*destroy)(void* context), mortise_error** error) {
    return begin_async(
        Then<AcquireEnd>{acquired, context, destroy}, error, mortise::detail::start_acquire, [&] {
            return permits_of(semaphore, count, options, Attempt::until, deadline_of(wait_max_ns));
        });
}

int mortise_semaphore_resize(mortise_semaphore* semaphore, uint32_t limit, mortise_error** error) {
    return guarded(error, [&] {
        require(semaphore != nullptr, "semaphore is NULL");
        semaphore->semaphore.resize(limit);
    });
}

int mortise_semaphore_limit(const mortise_semaphore* semaphore, uint32_t* limit,
                            mortise_error** error) {
    if (limit != nullptr) *limit = 0;
    return guarded(error, [&] {
        require(semaphore != nullptr, "semaphore is NULL");
        require(limit != nullptr, "limit is NULL");
        *limit = semaphore->semaphore.limit();
    });
}

size_t mortise_hold_slots(const mortise_hold* hold, uint32_t* slots, size_t slots_max) {
    if (hold == nullptr) return 0;
    const auto all = hold->hold.slots();
    const auto told = slots != nullptr ? std::min(slots_max, all.size()) : 0;
    std::transform(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(told), slots,
                   [](const mortise::Slot& slot) { return slot.number; });
    return all.size();
}

int mortise_rate_limiter_new(const mortise_node* node, const char* name, size_t name_length,
                             uint32_t permits, int64_t per_ns, mortise_rate_limiter** limiter,
                             mortise_error** error) {
    clear(limiter);
    return guarded(error, [&] {
        require(node != nullptr, "node is NULL");
        require(limiter != nullptr, "limiter is NULL");
        const auto wanted = text(name, name_length, "name is NULL");
        const auto per = time_of(per_ns, "per_ns is negative");
        *limiter = new mortise_rate_limiter{mortise::RateLimiter{node->node, wanted, permits, per}};
    });
}

void mortise_rate_limiter_free(mortise_rate_limiter* limiter) {
    delete limiter;
}

int mortise_rate_limiter_acquire_for(mortise_rate_limiter* limiter, uint32_t count,
                                     int64_t wait_max_ns, const mortise_acquire_options* options,
                                     int* is_granted, mortise_permit* permits,
                                     mortise_error** error) {
    if (is_granted != nullptr) *is_granted = 0;
    return guarded(error, [&] {
        require(limiter != nullptr, "limiter is NULL");
        require(is_granted != nullptr, "is_granted is NULL");
        const auto wait = time_of(wait_max_ns, "wait_max_ns is negative");
        const auto taken = take(limiter->limiter, count, wait, options_of(options));
        if (!taken) return;
        *is_granted = 1;
        for (std::size_t i = 0; permits != nullptr && i < taken->size(); ++i)
            permits[i] = {(*taken)[i].token.raw(), (*taken)[i].number, 0};
    });
}

int mortise_node_remove(mortise_node* node, const char* name, size_t name_length,
                        mortise_error** error) {
    return guarded(error, [&] {
        require(node != nullptr, "node is NULL");
        node->node.remove(text(name, name_length, "name is NULL"));
    });
}
