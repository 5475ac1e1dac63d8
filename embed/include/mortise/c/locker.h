/* Explicit owners of holds. Included by <mortise.h>, which says what
 * holds for all of them. */
#ifndef MORTISE_C_LOCKER_H
#define MORTISE_C_LOCKER_H

#include <stddef.h>

#include <mortise/c/acquire.h>
#include <mortise/c/error.h>
#include <mortise/c/node.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A locker owns the holds that are acquired with it (options->locker), on any thread. It may
 * acquire a name that it holds already: the next holds share the grant and the token of the first
 * one, and the lock is released with the last of them, in any order. Acquiring again fails with
 * MORTISE_DEADLOCK in a mode that the first one does not cover, MORTISE_LOCK_LOST if the grant was
 * lost and not all its holds are released, MORTISE_INVALID_ARGUMENT while another thread acquires
 * the name for the same locker and if the locker is of another node, and
 * MORTISE_RESOURCE_EXHAUSTED beyond 1024 times. Holds of several names count, and are not shared.
 *
 * Lockers may wait for each other on any nodes: the request that would complete a wait cycle fails
 * with MORTISE_DEADLOCK. */

/* A new locker. The label, at most 256 bytes, names it in wait cycles. Does not block. Free it with
 * mortise_locker_free(), which releases nothing. It may outlive its node. */
int mortise_locker_new(mortise_node* node, const char* label, size_t label_length,
                       mortise_locker** locker, mortise_error** error);
void mortise_locker_free(mortise_locker* locker);

/* How many holds it has that are not released; lost ones and repeated acquires count. Does not
 * block. */
size_t mortise_locker_hold_count(const mortise_locker* locker);
/* Releases all its holds at once and waits until the cluster has confirmed it, for at most
 * timing.call_timeout. Returns MORTISE_OK, or the first error of mortise_hold_release(). The
 * objects of the holds stay. What other threads acquire meanwhile is not released. Blocks. */
int mortise_locker_release_all(mortise_locker* locker, mortise_error** error);

#ifdef __cplusplus
}
#endif

#endif
