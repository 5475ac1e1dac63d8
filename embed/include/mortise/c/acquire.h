/* Acquiring a lock. Included by <mortise.h>, which says what
 * holds for all of them. */
#ifndef MORTISE_C_ACQUIRE_H
#define MORTISE_C_ACQUIRE_H

#include <stddef.h>
#include <stdint.h>

#include <mortise/c/error.h>
#include <mortise/c/node.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A lock that is held. Free it with mortise_hold_free(). */
typedef struct mortise_hold mortise_hold;

/* The mode in which a name is held. Any number may hold it shared at the same time; one more may
 * have it for update, and become exclusive with mortise_hold_upgrade_for(). The intent modes
 * announce that finer names below this one are locked; see docs/rules.md. */
typedef int32_t mortise_mode;
enum {
    MORTISE_MODE_EXCLUSIVE = 0,
    MORTISE_MODE_SHARED = 1,
    MORTISE_MODE_UPDATE = 2,
    MORTISE_MODE_INTENT_SHARED = 3,
    MORTISE_MODE_INTENT_EXCLUSIVE = 4,
    MORTISE_MODE_SHARED_INTENT_EXCLUSIVE = 5,
};

/* The order in which the waiters of a name are granted. The request that creates the name sets it;
 * a different one later fails with MORTISE_KIND_MISMATCH. */
typedef int32_t mortise_queue_policy;
enum {
    MORTISE_QUEUE_POLICY_DEFAULT = 0, /* that of the name; phase-fair for a new name */
    MORTISE_QUEUE_POLICY_PHASE_FAIR = 1,
    MORTISE_QUEUE_POLICY_FIFO = 2,
    MORTISE_QUEUE_POLICY_PREFER_READERS = 3,
    MORTISE_QUEUE_POLICY_PREFER_WRITERS = 4,
};

/* What happens to a hold whose lease has ended while its session may still be renewed. */
typedef int32_t mortise_on_uncertain;
enum {
    MORTISE_ON_UNCERTAIN_LOSE = 0,    /* it is lost */
    MORTISE_ON_UNCERTAIN_SUSPEND = 1, /* it is not valid, but may become so again */
};

/* Whether this node may keep the grant of a released hold for its next acquire of the name. Client
 * nodes never do. A cached name counts as held for about a second after its last release. Until
 * then mortise_node_remove() of it is MORTISE_INVALID_ARGUMENT, and a semaphore, a latch, a barrier
 * or another queue policy on it is MORTISE_KIND_MISMATCH. Use MORTISE_CACHING_OFF for names that
 * become something else. */
typedef int32_t mortise_caching;
enum {
    MORTISE_CACHING_ADAPTIVE = 0, /* if it takes the name repeatedly, and no other node does */
    MORTISE_CACHING_OFF = 1,
};

/* Ends waits before their time, from any thread; one serves any number of acquires. Cancelling
 * cannot be taken back. Free it at any time with mortise_canceller_free(): waits that use it go
 * on. */
typedef struct mortise_canceller mortise_canceller;

int mortise_canceller_new(mortise_canceller** canceller, mortise_error** error);
/* Ends the present and the future waits that have this canceller in their options, with
 * MORTISE_CANCELLED. Does not block. NULL is allowed. */
void mortise_canceller_cancel(mortise_canceller* canceller);
void mortise_canceller_free(mortise_canceller* canceller);

/* Called when requests of others conflict with a hold: `mode` is the mode that they want, and
 * `waiters` the number of requests that wait for the name. It is called for the first such request,
 * when their number grows, and after the grant if requests wait already; also for
 * mortise_node_request_release(), with its reason and MORTISE_MODE_EXCLUSIVE. The holder decides
 * whether it releases the hold. `reason` is valid during the call. While a call runs, only the
 * newest notification is kept for the next one. */
typedef void (*mortise_contended_callback)(void* context, mortise_mode mode, size_t waiters,
                                           const char* reason, size_t reason_length);
/* Such a callback, for any number of acquires. Free it at any time with mortise_contended_free():
 * holds that were acquired with it go on to call it. destroy, which may be NULL, is called when it
 * is freed and no such hold is left, or when mortise_contended_new() fails. */
typedef struct mortise_contended mortise_contended;

int mortise_contended_new(mortise_contended_callback contended, void* context,
                          void (*destroy)(void* context), mortise_contended** object,
                          mortise_error** error);
void mortise_contended_free(mortise_contended* object);

/* An owner of several holds; see mortise_locker_new(). */
typedef struct mortise_locker mortise_locker;

/* The options of one acquire. Begin with MORTISE_ACQUIRE_OPTIONS_INIT, or with zeros and the size:
 * zero is the default of every member. Members are added at the end only. A larger struct than the
 * library knows is accepted if what the library does not know is zero. */
typedef struct mortise_acquire_options {
    size_t size;         /* sizeof(mortise_acquire_options) */
    const char* label;   /* at most 256 bytes; shown to the next holder and to operators */
    size_t label_length; /* of label */
    /* The hold is lost this long after its grant, even if its lease is renewed; at most 24 days,
     * 0: no limit. */
    int64_t max_hold_ns;
    /* The name is granted to no conflicting holder until this long after the grant, even if the
     * hold ends earlier; at most 24 days, 0: none. */
    int64_t min_hold_ns;
    /* The hold is lost unless mortise_hold_checkpoint() is called this often; at most 24 days,
     * 0: it need not be called. */
    int64_t progress_timeout_ns;
    /* If the hold is lost instead of released, the name is granted to nobody else for this long; at
     * most 24 days, 0: none. */
    int64_t lock_delay_ns;
    mortise_mode mode;
    int32_t priority; /* 0 to 7; higher ones go first */
    mortise_queue_policy queue_policy;
    mortise_on_uncertain on_uncertain;
    mortise_caching caching;
    int32_t reserved;                   /* 0 */
    const mortise_canceller* canceller; /* or NULL */
    /* Since 0.3.0. Each may be NULL. A name is not cached for a hold with `contended`. */
    const mortise_contended* contended;
    const mortise_locker* locker;
} mortise_acquire_options;

/* Every member has its default. */
#define MORTISE_ACQUIRE_OPTIONS_INIT \
    { sizeof(mortise_acquire_options), NULL, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, NULL, NULL, NULL }

/* The three functions below acquire a lock; `options` may be NULL. They fail with
 * MORTISE_NODE_STOPPED, MORTISE_INVALID_ARGUMENT, MORTISE_NO_QUORUM, MORTISE_SESSION_EXPIRED,
 * MORTISE_RESOURCE_EXHAUSTED, MORTISE_KIND_MISMATCH, MORTISE_PERMISSION_DENIED, MORTISE_FORKED,
 * MORTISE_OUT_OF_MEMORY, and what is named here. */

/* Waits until the lock is held: MORTISE_OK and *hold is not NULL. Blocks without a limit, unless
 * mortise_canceller_cancel() ends it: MORTISE_CANCELLED. */
int mortise_node_acquire(mortise_node* node, const char* name, size_t name_length,
                         const mortise_acquire_options* options, mortise_hold** hold,
                         mortise_error** error);

/* Makes one attempt and does not wait for holders. If another holder has the name, that is an
 * outcome: MORTISE_OK, and *hold is NULL. Blocks for the answer of the cluster, at most
 * timing.call_timeout. */
int mortise_node_try_acquire(mortise_node* node, const char* name, size_t name_length,
                             const mortise_acquire_options* options, mortise_hold** hold,
                             mortise_error** error);

/* Waits for at most that time. If it ends first, that is an outcome: MORTISE_OK, and *hold is NULL.
 * 0 is one attempt, INT64_MAX is no limit. MORTISE_CANCELLED after mortise_canceller_cancel(). */
int mortise_node_acquire_for(mortise_node* node, const char* name, size_t name_length,
                             int64_t wait_max_ns, const mortise_acquire_options* options,
                             mortise_hold** hold, mortise_error** error);

/* The end of an acquire that no thread waits for. `code` is what the blocking function would have
 * returned; `hold` is NULL unless it was granted, and `error` is NULL unless it failed. Both belong
 * to the callback, which frees them. A hold that nobody wants any more is released with
 * mortise_hold_free(). The callback may call every function, but must not block. */
typedef void (*mortise_acquired_callback)(void* context, int code, mortise_hold* hold,
                                          mortise_error* error);

/* Begins what mortise_node_acquire_for() does, and returns at once. If it returns MORTISE_OK,
 * `acquired` is called exactly once, perhaps before this returns: when the lock is held, when that
 * time ends (MORTISE_OK without a hold), when the acquire fails, after mortise_canceller_cancel()
 * with MORTISE_CANCELLED unless it was decided before, or when the node is closed.
 * mortise_node_close() waits for the callbacks of the acquires that were begun before it. destroy,
 * which may be NULL, is called after `acquired` has returned, or when this fails; then `acquired`
 * is not called. */
int mortise_node_acquire_async(mortise_node* node, const char* name, size_t name_length,
                               int64_t wait_max_ns, const mortise_acquire_options* options,
                               mortise_acquired_callback acquired, void* context,
                               void (*destroy)(void* context), mortise_error** error);

#ifdef __cplusplus
}
#endif

#endif
