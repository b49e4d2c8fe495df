#ifndef DLOCK_ERROR_H
#define DLOCK_ERROR_H

#include <stddef.h>

/* Outcomes and messages. A status says what the caller can do next; a message says what failed, and is safe to show. */

/* What an operation came to. Everything but DLOCK_OK, DLOCK_TIMEOUT and DLOCK_INTERRUPTED leaves a message. */
typedef enum {
	DLOCK_OK,
	DLOCK_TIMEOUT,     /* not acquired within the time allowed */
	DLOCK_INTERRUPTED, /* the caller asked to end the wait; call again to go on with it */
	DLOCK_LOST,        /* the lock is not ours, or no longer */
	DLOCK_CONNECTION,  /* a server could not be asked, or its answer did not come: the outcome may be unknown */
	DLOCK_QUORUM,      /* too few servers answered */
	DLOCK_DEADLOCK,    /* the caller itself holds what it would wait for */
	DLOCK_FAILED,      /* the system refused (memory, random bytes, descriptors) */
	DLOCK_PENDING      /* nothing yet: of a step, see net/task.h */
} dlock_status;

/* Messages are for the user: they name the server and what to do, and never contain a password. */
typedef struct {
	char message[512];
} dlock_error;

#if defined(__GNUC__)
#define DLOCK_PRINTF(text, first) __attribute__((format(printf, text, first)))
#else
#define DLOCK_PRINTF(text, first)
#endif

/* A name of any bytes, as messages have it: at most 100 bytes, whole characters, with a ? for what is no text. */
typedef struct {
	char text[101];
} dlock_shown;

dlock_shown dlock_show(const char *text, size_t len);

/* Writes the message (with a ? for each byte that is no text, and cut at a character where it is too long) and returns
 * `status`, so that a caller can return both in one line. */
dlock_status dlock_fail(dlock_error *error, dlock_status status, const char *format, ...) DLOCK_PRINTF(3, 4);

/* The same, with DLOCK_FAILED. */
dlock_status dlock_out_of_memory(dlock_error *error);

/* For what reads text: the same, and false. */
#define dlock_reject(error, ...) (dlock_fail(error, DLOCK_FAILED, __VA_ARGS__), false)

/* Adds to the message, as far as there is room. */
void dlock_append(dlock_error *error, const char *format, ...) DLOCK_PRINTF(2, 3);

#endif
