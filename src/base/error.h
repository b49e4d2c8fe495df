#ifndef DLOCK_ERROR_H
#define DLOCK_ERROR_H

#include <stddef.h>

/* Outcomes and messages. A status says what the caller can do next; a message says what failed, and is safe to show. */

/* The outcome of an operation. DLOCK_LOST, DLOCK_CONNECTION, DLOCK_QUORUM, DLOCK_DEADLOCK and DLOCK_FAILED leave a
 * message. */
typedef enum {
	DLOCK_OK,
	DLOCK_TIMEOUT,     /* not acquired within the time allowed */
	DLOCK_INTERRUPTED, /* the caller asked to end the wait, and may call again to resume it */
	DLOCK_LOST,        /* the caller does not hold the lock, or no longer does */
	DLOCK_CONNECTION,  /* a server could not be asked or did not answer: the outcome may be unknown */
	DLOCK_QUORUM,      /* too few servers answered */
	DLOCK_DEADLOCK,    /* the caller itself holds what it would wait for */
	DLOCK_FAILED,      /* the system refused (memory, random bytes, descriptors) */
	DLOCK_PENDING      /* a step has no outcome yet: see net/task.h */
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

/* A name of any bytes, as messages show it: whole characters of UTF-8, at most 100 bytes, with a ? for each byte that
 * is not text. */
typedef struct {
	char text[101];
} dlock_shown;

dlock_shown dlock_show(const char *text, size_t len);

/* Writes the message and returns `status`, so that a caller can return both in one line. Each byte that is not text
 * becomes a ?. If the message is too long, it ends after a whole character. */
dlock_status dlock_fail(dlock_error *error, dlock_status status, const char *format, ...) DLOCK_PRINTF(3, 4);

/* Writes "Out of memory" and returns DLOCK_FAILED. */
dlock_status dlock_out_of_memory(dlock_error *error);

/* For parsers: dlock_fail() with DLOCK_FAILED, as an expression that is false. */
#define dlock_reject(error, ...) (dlock_fail(error, DLOCK_FAILED, __VA_ARGS__), false)

/* Appends to the message as much as there is room for. */
void dlock_append(dlock_error *error, const char *format, ...) DLOCK_PRINTF(2, 3);

#endif
