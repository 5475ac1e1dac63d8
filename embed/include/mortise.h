/* Mortise from C, and from every language that can call C. See docs/c-and-python.md.
 *
 *   mortise_hold* hold = NULL;
 *   if (mortise_node_acquire(node, "orders/42", 9, NULL, &hold, &error) == MORTISE_OK) {
 *       write_row(row, mortise_hold_token(hold));
 *       mortise_hold_free(hold);
 *   }
 *
 * Stability. This interface is provisional until version 0.2.0 is released, and frozen from then
 * on: names, values and the meaning of what is declared here do not change, and a program that was
 * compiled against this header runs with every later library of the same soname. Functions,
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
 * Do not cancel a thread with pthread_cancel() while it is in a function of this header. */
#ifndef MORTISE_H
#define MORTISE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------------------------------------------------------------ version */

/* Of this header. */
#define MORTISE_VERSION_MAJOR 0
#define MORTISE_VERSION_MINOR 1
#define MORTISE_VERSION_PATCH 0
#define MORTISE_VERSION_STRING "0.1.0"
#define MORTISE_VERSION_NUMBER \
    (MORTISE_VERSION_MAJOR * 1000000 + MORTISE_VERSION_MINOR * 1000 + MORTISE_VERSION_PATCH)

/* Of the library that runs: "0.1.0". Static text. */
const char* mortise_version(void);
/* The same as MORTISE_VERSION_NUMBER: 1002003 is 1.2.3. */
int mortise_version_number(void);

/* -------------------------------------------------------------------------------------- codes */

enum {
    MORTISE_OK = 0,
    /* The codes of mortise::Errc. */
    MORTISE_TIMED_OUT = 1,       /* the wait ended; the request was withdrawn and holds nothing */
    MORTISE_CANCELLED = 2,       /* the caller cancelled it; it holds nothing */
    MORTISE_SESSION_EXPIRED = 3, /* this node's holds and waits have ended; acquire again */
    MORTISE_LOCK_LOST = 4,       /* the hold ended before its release; stop the protected work */
    MORTISE_NOT_HELD = 5,        /* there is nothing to release or to use */
    MORTISE_OUTCOME_UNKNOWN = 6, /* sent, but not answered: check the effect before you repeat it */
    MORTISE_NO_QUORUM = 7,       /* no majority of the members answered in time */
    MORTISE_NOT_READY = 8,       /* the node is not in its cluster yet, or not any more */
    MORTISE_DEADLOCK = 9,        /* waiting would complete a wait cycle: release something */
    MORTISE_RESOURCE_EXHAUSTED = 10, /* a configured limit was reached */
    MORTISE_INVALID_ARGUMENT = 11,   /* the call or the configuration is wrong */
    MORTISE_KIND_MISMATCH = 12,      /* the name is in use with another policy or as another kind */
    MORTISE_STALE_REQUEST = 13,      /* it was answered long ago, and the answer is gone */
    MORTISE_NODE_STOPPED = 14,       /* this node was closed or failed; open a new one */
    MORTISE_FORKED = 15,             /* called in the child of a fork; open a node there */
    MORTISE_PERMISSION_DENIED = 16,  /* the certificate does not allow it */
    MORTISE_INCOMPATIBLE = 17,       /* a member runs another version; upgrade the older one */

    /* Why a data directory cannot be used: mortise::DirectoryErrc. */
    MORTISE_DIRECTORY_LOCKED = 101,       /* a process has it open, perhaps this one */
    MORTISE_DIRECTORY_DAMAGED = 102,      /* acknowledged data is missing or altered */
    MORTISE_DIRECTORY_NEWER_FORMAT = 103, /* written by a later version */
    MORTISE_DIRECTORY_WRONG_NODE = 104,   /* it belongs to another node id */
    MORTISE_DIRECTORY_IO = 105,           /* the disk, the file system or its permissions */
    MORTISE_DIRECTORY_NO_SPACE = 106,     /* the disk or a quota is full */
    MORTISE_DIRECTORY_SHORTAGE = 107,     /* no free descriptors or threads; try again */
    MORTISE_DIRECTORY_CLOSED = 108,       /* the program closed its descriptors */

    /* Of this interface. */
    MORTISE_OUT_OF_MEMORY = 1001,  /* nothing was begun, or what was acquired was released */
    MORTISE_SYSTEM_ERROR = 1002,   /* of the operating system; see mortise_error_errno() */
    MORTISE_INTERNAL_ERROR = 1003, /* an error that has no other code; its message is all */
};

/* "timed_out" for MORTISE_TIMED_OUT; "unknown" for a number that is no code. Static text. */
const char* mortise_code_name(int code);
/* 1 if the same call may succeed when it is repeated unchanged, otherwise 0. */
int mortise_code_is_retryable(int code);

/* ------------------------------------------------------------------------------------- errors */

/* What a failed call tells. It cannot change, so it may be read on several threads. The library
 * creates it, because a message has no greatest length. When there is no memory for that, the
 * error has the code alone, and its message is the name of the code. Free it with
 * mortise_error_free(). */
typedef struct mortise_error mortise_error;

/* The code that the call returned; MORTISE_OK for NULL. */
int mortise_error_code(const mortise_error* error);
/* mortise_code_name() of its code. Static text. */
const char* mortise_error_code_name(const mortise_error* error);
/* One line for a person. It begins with the name of the lock, if there is one, and control
 * characters are escaped. */
const char* mortise_error_message(const mortise_error* error, size_t* length);
/* What the cluster gave as a reason beyond the code; "" if nothing. */
const char* mortise_error_reason(const mortise_error* error, size_t* length);
/* The name of the lock, any bytes; "" if it is not about a lock. */
const char* mortise_error_lock_name(const mortise_error* error, size_t* length);
/* The errno value of MORTISE_SYSTEM_ERROR, for example EADDRINUSE; otherwise 0. */
int mortise_error_errno(const mortise_error* error);
/* NULL is allowed, as for every function that frees. */
void mortise_error_free(mortise_error* error);

/* Frees the bytes that mortise_hold_value() returned. */
void mortise_bytes_free(char* bytes);

/* ------------------------------------------------------------------------------------- config */

/* The configuration of a node; see docs/configuration.md. Free it with mortise_config_free(), at
 * any time after mortise_node_open(). Errors of the first three functions have the place in their
 * message: "mortise.toml:7: timing.session_ttl: ...". */
typedef struct mortise_config mortise_config;

/* Reads and checks a TOML file. Blocks on the disk. MORTISE_SYSTEM_ERROR if it cannot be read. */
int mortise_config_from_file(const char* path, size_t path_length, mortise_config** config,
                             mortise_error** error);
/* Reads and checks TOML text. */
int mortise_config_from_string(const char* toml, size_t toml_length, mortise_config** config,
                               mortise_error** error);
/* Reads and checks the variables MORTISE_NODE_ID, MORTISE_PEER_LIST and so on. No other thread may
 * change the environment meanwhile. */
int mortise_config_from_environment(mortise_config** config, mortise_error** error);
/* A cluster of one node without a listening port, whose locks are in the directory `data_dir`. */
int mortise_config_single_node(const char* data_dir, size_t data_dir_length,
                               mortise_config** config, mortise_error** error);
/* A cluster of one node without a disk: closing it loses everything. For unit tests. */
int mortise_config_in_memory(mortise_config** config, mortise_error** error);
void mortise_config_free(mortise_config* config);

/* The levels of log lines, and the thresholds from which lines are written. */
typedef int32_t mortise_log_level;
enum {
    MORTISE_LOG_DEBUG = 0,
    MORTISE_LOG_INFO = 1,
    MORTISE_LOG_WARN = 2, /* unless the configuration says otherwise */
    MORTISE_LOG_ERROR = 3,
    MORTISE_LOG_OFF = 4,
};

/* Receives a log line without time, level and newline; `line` ends with a zero as well. It is
 * called on threads of the node, perhaps on several at once. It must not block, and must not call
 * functions of a node. */
typedef void (*mortise_log_callback)(void* context, mortise_log_level level, const char* line,
                                     size_t length);
/* The nodes that are opened with this config write lines from `level` on, to `sink`, or to
 * standard error if `sink` is NULL. A second call replaces the first. destroy is called when the
 * config and the last node that was opened with it are freed and have written their last line. */
int mortise_config_set_log(mortise_config* config, mortise_log_level level,
                           mortise_log_callback sink, void* context, void (*destroy)(void* context),
                           mortise_error** error);

/* Log lines that wait for a thread of the program: for a program that threads of a node must not
 * call, such as an interpreter with a lock of its own. Free it with mortise_log_queue_free(), at
 * any time: lines are dropped from then on. In the child of a fork it has no lines. */
typedef struct mortise_log_queue mortise_log_queue;

/* The nodes that are opened with this config put lines from `level` on into a new queue. That
 * replaces what was set before. At most lines_max lines wait, 1 to 65536; one that finds the queue
 * full is dropped and counted. */
int mortise_config_queue_log(mortise_config* config, mortise_log_level level, size_t lines_max,
                             mortise_log_queue** queue, mortise_error** error);

typedef struct mortise_log_line {
    size_t size;      /* sizeof(mortise_log_line), set by the caller */
    const char* text; /* belongs to the queue, until the next call with it; NULL at the end */
    size_t length;    /* of text, which is a line without time, level and newline */
    uint64_t dropped; /* lines that were dropped between the line before and this one */
    mortise_log_level level;
    int32_t reserved; /* 0 */
} mortise_log_line;

/* Takes the next line, and waits for it without a limit. The end has come, MORTISE_OK and
 * line->text is NULL, when every line was taken and either the queue was closed or the config and
 * the nodes that were opened with it are gone. One thread at a time may call it for a queue. Set
 * line->size before each call; see mortise_node_status(). */
int mortise_log_queue_next(mortise_log_queue* queue, mortise_log_line* line, mortise_error** error);
/* Lines that come from now on are dropped; those that wait can still be taken. Does not block. NULL
 * is allowed. */
void mortise_log_queue_close(mortise_log_queue* queue);
void mortise_log_queue_free(mortise_log_queue* queue);

/* --------------------------------------------------------------------------------------- node */

/* One member of a cluster, in this process. Free it with mortise_node_free(). */
typedef struct mortise_node mortise_node;
/* A lock that is held. Free it with mortise_hold_free(). */
typedef struct mortise_hold mortise_hold;

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
 * leadership and stops. The cluster gets timing.close_timeout (2 s) for that. Then it waits for
 * callbacks that run, without a limit, and for the disk at most timing.close_timeout and 1 s. No
 * callback of this node runs on a thread of the node after it has returned. In a callback on a
 * thread of this node it returns at once, and the node ends elsewhere. The object stays; a second
 * call has no effect. NULL is allowed. */
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

/* ------------------------------------------------------------------------------------ acquire */

/* The mode in which a name is held. Any number may hold it shared at the same time; one more may
 * have it for update, and upgrades are not part of this interface yet. The intent modes announce
 * that finer names below this one are locked; see docs/rules.md. */
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

/* Whether this node may keep the grant of a released hold for its next acquire of the name. */
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
    /* The name is granted to nobody else until this long after the grant, even if the hold ends
     * earlier; at most 24 days, 0: none. */
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
} mortise_acquire_options;

/* Every member has its default. */
#define MORTISE_ACQUIRE_OPTIONS_INIT \
    { sizeof(mortise_acquire_options), NULL, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, NULL }

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

/* Takes a lock away from the holder with that token; its hold is lost. The name stays taken until
 * the holder's node has confirmed it, or cannot rely on the hold any more. `reason`, at most 256
 * bytes, is shown to operators. MORTISE_NOT_HELD if no holder has that token. After
 * MORTISE_OUTCOME_UNKNOWN and MORTISE_OUT_OF_MEMORY it may be called again. */
int mortise_node_break_lock(mortise_node* node, const char* name, size_t name_length, int64_t token,
                            const char* reason, size_t reason_length, mortise_error** error);

/* --------------------------------------------------------------------------------------- hold */

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

/* Called at most once, when the hold is lost: before the name is granted to another holder, unless
 * the process was paused or cut off for too long. The name becomes free after the callback has
 * returned, or after 100 ms. A release is no loss. */
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

#ifdef __cplusplus
}
#endif

#endif
