// Latches and barriers.
#include <cstddef>
#include <cstdint>

#include <mortise.h>

#include "embed/capi/calls.hpp"
#include "embed/capi/handles.hpp"
#include "embed/capi/options.hpp"
#include "embed/capi/structs.hpp"
#include <mortise/barrier.hpp>
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

// The size of the struct in its first version. This does not change when the struct grows.
constexpr std::size_t oldest_wait_options = 32;
static_assert(sizeof(mortise_wait_options) >= oldest_wait_options);

// Null is the default of every option.
WaitOptions wait_options_of(const mortise_wait_options* given) {
    WaitOptions options;
    if (given == nullptr) return options;
    const auto known = read_struct(*given, oldest_wait_options);
    options.label = text(known.label, known.label_length, "options->label is NULL");
    if (known.canceller != nullptr) options.cancel = known.canceller->source.get_token();
    return options;
}

// `ask` returns what *outcome becomes.
template <class Ask>
int answered(int* outcome, mortise_error** error, const char* what, const Ask& ask) {
    if (outcome != nullptr) *outcome = 0;
    return guarded(error, [&] {
        require(outcome != nullptr, what);
        *outcome = ask() ? 1 : 0;
    });
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
