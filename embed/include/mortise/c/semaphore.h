/* Semaphores and rate limiters. Included by <mortise.h>, which says what
 * holds for all of them. */
#ifndef MORTISE_C_SEMAPHORE_H
#define MORTISE_C_SEMAPHORE_H

#include <stddef.h>
#include <stdint.h>

#include <mortise/c/acquire.h>
#include <mortise/c/error.h>
#include <mortise/c/node.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A name that several holders have at once, up to a limit. Each acquire takes one or more permits;
 * they are one hold. A name is either a lock or a semaphore, as long as somebody holds it or waits
 * for it, or a node has it cached (mortise_caching); the wrong kind of call is
 * MORTISE_KIND_MISMATCH. Free it with mortise_semaphore_free(); its holds live on, and so may the
 * node be freed before it. */
typedef struct mortise_semaphore mortise_semaphore;

/* `limit`, 1 to 65536, is the number of permits if an acquire of this object creates the semaphore;
 * if it exists, it keeps its limit. Does not ask the cluster and does not block. */
int mortise_semaphore_new(const mortise_node* node, const char* name, size_t name_length,
                          uint32_t limit, mortise_semaphore** semaphore, mortise_error** error);
void mortise_semaphore_free(mortise_semaphore* semaphore);

/* The four functions below acquire `count` permits, 1 to 1024, and fail like those of locks. In
 * the options, `mode` and `queue_policy` have their defaults, otherwise MORTISE_INVALID_ARGUMENT;
 * `caching` has no effect. Requests are served in the order of arrival within priorities; one for
 * more permits than the limit waits until the limit grows. */

/* Waits until it has the permits, like mortise_node_acquire(). */
int mortise_semaphore_acquire(mortise_semaphore* semaphore, uint32_t count,
                              const mortise_acquire_options* options, mortise_hold** hold,
                              mortise_error** error);
/* Makes one attempt, like mortise_node_try_acquire(): *hold is NULL if there are too few permits,
 * or an earlier request waits. */
int mortise_semaphore_try_acquire(mortise_semaphore* semaphore, uint32_t count,
                                  const mortise_acquire_options* options, mortise_hold** hold,
                                  mortise_error** error);
/* Waits for at most that time, like mortise_node_acquire_for(). */
int mortise_semaphore_acquire_for(mortise_semaphore* semaphore, uint32_t count, int64_t wait_max_ns,
                                  const mortise_acquire_options* options, mortise_hold** hold,
                                  mortise_error** error);
/* Begins what mortise_semaphore_acquire_for() does; the rest is as for
 * mortise_node_acquire_async(). */
int mortise_semaphore_acquire_async(mortise_semaphore* semaphore, uint32_t count,
                                    int64_t wait_max_ns, const mortise_acquire_options* options,
                                    mortise_acquired_callback acquired, void* context,
                                    void (*destroy)(void* context), mortise_error** error);

/* Changes the limit to 0 to 65536, for everybody. No permit is taken away: if more are held now,
 * nobody gets one until enough came back. From then on the semaphore exists until
 * mortise_node_remove(). Blocks for at most timing.call_timeout. */
int mortise_semaphore_resize(mortise_semaphore* semaphore, uint32_t limit, mortise_error** error);
/* The limit that is in force; that of this object if there is no such semaphore. Blocks for at most
 * timing.call_timeout. */
int mortise_semaphore_limit(const mortise_semaphore* semaphore, uint32_t* limit,
                            mortise_error** error);

/* The numbers of the permits of a hold, ascending: writes at most `slots_max` of them, and returns
 * how many the hold has. 0 for a hold of a lock, a released one and NULL; `slots` may be NULL if
 * slots_max is 0. Of two holders of one number, the later one has the greater
 * mortise_hold_token(): protect each number with it. */
size_t mortise_hold_slots(const mortise_hold* hold, uint32_t* slots, size_t slots_max);

/* The cluster grants at most so many permits in any stretch of time of that length, to all programs
 * together. A program that receives its permit late, because its node was cut off or the leader
 * changed, or that is paused, may act closer to the next permit than that. A permit is used at
 * once, and is not given back. All programs must use the same numbers for a name. Free it with
 * mortise_rate_limiter_free(). */
typedef struct mortise_rate_limiter mortise_rate_limiter;

/* `permits` is 1 to 65536, `per_ns` above zero and at most 24 days. Does not ask the cluster. */
int mortise_rate_limiter_new(const mortise_node* node, const char* name, size_t name_length,
                             uint32_t permits, int64_t per_ns, mortise_rate_limiter** limiter,
                             mortise_error** error);
void mortise_rate_limiter_free(mortise_rate_limiter* limiter);

/* Of two permits with the same number the later one has the greater token: a service that remembers
 * the newest token of each number refuses a call that was made with a permit of long ago. */
typedef struct mortise_permit {
    int64_t token;
    uint32_t number;
    uint32_t reserved; /* 0 */
} mortise_permit;

/* Takes `count` permits, 1 to 1024 and at most as many as the limiter has. `permits` is NULL or has
 * room for `count`. Waits for at most that time: 0 is one attempt, INT64_MAX is no limit. If the
 * time ends first, that is an outcome: MORTISE_OK, and *is_granted is 0; otherwise it is 1. Of the
 * options, `label`, `priority` and `canceller` count. */
int mortise_rate_limiter_acquire_for(mortise_rate_limiter* limiter, uint32_t count,
                                     int64_t wait_max_ns, const mortise_acquire_options* options,
                                     int* is_granted, mortise_permit* permits,
                                     mortise_error** error);

/* Removes a semaphore, a latch or a barrier that exists although nobody uses it, so that the name
 * may be something else. MORTISE_INVALID_ARGUMENT while somebody holds the name or waits for it,
 * or a node has it cached (mortise_caching). Blocks for at most timing.call_timeout. */
int mortise_node_remove(mortise_node* node, const char* name, size_t name_length,
                        mortise_error** error);

#ifdef __cplusplus
}
#endif

#endif
