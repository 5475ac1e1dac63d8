/* Latches and barriers. Included by <mortise.h>, which says what
 * holds for all of them. */
#ifndef MORTISE_C_WAIT_H
#define MORTISE_C_WAIT_H

#include <stddef.h>
#include <stdint.h>

#include <mortise/c/acquire.h>
#include <mortise/c/error.h>
#include <mortise/c/node.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The options of a wait that ends without a hold. Begin with MORTISE_WAIT_OPTIONS_INIT, or with
 * zeros and the size; it grows as mortise_acquire_options does. */
typedef struct mortise_wait_options {
    size_t size;                        /* sizeof(mortise_wait_options) */
    const char* label;                  /* at most 256 bytes; shown to operators */
    size_t label_length;                /* of label */
    const mortise_canceller* canceller; /* or NULL */
} mortise_wait_options;

/* Every member has its default. */
#define MORTISE_WAIT_OPTIONS_INIT \
    { sizeof(mortise_wait_options), NULL, 0, NULL }

/* The waits below take NULL for the default options. They block until what they wait for, or until
 * mortise_canceller_cancel(): MORTISE_CANCELLED. Those with a time wait for at most that time,
 * INT64_MAX is no limit; if it ends first, that is an outcome: MORTISE_OK, and *has_passed is 0,
 * otherwise 1. */

/* The end of a wait that no thread waits for. `code` is what the blocking function would have
 * returned; `has_passed` is 1 if it has passed, and 0 with MORTISE_OK if its time ended first;
 * `error` is NULL unless it failed, and belongs to the callback, which frees it. The callback may
 * call every function, but must not block. */
typedef void (*mortise_waited_callback)(void* context, int code, int has_passed,
                                        mortise_error* error);

/* The functions below with a callback return at once. If they return MORTISE_OK, `waited` is called
 * exactly once, perhaps before they return. The rest is as for mortise_node_acquire_async(). */

/* A name with a count that only goes down, for processes that wait until others have done
 * something. Whoever waits passes when the count is zero, and holds nothing then. Each count counts
 * once, and stays counted when its process dies. The latch exists from its first count or wait on,
 * until mortise_node_remove(). Free it with mortise_latch_free(). */
typedef struct mortise_latch mortise_latch;

/* `expected`, 0 to 2147483647, is the count if a call of this object creates the latch; if it
 * exists, it keeps its own. Does not ask the cluster and does not block. */
int mortise_latch_new(const mortise_node* node, const char* name, size_t name_length,
                      int64_t expected, mortise_latch** latch, mortise_error** error);
void mortise_latch_free(mortise_latch* latch);

/* Counts down by that number. MORTISE_INVALID_ARGUMENT if less than that remains; then nothing was
 * counted. Blocks for at most timing.call_timeout. MORTISE_OUTCOME_UNKNOWN: no answer came in
 * time. */
int mortise_latch_count_down(mortise_latch* latch, int64_t count, mortise_error** error);
/* Whether the count is zero: *is_open is 1 or 0. Blocks for at most timing.call_timeout. */
int mortise_latch_try_wait(const mortise_latch* latch, int* is_open, mortise_error** error);
/* Waits until the count is zero. MORTISE_SESSION_EXPIRED: wait again. */
int mortise_latch_wait(const mortise_latch* latch, const mortise_wait_options* options,
                       mortise_error** error);
/* 0 asks once. */
int mortise_latch_wait_for(const mortise_latch* latch, int64_t wait_max_ns,
                           const mortise_wait_options* options, int* has_passed,
                           mortise_error** error);
/* Begins what mortise_latch_wait_for() does. */
int mortise_latch_wait_async(const mortise_latch* latch, int64_t wait_max_ns,
                             const mortise_wait_options* options, mortise_waited_callback waited,
                             void* context, void (*destroy)(void* context), mortise_error** error);
/* Begins what mortise_latch_count_down() does; it cannot be cancelled. */
int mortise_latch_count_down_async(mortise_latch* latch, int64_t count,
                                   mortise_waited_callback waited, void* context,
                                   void (*destroy)(void* context), mortise_error** error);

/* A name at which a number of parties meet: each waits until all have arrived, and then the next
 * phase begins. A party takes part from its first arrival on. If it ends, or gives up a wait, the
 * barrier breaks: those that wait and those that arrive later get MORTISE_SESSION_EXPIRED, until
 * mortise_node_remove(). After MORTISE_INVALID_ARGUMENT, MORTISE_KIND_MISMATCH and
 * MORTISE_PERMISSION_DENIED it is as it was before; after any other failure of an arrival, take it
 * for broken. Free it with mortise_barrier_free(). */
typedef struct mortise_barrier mortise_barrier;

/* `parties`, 1 to 1024, is their number if an arrival of this object creates the barrier; if it
 * exists, it keeps its own. Does not ask the cluster and does not block. */
int mortise_barrier_new(const mortise_node* node, const char* name, size_t name_length,
                        int64_t parties, mortise_barrier** barrier, mortise_error** error);
void mortise_barrier_free(mortise_barrier* barrier);

/* Arrives, and waits until all parties have arrived. MORTISE_INVALID_ARGUMENT: there are no more
 * parties. */
int mortise_barrier_arrive_and_wait(mortise_barrier* barrier, const mortise_wait_options* options,
                                    mortise_error** error);
/* The time must be above zero, otherwise nothing is done: MORTISE_INVALID_ARGUMENT. When it ends
 * first, the barrier is broken. */
int mortise_barrier_arrive_and_wait_for(mortise_barrier* barrier, int64_t wait_max_ns,
                                        const mortise_wait_options* options, int* has_passed,
                                        mortise_error** error);
/* Begins what mortise_barrier_arrive_and_wait_for() does. A cancelled arrival breaks the barrier. A
 * time that is not above zero is reported by the callback. */
int mortise_barrier_arrive_and_wait_async(mortise_barrier* barrier, int64_t wait_max_ns,
                                          const mortise_wait_options* options,
                                          mortise_waited_callback waited, void* context,
                                          void (*destroy)(void* context), mortise_error** error);
/* Arrives in this phase and leaves the barrier with its end, without waiting for the others. Blocks
 * for at most timing.call_timeout. */
int mortise_barrier_arrive_and_drop(mortise_barrier* barrier, mortise_error** error);

#ifdef __cplusplus
}
#endif

#endif
