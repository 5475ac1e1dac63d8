// Latches and barriers.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include <mortise.h>

#include "embed/capi/acquired.hpp"
#include "embed/capi/calls.hpp"
#include "embed/capi/handles.hpp"
#include "embed/capi/options.hpp"
#include <mortise/barrier.hpp>
#include <mortise/detail/start.hpp>
#include <mortise/latch.hpp>
#include <mortise/wait_options.hpp>

using namespace mortise::capi;

struct mortise_latch {
    mortise::Latch latch;
};

struct mortise_barrier {
    mortise::Barrier barrier;
};

namespace mortise::capi {
namespace {

// The time of a wait is over when it is zero.
Asked<detail::WaitOrder> asked_of(const std::shared_ptr<detail::NodeRuntime>& node,
                                  detail::WaitOrder order, std::int64_t wait_max_ns) {
    order.has_time = wait_max_ns > 0;
    return {node, std::move(order)};
}

}  // namespace
}  // namespace mortise::capi

int mortise_latch_new(const mortise_node* node, const char* name, size_t name_length,
                      int64_t expected, mortise_latch** latch, mortise_error** error) {
    clear(latch);
    return guarded(error, [&] {
        require(node != nullptr, "node is NULL");
        require(latch != nullptr, "latch is NULL");
        const auto wanted = text(name, name_length, "name is NULL");
        *latch = new mortise_latch{mortise::Latch{node->node, wanted, expected}};
    });
}

void mortise_latch_free(mortise_latch* latch) {
    delete latch;
}

int mortise_latch_count_down(mortise_latch* latch, int64_t count, mortise_error** error) {
    return guarded(error, [&] {
        require(latch != nullptr, "latch is NULL");
        latch->latch.count_down(count);
    });
}

int mortise_latch_try_wait(const mortise_latch* latch, int* is_open, mortise_error** error) {
    return answered(is_open, error, "is_open is NULL", [&] {
        require(latch != nullptr, "latch is NULL");
        return latch->latch.try_wait();
    });
}

int mortise_latch_wait(const mortise_latch* latch, const mortise_wait_options* options,
                       mortise_error** error) {
    return guarded(error, [&] {
        require(latch != nullptr, "latch is NULL");
        latch->latch.wait(wait_options_of(options));
    });
}

int mortise_latch_wait_for(const mortise_latch* latch, int64_t wait_max_ns,
                           const mortise_wait_options* options, int* has_passed,
                           mortise_error** error) {
    return answered(has_passed, error, "has_passed is NULL", [&] {
        require(latch != nullptr, "latch is NULL");
        const auto wait = time_of(wait_max_ns, "wait_max_ns is negative");
        return latch->latch.wait_for(wait, wait_options_of(options));
    });
}

int mortise_barrier_new(const mortise_node* node, const char* name, size_t name_length,
                        int64_t parties, mortise_barrier** barrier, mortise_error** error) {
    clear(barrier);
    return guarded(error, [&] {
        require(node != nullptr, "node is NULL");
        require(barrier != nullptr, "barrier is NULL");
        const auto wanted = text(name, name_length, "name is NULL");
        *barrier = new mortise_barrier{mortise::Barrier{node->node, wanted, parties}};
    });
}

void mortise_barrier_free(mortise_barrier* barrier) {
    delete barrier;
}

int mortise_barrier_arrive_and_wait(mortise_barrier* barrier, const mortise_wait_options* options,
                                    mortise_error** error) {
    return guarded(error, [&] {
        require(barrier != nullptr, "barrier is NULL");
        barrier->barrier.arrive_and_wait(wait_options_of(options));
    });
}

int mortise_barrier_arrive_and_wait_for(mortise_barrier* barrier, int64_t wait_max_ns,
                                        const mortise_wait_options* options, int* has_passed,
                                        mortise_error** error) {
    return answered(has_passed, error, "has_passed is NULL", [&] {
        require(barrier != nullptr, "barrier is NULL");
        const auto wait = time_of(wait_max_ns, "wait_max_ns is negative");
        return barrier->barrier.arrive_and_wait_for(wait, wait_options_of(options));
    });
}

int mortise_barrier_arrive_and_drop(mortise_barrier* barrier, mortise_error** error) {
    return guarded(error, [&] {
        require(barrier != nullptr, "barrier is NULL");
        barrier->barrier.arrive_and_drop();
    });
}

int mortise_latch_wait_async(const mortise_latch* latch, int64_t wait_max_ns,
                             const mortise_wait_options* options, mortise_waited_callback waited,
                             void* context, void (*destroy)(void* context), mortise_error** error) {
    return begin_async(
        Then<WaitEnd>{waited, context, destroy}, error, mortise::detail::start_wait, [&] {
            const auto& asked = existing(latch, "latch is NULL").latch;
            return asked_of(mortise::detail::runtime_of(asked),
                            mortise::detail::order_of(asked, wait_options_of(options),
                                                      deadline_of(wait_max_ns)),
                            wait_max_ns);
        });
}

int mortise_latch_count_down_async(mortise_latch* latch, int64_t count,
                                   mortise_waited_callback waited, void* context,
                                   void (*destroy)(void* context), mortise_error** error) {
    return begin_async(Then<WaitEnd>{waited, context, destroy}, error, mortise::detail::start_wait,
                       [&] {
                           const auto& asked = existing(latch, "latch is NULL").latch;
                           return asked_of(mortise::detail::runtime_of(asked),
                                           mortise::detail::count_of(asked, count), INT64_MAX);
                       });
}

int mortise_barrier_arrive_and_wait_async(mortise_barrier* barrier, int64_t wait_max_ns,
                                          const mortise_wait_options* options,
                                          mortise_waited_callback waited, void* context,
                                          void (*destroy)(void* context), mortise_error** error) {
    return begin_async(
        Then<WaitEnd>{waited, context, destroy}, error, mortise::detail::start_wait, [&] {
            const auto& asked = existing(barrier, "barrier is NULL").barrier;
            return asked_of(mortise::detail::runtime_of(asked),
                            mortise::detail::order_of(asked, wait_options_of(options),
                                                      deadline_of(wait_max_ns)),
                            wait_max_ns);
        });
}
