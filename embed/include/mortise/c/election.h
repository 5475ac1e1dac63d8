/* Leader elections. Included by <mortise.h>, which says what
 * holds for all of them. */
#ifndef MORTISE_C_ELECTION_H
#define MORTISE_C_ELECTION_H

#include <stddef.h>
#include <stdint.h>

#include <mortise/c/acquire.h>
#include <mortise/c/error.h>
#include <mortise/c/node.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One of several candidates leads, and everybody learns who and where it is. The leader holds the
 * name exclusively and has published its value under that hold: it checks the hold and passes its
 * token on, as with every lock. Free it with mortise_election_free(). */
typedef struct mortise_election mortise_election;

/* Does not ask the cluster. */
int mortise_election_new(const mortise_node* node, const char* name, size_t name_length,
                         mortise_election** election, mortise_error** error);
void mortise_election_free(mortise_election* election);

/* Waits until this candidate leads, like mortise_node_acquire(), and publishes its value, at most
 * 4000 bytes of any kind. It leads until the hold is released or lost. options->mode and
 * options->caching have no effect. */
int mortise_election_campaign(mortise_election* election, const char* value, size_t value_length,
                              const mortise_acquire_options* options, mortise_hold** hold,
                              mortise_error** error);
/* Begins what mortise_election_campaign() does; the rest is as for mortise_node_acquire_async(). A
 * cancellation has no effect any more when the candidate leads and its value is being published. */
int mortise_election_campaign_async(mortise_election* election, const char* value,
                                    size_t value_length, const mortise_acquire_options* options,
                                    mortise_acquired_callback acquired, void* context,
                                    void (*destroy)(void* context), mortise_error** error);
/* Publishes another value while it leads, in place of the present one. `hold` comes from one of
 * these two. MORTISE_NOT_HELD for a hold of another name or a released one; otherwise it fails like
 * mortise_hold_set_value(). Blocks. */
int mortise_election_publish(mortise_election* election, const mortise_hold* hold,
                             const char* value, size_t value_length, mortise_error** error);
/* Withdraws the value and releases the hold, which comes from one of these two; then it is as after
 * mortise_hold_release(), and fails like that. Blocks. */
int mortise_election_resign(mortise_election* election, mortise_hold* hold, mortise_error** error);

/* Who leads. Free it with mortise_leader_free(). */
typedef struct mortise_leader mortise_leader;

/* The present leader; MORTISE_OK and *leader is NULL if nobody leads. Blocks for at most
 * timing.call_timeout. */
int mortise_election_leader(mortise_election* election, mortise_leader** leader,
                            mortise_error** error);
/* Its node; 0 for NULL. */
uint64_t mortise_leader_node(const mortise_leader* leader);
/* The token of its hold: greater than those of all leaders before it; 0 for NULL. */
int64_t mortise_leader_token(const mortise_leader* leader);
/* What it has published, any bytes. */
const char* mortise_leader_value(const mortise_leader* leader, size_t* length);
void mortise_leader_free(mortise_leader* leader);

/* Receives the present leader, and each change; NULL while nobody leads. `leader` is valid during
 * the call. It is called on a thread of the node, one call at a time and in order, and must not
 * block. */
typedef void (*mortise_leader_callback)(void* context, const mortise_leader* leader);
/* A running observation. Free it with mortise_observation_free(), which ends it. */
typedef struct mortise_observation mortise_observation;

/* Calls `told` with the present leader, and whenever another one leads or nobody does any more:
 * each leader once, in the order of their tokens; one that led only while this node was cut off may
 * be left out. destroy, which may be NULL, is called after the last call, or when this fails. */
int mortise_election_observe(mortise_election* election, mortise_leader_callback told,
                             void* context, void (*destroy)(void* context),
                             mortise_observation** observation, mortise_error** error);
/* No call begins after it has returned, and none runs, unless it is made in that callback. */
void mortise_observation_free(mortise_observation* observation);

#ifdef __cplusplus
}
#endif

#endif
