/* The members of the cluster. Included by <mortise.h>, which says what
 * holds for all of them. */
#ifndef MORTISE_C_MEMBERS_H
#define MORTISE_C_MEMBERS_H

#include <stddef.h>
#include <stdint.h>

#include <mortise/c/error.h>
#include <mortise/c/node.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The members as this node knows them, an array of JSON; *json is freed with mortise_bytes_free().
 * Each has `id`, `role`, `address`, `connected` and more. A client node knows none. Does not ask
 * the cluster. */
int mortise_node_members(mortise_node* node, char** json, size_t* json_length,
                         mortise_error** error);

/* The functions below change the members. Any member may be asked; a client node is
 * MORTISE_PERMISSION_DENIED. Each returns when the change is committed, and waits within
 * timing.call_timeout for conditions that pass by themselves. A repeated call is safe.
 * MORTISE_INVALID_ARGUMENT: the change is never possible. MORTISE_NOT_READY: repeat the call.
 * MORTISE_NO_QUORUM: too few responsive voters would be left. MORTISE_OUTCOME_UNKNOWN: the change
 * has begun, and its result is not known yet. */

/* Adds a learner, which keeps a copy of the state and has no vote. It must be running with
 * role = "learner" and the present members as its peers; the leader reaches it at `address`. */
int mortise_node_add_member(mortise_node* node, uint64_t id, const char* address,
                            size_t address_length, mortise_error** error);
/* Makes a voter of a learner that has caught up. */
int mortise_node_promote_member(mortise_node* node, uint64_t id, mortise_error** error);
/* Removes a learner or a voter; it may be the leader or this node. */
int mortise_node_remove_member(mortise_node* node, uint64_t id, mortise_error** error);
/* Changes the address at which the others reach a member. */
int mortise_node_move_member(mortise_node* node, uint64_t id, const char* address,
                             size_t address_length, mortise_error** error);
/* Transfers leadership to a voter that has caught up. */
int mortise_node_transfer_leadership(mortise_node* node, uint64_t id, mortise_error** error);

#ifdef __cplusplus
}
#endif

#endif
