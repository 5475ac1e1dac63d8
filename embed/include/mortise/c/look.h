/* Looking at locks, sessions and changes. Included by <mortise.h>, which says what
 * holds for all of them.
 *
 * What these functions tell is JSON, the documents that `mortise inspect`, `mortise locks`,
 * `mortise sessions` and `mortise watch` print with --json; docs/console.md describes them. Later
 * versions may add members and new values of a text. Tokens are texts, because they have 63 bits. A
 * name, a label or a value that is not UTF-8 is an object with its bytes as `hex`. */
#ifndef MORTISE_C_LOOK_H
#define MORTISE_C_LOOK_H

#include <stddef.h>
#include <stdint.h>

#include <mortise/c/election.h>
#include <mortise/c/error.h>
#include <mortise/c/node.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What a look asks. */
typedef int32_t mortise_read_level;
enum {
    MORTISE_READ_LINEARIZABLE = 0, /* the cluster: everything that was decided before the call */
    MORTISE_READ_LOCAL = 1,        /* this node alone, which may be behind */
};

/* The functions below return *json, which is freed with mortise_bytes_free(); its terminating zero
 * is not in *json_length. They block for at most timing.call_timeout, those for many names for that
 * time per thousand. They fail with MORTISE_NO_QUORUM, MORTISE_NODE_STOPPED,
 * MORTISE_PERMISSION_DENIED, MORTISE_INVALID_ARGUMENT, MORTISE_RESOURCE_EXHAUSTED,
 * MORTISE_SESSION_EXPIRED, MORTISE_FORKED and MORTISE_OUT_OF_MEMORY. */

/* An object about one name: its holders and waiters, its value, and what it is used as. A name that
 * nobody uses has no holders and no waiters. */
int mortise_node_inspect(mortise_node* node, const char* name, size_t name_length,
                         mortise_read_level level, char** json, size_t* json_length,
                         mortise_error** error);
/* An array of such objects, without values: those whose names begin with `prefix` and are greater
 * than `after`, in byte order, at most `limit`, which is above 0. For the next page pass the last
 * name as `after`; a page with fewer than `limit` is the last one. */
int mortise_node_list(mortise_node* node, const char* prefix, size_t prefix_length,
                      const char* after, size_t after_length, size_t limit,
                      mortise_read_level level, char** json, size_t* json_length,
                      mortise_error** error);
/* An array of objects about the sessions: which processes may hold locks, how much they hold, and
 * how long each is still waited for. MORTISE_INVALID_ARGUMENT on a client node, which keeps none.
 */
int mortise_node_sessions(mortise_node* node, mortise_read_level level, char** json,
                          size_t* json_length, mortise_error** error);

/* The two functions below tell the counters and the present numbers of this node, and do not ask
 * the cluster; after the node has stopped, its last numbers. docs/monitoring.md explains them. The
 * first returns an object of JSON, whose members are those of the C++ struct Metrics: times end in
 * `_ms` or `_us`, and a histogram has `counts`, how many durations were in each bucket, and
 * `sum_us`. The bounds of the buckets are 1 us, 2 us, 5 us, 10 us, and so on to 5,000 s; the last
 * one has none. */
int mortise_node_metrics(mortise_node* node, char** json, size_t* json_length,
                         mortise_error** error);
/* The second returns the text that Prometheus reads, version 0.0.4. *text is freed with
 * mortise_bytes_free(). */
int mortise_node_prometheus(mortise_node* node, char** text, size_t* length, mortise_error** error);

/* The options of an observation. Begin with MORTISE_OBSERVE_OPTIONS_INIT, or with zeros and the
 * size; it grows as mortise_acquire_options does. */
typedef struct mortise_observe_options {
    size_t size; /* sizeof(mortise_observe_options) */
    /* Continue after this `position` of an earlier event, on any node of the cluster. Empty: begin
     * with the present state. */
    const char* position;
    size_t position_length;
    int32_t only_this_name; /* 1: one name, instead of all with that prefix */
    int32_t reserved;       /* 0 */
} mortise_observe_options;

/* Every member has its default. */
#define MORTISE_OBSERVE_OPTIONS_INIT \
    { sizeof(mortise_observe_options), NULL, 0, 0, 0 }

/* Receives an event as an object with `event`, its kind: `gap` means that nothing that was told
 * before counts any more, and that the present state follows. `json` is valid during the call; it
 * is NULL if there was no memory for the event: then free the observation and begin anew. It is
 * called on a thread of the node, one call at a time and in order. It may block: then it gets later
 * events late, and a gap when it has missed some. */
typedef void (*mortise_event_callback)(void* context, const char* json, size_t length);

/* Tells what changes of the locks whose names begin with `prefix`: first a gap, then the present
 * state, and then each change, once and in order. The node tells what it knows itself: it may be a
 * moment behind the cluster, and is silent while it is cut off. `options` may be NULL. Blocks for
 * an answer of this node. At most 1,024 at a time, otherwise MORTISE_RESOURCE_EXHAUSTED. A client
 * node asks one member after the other. It ends with mortise_observation_free(), or when the node
 * stops. destroy, which may be NULL, is called after the last call, or when this fails. */
int mortise_node_observe(mortise_node* node, const char* prefix, size_t prefix_length,
                         const mortise_observe_options* options, mortise_event_callback told,
                         void* context, void (*destroy)(void* context),
                         mortise_observation** observation, mortise_error** error);

#ifdef __cplusplus
}
#endif

#endif
