/* The version, and the codes that functions return. Included by <mortise.h>, which says what
 * holds for all of them. */
#ifndef MORTISE_C_CODES_H
#define MORTISE_C_CODES_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Of the library that runs: "0.2.0". Static text. */
const char* mortise_version(void);
/* The same as MORTISE_VERSION_NUMBER: 1002003 is 1.2.3. */
int mortise_version_number(void);

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
    MORTISE_RESOURCE_EXHAUSTED = 10, /* a limit was reached */
    MORTISE_INVALID_ARGUMENT = 11,   /* the call or the configuration is wrong */
    MORTISE_KIND_MISMATCH = 12,      /* the name is in use with another policy or as another kind */
    MORTISE_STALE_REQUEST = 13,      /* it was answered long ago, and the answer is gone */
    MORTISE_NODE_STOPPED = 14,       /* this node was closed or failed; open a new one */
    MORTISE_FORKED = 15,             /* called in the child of a fork; open a node there */
    MORTISE_PERMISSION_DENIED = 16,  /* the certificate does not allow it */
    MORTISE_INCOMPATIBLE = 17,       /* a member runs another version; upgrade the older one */

    /* Why a data directory cannot be used: mortise::DirectoryErrc. */
    MORTISE_DIRECTORY_LOCKED = 101,          /* a process has it open, perhaps this one */
    MORTISE_DIRECTORY_DAMAGED = 102,         /* acknowledged data is missing or altered */
    MORTISE_DIRECTORY_NEWER_FORMAT = 103,    /* written by a later version */
    MORTISE_DIRECTORY_WRONG_NODE = 104,      /* it belongs to another node id */
    MORTISE_DIRECTORY_IO = 105,              /* an error of the disk or the file system */
    MORTISE_DIRECTORY_NO_SPACE = 106,        /* the disk or a quota is full */
    MORTISE_DIRECTORY_SHORTAGE = 107,        /* no free descriptors or threads; try again */
    MORTISE_DIRECTORY_CLOSED = 108,          /* the program closed its descriptors */
    MORTISE_DIRECTORY_DENIED = 109,          /* this user may not read or write it */
    MORTISE_DIRECTORY_NOT_A_DIRECTORY = 110, /* the path is that of a file or a link */

    /* Of this interface. */
    MORTISE_OUT_OF_MEMORY = 1001,  /* nothing was begun, or what was acquired was released */
    MORTISE_SYSTEM_ERROR = 1002,   /* of the operating system; see mortise_error_errno() */
    MORTISE_INTERNAL_ERROR = 1003, /* an error that has no other code; its message is all */
};

/* "timed_out" for MORTISE_TIMED_OUT; "unknown" for a number that is no code. Static text. */
const char* mortise_code_name(int code);
/* 1 if the same call may succeed when it is repeated unchanged, otherwise 0. */
int mortise_code_is_retryable(int code);

#ifdef __cplusplus
}
#endif

#endif
