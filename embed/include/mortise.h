/* Mortise from C, and from every language that can call C. See docs/c-and-python.md.
 *
 *   mortise_hold* hold = NULL;
 *   if (mortise_node_acquire(node, "orders/42", 9, NULL, &hold, &error) == MORTISE_OK) {
 *       write_row(row, mortise_hold_token(hold));
 *       mortise_hold_free(hold);
 *   }
 *
 * Stability. This interface is stable from version 0.2.0 on: names, values and the meaning of what
 * is declared here do not change, and a program that was compiled against this header runs with
 * every later library of the same soname. Functions,
 * constants, and members at the end of structs may be added.
 *
 * Unknown values. A later library may return values that this header does not name. Treat an
 * unknown code as a failure, an unknown state of a hold as lost, an unknown loss reason as
 * MORTISE_LOSS_EXPIRED, an unknown predecessor as MORTISE_PREDECESSOR_EXPIRED, and an unknown log
 * level as MORTISE_LOG_ERROR. The mode of a hold is the one that was asked for.
 *
 * Results. A function that can fail returns a code: MORTISE_OK, which is 0, or why it failed. Its
 * last parameter receives the error object, or is NULL if the caller wants the code alone. On
 * success *error becomes NULL. On failure the object that would have been returned is NULL. A
 * lock that another holder has is not a failure.
 *
 * Ownership. What a function creates for the caller is freed with the function that its
 * description names; the functions that free accept NULL. Arguments are copied during the call. A
 * returned pointer to text belongs to the object that it was asked of, and is valid until that
 * object is freed.
 *
 * Strings. Every string is a pointer and a length, without a terminating zero; a pointer may be
 * NULL if its length is 0. Names of locks are 1 to 512 bytes of any kind. Texts that are returned
 * have a terminating zero that their length does not count; a parameter for a length may be NULL.
 *
 * Times are in nanoseconds.
 *
 * Invalid arguments. NULL where an object is needed, a negative time or a wrong struct size is
 * MORTISE_INVALID_ARGUMENT, with a message. Functions that return no code do nothing for NULL, or
 * return 0, "", or the value that their description names.
 *
 * Threads. Functions may be called on any thread, several at once on one object, except
 * - those that free an object: they must be the last call for it;
 * - those that change a config.
 *
 * Callbacks. A callback comes with a context, which it receives, and with destroy, which is called
 * with the context exactly once: when the callback cannot be called any more, also if the function
 * that received it fails. Either runs on a thread of the node or on the thread of the call.
 * A callback and destroy must return: a C++ exception that leaves one ends the program, and what
 * longjmp() out of one does is undefined. A lost callback may call every function, also those that
 * free its hold and its node.
 *
 * fork(). In the child, objects of the parent fail with MORTISE_FORKED; free them or not. There no
 * callback of theirs is called, and destroy is not called for their lost callbacks. Open a node
 * there, and end with _exit() or exec.
 *
 * Do not cancel a thread with pthread_cancel() while it is in a function of this header, and do not
 * call pthread_exit() in a callback. Either ends the program. */
#ifndef MORTISE_H
#define MORTISE_H

#include <mortise/c/acquire.h>
#include <mortise/c/codes.h>
#include <mortise/c/config.h>
#include <mortise/c/election.h>
#include <mortise/c/error.h>
#include <mortise/c/hold.h>
#include <mortise/c/locker.h>
#include <mortise/c/look.h>
#include <mortise/c/members.h>
#include <mortise/c/node.h>
#include <mortise/c/semaphore.h>
#include <mortise/c/several.h>
#include <mortise/c/wait.h>

/* The version of this header. */
#define MORTISE_VERSION_MAJOR 0
#define MORTISE_VERSION_MINOR 2
#define MORTISE_VERSION_PATCH 0
#define MORTISE_VERSION_STRING "0.2.0"
#define MORTISE_VERSION_NUMBER \
    (MORTISE_VERSION_MAJOR * 1000000 + MORTISE_VERSION_MINOR * 1000 + MORTISE_VERSION_PATCH)

#endif
