/* The configuration of a node, and where its log lines go. Included by <mortise.h>, which says what
 * holds for all of them. */
#ifndef MORTISE_C_CONFIG_H
#define MORTISE_C_CONFIG_H

#include <stddef.h>
#include <stdint.h>

#include <mortise/c/error.h>

#ifdef __cplusplus
extern "C" {
#endif

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

#ifdef __cplusplus
}
#endif

#endif
