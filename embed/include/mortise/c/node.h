/* A node: one member of a cluster, in this process. Included by <mortise.h>, which says what
 * holds for all of them. */
#ifndef MORTISE_C_NODE_H
#define MORTISE_C_NODE_H

#include <stddef.h>
#include <stdint.h>

#include <mortise/c/config.h>
#include <mortise/c/error.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One member of a cluster, in this process. Free it with mortise_node_free(). */
typedef struct mortise_node mortise_node;

/* Opens the data directory, listens and starts. Blocks while the log is recovered, and does not
 * wait for the cluster. Fails with MORTISE_INVALID_ARGUMENT, MORTISE_SYSTEM_ERROR and the codes
 * that begin with MORTISE_DIRECTORY. */
int mortise_node_open(const mortise_config* config, mortise_node** node, mortise_error** error);

/* Waits until the node has a session in a cluster with a leader; MORTISE_TIMED_OUT with the reason
 * if it has none after that time. 0 does not wait for the session, INT64_MAX waits without a limit.
 * To learn the reason it asks a thread of the node, for at most timing.call_timeout more. */
int mortise_node_wait_ready(mortise_node* node, int64_t wait_max_ns, mortise_error** error);

/* The configured number of this member; 0 for NULL. */
uint64_t mortise_node_id(const mortise_node* node);

/* Ends pending calls with MORTISE_NODE_STOPPED, releases all holds in one command, transfers
 * leadership and stops. The holds are released when their lost callbacks have returned, or after
 * 100 ms. The cluster gets timing.close_timeout (2 s) for all of that. Then it waits for callbacks
 * that run, without a limit, and for the disk at most timing.close_timeout and 1 s. No callback of
 * this node runs on a thread of the node after it has returned. In a callback on a thread of this
 * node it returns at once, and the node ends elsewhere. The object stays; a second call has no
 * effect. NULL is allowed. */
void mortise_node_close(mortise_node* node);

/* Closes the node as mortise_node_close() does, and frees it. Holds may be freed before or after
 * it. */
void mortise_node_free(mortise_node* node);

typedef struct mortise_status {
    size_t size;            /* sizeof(mortise_status), set by the caller */
    uint64_t node_id;       /* this node */
    uint64_t leader_id;     /* the leader; 0: unknown */
    uint64_t term;          /* of Raft */
    uint64_t commit_index;  /* of the log */
    uint64_t applied_index; /* of the log */
    uint32_t members;       /* how many the cluster has; 0 until it is formed */
    uint32_t voters;        /* how many of them vote */
    int32_t is_ready;       /* 1: calls are answered */
    int32_t is_stopped;     /* 1: closed or failed */
} mortise_status;

/* What the node knows about itself and the cluster; after it has stopped, the last state. Does not
 * ask the cluster, but a thread of the node: blocks for at most timing.call_timeout. Set
 * status->size before each call; the library writes that many bytes at most, and sets size to how
 * many of them it knows. The rest is zero. */
int mortise_node_status(mortise_node* node, mortise_status* status, mortise_error** error);

/* Takes a lock away from the holder with that token; its hold is lost. The name stays taken until
 * the holder's node has confirmed it, or cannot rely on the hold any more. `reason`, at most 256
 * bytes, is shown to operators. MORTISE_NOT_HELD if no holder has that token. After
 * MORTISE_OUTCOME_UNKNOWN and MORTISE_OUT_OF_MEMORY it may be called again. */
int mortise_node_break_lock(mortise_node* node, const char* name, size_t name_length, int64_t token,
                            const char* reason, size_t reason_length, mortise_error** error);
/* The same, but the name is free at once: until the holder's node has learned of it, at most the
 * rest of its session's TTL, two processes may believe that they hold it. Use it if the holder is
 * known to be dead, or if the resource compares tokens. */
int mortise_node_break_lock_now(mortise_node* node, const char* name, size_t name_length,
                                int64_t token, const char* reason, size_t reason_length,
                                mortise_error** error);

/* Takes a session out, with all that it holds and waits for. Its node loses the holds as
 * MORTISE_LOSS_BROKEN and closes the session, when it learns of this; if it is silent, the session
 * ends within its TTL and a little. mortise_node_sessions() has the number. `reason` is as above.
 * MORTISE_NOT_HELD if there is no such session. MORTISE_INVALID_ARGUMENT on a client node. */
int mortise_node_evict(mortise_node* node, uint64_t session, const char* reason,
                       size_t reason_length, mortise_error** error);
/* The same at once, while the node of that session may still rely on its holds: only the tokens
 * tell two holders apart then. */
int mortise_node_evict_now(mortise_node* node, uint64_t session, const char* reason,
                           size_t reason_length, mortise_error** error);

/* Asks the holders of a lock to release it: those that were acquired with a mortise_contended, or
 * in C++ with AcquireOptions::on_contended, receive `reason`, at most 256 bytes. They may ignore
 * it. MORTISE_NOT_HELD if nobody holds the name. Blocks for at most timing.call_timeout;
 * MORTISE_OUTCOME_UNKNOWN: no answer came in time. */
int mortise_node_request_release(mortise_node* node, const char* name, size_t name_length,
                                 const char* reason, size_t reason_length, mortise_error** error);

#ifdef __cplusplus
}
#endif

#endif
