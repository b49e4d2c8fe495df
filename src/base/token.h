#ifndef DLOCK_TOKEN_H
#define DLOCK_TOKEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Unguessable owner tokens, which say where they come from, and other random values.
 *
 * A token has 44 hexadecimal digits: 8 of the host's IPv4 address, 6 of the pid, 10 of the time at which it was made,
 * and 20 random ones. The first 24 are its id: that may be shown, since it releases nothing. 44 bytes are the longest
 * value that Redis keeps in one piece with its key. */

#define DLOCK_TOKEN_LEN 44
#define DLOCK_TOKEN_ID_LEN 24

/* One without an origin, as older versions make them, too. Nothing but random digits. */
#define DLOCK_TOKEN_PLAIN_LEN 32

/* What stands before the digits where other code reads a lock's value as the time at which the lock ends: one in the
 * year 2286, by any of PHP's rules. */
#define DLOCK_TOKEN_LEGACY "9999999999:"

/* The longest token. */
#define DLOCK_TOKEN_MAX (sizeof DLOCK_TOKEN_LEGACY - 1 + DLOCK_TOKEN_LEN)

/* Writes a new token and a terminating NUL. No two of a process have the same id. False when the system gave no random
 * bytes; then there must be no token at all. */
bool dlock_token(char out[DLOCK_TOKEN_LEN + 1]);

/* Writes 128 random bits as 32 hexadecimal digits and a terminating NUL. False as above. */
bool dlock_plain_token(char out[DLOCK_TOKEN_PLAIN_LEN + 1]);

/* Is it what one of these writes? With `legacy`, also where it stands behind DLOCK_TOKEN_LEGACY. */
bool dlock_is_token(const char *text, size_t len, bool legacy);

/* ---- where they come from ---- */

/* The IPv4 address that the process' tokens name from now on; 0: none is known. With `hidden`, tokens have no
 * origin. */
void dlock_token_set_origin(uint32_t address, bool hidden);

/* The id of a token, behind DLOCK_TOKEN_LEGACY, too, and a NUL. False: it has no origin, so its digits are not to be
 * shown. */
bool dlock_token_id(const char *token, char out[DLOCK_TOKEN_ID_LEN + 1]);

typedef struct {
	uint32_t address; /* 0: not known */
	uint32_t pid;     /* its last 24 bits */
	int64_t made_at;  /* µs since 1970, by its host's clock */
} dlock_origin;

/* Reads the id of a token; `now` is µs since 1970, for the digits leave out the year. False: it is none. */
bool dlock_token_read_origin(const char id[DLOCK_TOKEN_ID_LEN], int64_t now, dlock_origin *out);

/* µs since 1970, by this host's clock, which may be set. For people; no lease goes by it. */
int64_t dlock_time_of_day(void);

/* ---- other random values ---- */

/* A uniformly distributed number from 0 to bound - 1, for jitter; 0 when bound is 0. Not for secrets. */
uint32_t dlock_jitter(uint32_t bound);

#endif
