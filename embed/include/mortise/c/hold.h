/* A lock that is held. Included by <mortise.h>, which says what
 * holds for all of them. */
#ifndef MORTISE_C_HOLD_H
#define MORTISE_C_HOLD_H

#include <stddef.h>
#include <stdint.h>

#include <mortise/c/acquire.h>
#include <mortise/c/error.h>
#include <mortise/c/wait.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Owns one grant; the owner is the object, not a thread. Every function may be called at any time
 * before mortise_hold_free(), also when the hold is lost or released, or its node is closed or
 * freed. Only the functions whose description says so block. */

/* Releases the hold and waits until the cluster has confirmed it, for at most timing.call_timeout.
 * Whatever it returns, there is nothing left to release. MORTISE_LOCK_LOST if it was lost before,
 * MORTISE_NODE_STOPPED if its node was, MORTISE_NOT_HELD if it was released before,
 * MORTISE_OUTCOME_UNKNOWN if no answer came in time; then the release goes on by itself. Waits
 * without a limit for a lost callback of the hold that runs on another thread, unless the caller is
 * itself in a lost callback. The object stays. */
int mortise_hold_release(mortise_hold* hold, mortise_error** error);
/* Releases the hold without waiting for the cluster; waits for a lost callback as
 * mortise_hold_release() does. Never fails. NULL is allowed. */
void mortise_hold_unlock(mortise_hold* hold);
/* mortise_hold_unlock(), unless it is released, and frees the object. */
void mortise_hold_free(mortise_hold* hold);

/* The name that was acquired. */
const char* mortise_hold_name(const mortise_hold* hold, size_t* length);
/* The mode that was acquired; MORTISE_MODE_EXCLUSIVE for NULL. */
mortise_mode mortise_hold_mode(const mortise_hold* hold);

/* The fencing token: greater than that of every earlier conflicting holder of this name, for ever.
 * The protected resource stores the largest it has seen and refuses smaller ones. A lost hold
 * keeps its token; 0 for a released hold and NULL. */
int64_t mortise_hold_token(const mortise_hold* hold);

/* 1 while no other holder can have a conflicting hold, otherwise 0. It is about the moment of the
 * call: protect what is done afterwards with the token. Costs less than a microsecond. */
int mortise_hold_valid(const mortise_hold* hold);
/* How long mortise_hold_valid() stays 1 if no renewal succeeds; 0 if it is 0. */
int64_t mortise_hold_remaining_ns(const mortise_hold* hold);

enum {
    MORTISE_HOLD_HELD = 0,
    MORTISE_HOLD_AT_RISK = 1,   /* a renewal is overdue; the lease still runs */
    MORTISE_HOLD_SUSPENDED = 2, /* see MORTISE_ON_UNCERTAIN_SUSPEND */
    MORTISE_HOLD_LOST = 3,      /* for ever */
    MORTISE_HOLD_RELEASED = 4,  /* also for NULL */
};
/* One of the constants above. */
int mortise_hold_state(const mortise_hold* hold);

typedef int32_t mortise_loss_reason;
enum {
    MORTISE_LOSS_NONE = 0,         /* it is not lost */
    MORTISE_LOSS_EXPIRED = 1,      /* its lease or a time limit ended */
    MORTISE_LOSS_BROKEN = 2,       /* an operator took it away */
    MORTISE_LOSS_NODE_STOPPED = 3, /* the node was closed or failed */
    MORTISE_LOSS_FORKED = 4,       /* this process is the child of a fork */
};
/* MORTISE_LOSS_NONE for NULL. */
mortise_loss_reason mortise_hold_why_lost(const mortise_hold* hold);

/* MORTISE_OK while mortise_hold_valid() is 1; otherwise MORTISE_LOCK_LOST, MORTISE_NOT_HELD for a
 * released hold, MORTISE_NODE_STOPPED, MORTISE_FORKED; MORTISE_NO_QUORUM for a suspended one. */
int mortise_hold_check(const mortise_hold* hold, mortise_error** error);
/* Asks the cluster whether the session is alive and waits for the answer, for at most that time;
 * then the hold stays valid for about the session's TTL from the call. INT64_MAX: call_timeout
 * alone. Fails like mortise_hold_check(), or with MORTISE_NO_QUORUM. Blocks. */
int mortise_hold_confirm(const mortise_hold* hold, int64_t wait_max_ns, mortise_error** error);
/* Reports progress: options->progress_timeout_ns begins anew. NULL is allowed. */
void mortise_hold_checkpoint(const mortise_hold* hold);

/* Called at most once, when the hold is lost, also because its node is closed: before the name is
 * granted to another holder, unless the process was paused for too long. The name becomes free
 * after the callback has returned, or after 100 ms. A release is no loss. */
typedef void (*mortise_lost_callback)(void* context);
/* Sets the callback of a hold; a second one fails with MORTISE_INVALID_ARGUMENT. If the hold is
 * lost already, `lost` is called at once, in general before this returns. On a released hold it is
 * MORTISE_NOT_HELD. destroy, which may be NULL, is called after `lost` has returned, or when the
 * hold is released or freed, or when this fails. The callback may release and free its hold.
 * mortise_hold_release(), _unlock() and _free() on another thread wait until the callback and
 * destroy have returned; a thread that is itself in a lost callback, of any hold, does not wait. */
int mortise_hold_on_lost(mortise_hold* hold, mortise_lost_callback lost, void* context,
                         void (*destroy)(void* context), mortise_error** error);

/* The value that is stored with the name, in the cluster: *bytes is freed with
 * mortise_bytes_free(); *length is 0 if there is none. Blocks for at most call_timeout. Fails like
 * mortise_hold_check(). */
int mortise_hold_value(const mortise_hold* hold, char** bytes, size_t* length,
                       mortise_error** error);
/* Stores at most 4 KiB of any bytes and waits until the cluster has them; 0 bytes remove the
 * value. Requires an exclusive hold. MORTISE_LOCK_LOST: nothing was written.
 * MORTISE_RESOURCE_EXHAUSTED: all values together reached their limit. MORTISE_OUTCOME_UNKNOWN: no
 * answer came in time. Blocks. */
int mortise_hold_set_value(const mortise_hold* hold, const char* bytes, size_t length,
                           mortise_error** error);

/* Declares the value consistent: mortise_node_inspect() does not show it as dirty any more, which
 * it is when an exclusive holder was lost. Fails like mortise_hold_set_value(). Blocks. */
int mortise_hold_consistent(const mortise_hold* hold, mortise_error** error);

typedef int32_t mortise_predecessor;
enum {
    MORTISE_PREDECESSOR_NONE = 0,    /* no previous holder is recorded */
    MORTISE_PREDECESSOR_CLEAN = 1,   /* it released the lock */
    MORTISE_PREDECESSOR_EXPIRED = 2, /* it expired: what it protected may be half done */
    MORTISE_PREDECESSOR_BROKEN = 3,  /* an operator took the lock away */
};

/* How the hold of the previous holder ended. */
typedef struct mortise_previous {
    size_t size;         /* sizeof(mortise_previous), set by the caller */
    const char* label;   /* of the previous holder; belongs to the hold that was asked */
    size_t label_length; /* of label */
    int64_t token;       /* of the previous holder; 0: unknown */
    mortise_predecessor how;
    int32_t reserved; /* 0 */
} mortise_previous;

/* Set previous->size before each call; see mortise_node_status(). */
int mortise_hold_previous(const mortise_hold* hold, mortise_previous* previous,
                          mortise_error** error);

/* The functions below change the mode of a hold of one name. They are MORTISE_INVALID_ARGUMENT
 * for a hold of several names, for a part of one, for permits of a semaphore, and while
 * another call upgrades the hold. They fail like mortise_hold_check(), or with MORTISE_NO_QUORUM.
 */

/* Changes to a mode that admits everything the present one admits, for example from exclusive to
 * any mode, or from update to shared; any other change is MORTISE_INVALID_ARGUMENT. Keeps the
 * token, waits for no other holder, and lets compatible waiters in. After MORTISE_INVALID_ARGUMENT
 * and MORTISE_RESOURCE_EXHAUSTED nothing has changed; after anything else the hold is valid in the
 * new mode only, and the cluster learns of it later if it does not know yet. Blocks for at most
 * timing.call_timeout. */
int mortise_hold_downgrade(mortise_hold* hold, mortise_mode mode, mortise_error** error);

/* Changes to exclusive, with a new token. From update it waits until the readers have left, and
 * keeps new ones out meanwhile; from shared it is MORTISE_DEADLOCK if there is another holder, and
 * from any other mode MORTISE_INVALID_ARGUMENT. Blocks for at most wait_max_ns: 0 does not wait for
 * other holders, INT64_MAX is no limit. If the time ends first, that is an outcome: MORTISE_OK, and
 * *has_passed is 0, otherwise 1. MORTISE_CANCELLED after mortise_canceller_cancel() with the
 * canceller of the options, or when the hold is released meanwhile. `options` may be NULL; their
 * label has no effect. Unless *has_passed is 1, the hold is as before. */
int mortise_hold_upgrade_for(mortise_hold* hold, int64_t wait_max_ns,
                             const mortise_wait_options* options, int* has_passed,
                             mortise_error** error);
/* Begins what mortise_hold_upgrade_for() does. Why it cannot be upgraded is reported by the
 * callback. The hold may be released and freed meanwhile: MORTISE_CANCELLED. */
int mortise_hold_upgrade_async(mortise_hold* hold, int64_t wait_max_ns,
                               const mortise_wait_options* options, mortise_waited_callback waited,
                               void* context, void (*destroy)(void* context),
                               mortise_error** error);

#ifdef __cplusplus
}
#endif

#endif
