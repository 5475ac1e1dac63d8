/* What a failed call tells. Included by <mortise.h>, which says what
 * holds for all of them. */
#ifndef MORTISE_C_ERROR_H
#define MORTISE_C_ERROR_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

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

/* Frees the bytes that a function returned for that: mortise_hold_value() and those of
 * <mortise/c/look.h>. */
void mortise_bytes_free(char* bytes);

#ifdef __cplusplus
}
#endif

#endif
