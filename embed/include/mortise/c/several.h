/* Several names in one acquire. Included by <mortise.h>, which says what
 * holds for all of them. */
#ifndef MORTISE_C_SEVERAL_H
#define MORTISE_C_SEVERAL_H

#include <stddef.h>
#include <stdint.h>

#include <mortise/c/acquire.h>
#include <mortise/c/error.h>
#include <mortise/c/node.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One of several names. This struct does not grow. */
typedef struct mortise_lock_request {
    const char* name;
    size_t name_length;
    mortise_mode mode; /* options->mode has no effect */
    int32_t reserved;  /* 0 */
} mortise_lock_request;

/* The functions below are for 1 to 64 names. A name that is listed twice counts once; in two modes
 * it is MORTISE_INVALID_ARGUMENT. Two calls for the same names never deadlock, whatever the order
 * of their lists. They wait, end and fail like mortise_node_acquire_for() and
 * mortise_node_acquire_async(): 0 is one attempt, and INT64_MAX is no limit. */

/* Acquires all names or none, in one step once all are free: it holds nothing while it waits.
 * options->priority must be 0. *hold is one hold of several names, which are released together and
 * lost together: its name is empty and its token 0, and each name is one of its parts. */
int mortise_node_acquire_all_for(mortise_node* node, const mortise_lock_request* requests,
                                 size_t count, int64_t wait_max_ns,
                                 const mortise_acquire_options* options, mortise_hold** hold,
                                 mortise_error** error);
/* Acquires one of the names: the first one that is free in the order of the list, otherwise the one
 * that becomes free first. mortise_hold_name() tells which. */
int mortise_node_acquire_any_for(mortise_node* node, const mortise_lock_request* requests,
                                 size_t count, int64_t wait_max_ns,
                                 const mortise_acquire_options* options, mortise_hold** hold,
                                 mortise_error** error);
/* Begin what these two do. */
int mortise_node_acquire_all_async(mortise_node* node, const mortise_lock_request* requests,
                                   size_t count, int64_t wait_max_ns,
                                   const mortise_acquire_options* options,
                                   mortise_acquired_callback acquired, void* context,
                                   void (*destroy)(void* context), mortise_error** error);
int mortise_node_acquire_any_async(mortise_node* node, const mortise_lock_request* requests,
                                   size_t count, int64_t wait_max_ns,
                                   const mortise_acquire_options* options,
                                   mortise_acquired_callback acquired, void* context,
                                   void (*destroy)(void* context), mortise_error** error);

/* How many parts the hold has: the number of names of mortise_node_acquire_all_for(), and 0 for a
 * hold of one name. Does not block. */
size_t mortise_hold_parts(const mortise_hold* hold);
/* A part, in the byte order of the names; NULL from the last one on. It belongs to the hold, and
 * ends with it. It has the name, the mode, the token, the value and the previous holder, for which
 * the hold itself is MORTISE_INVALID_ARGUMENT. Does not block. */
const mortise_hold* mortise_hold_part(const mortise_hold* hold, size_t index);

#ifdef __cplusplus
}
#endif

#endif
