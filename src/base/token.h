#ifndef DLOCK_TOKEN_H
#define DLOCK_TOKEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Owner tokens, which are unguessable and name their origin, and other random values.
 *
 * A token has 44 hexadecimal digits: 8 for the host's IPv4 address, 6 for the pid, 10 for the time, and 20 random ones.
 * The first 24 digits are its id. Messages may show the id, because it releases nothing. 44 bytes are the longest
 * string that Redis stores in the same allocation as its object. */

#define DLOCK_TOKEN_LEN 44
#define DLOCK_TOKEN_ID_LEN 24

/* The length of a token without an origin, which has only random digits. Older versions make such tokens, too. */
#define DLOCK_TOKEN_PLAIN_LEN 32

/* The prefix of a token if other code reads a lock's value as the time at which the lock expires. By any of PHP's rules
 * it is a time in the year 2286. */
#define DLOCK_TOKEN_LEGACY "9999999999:"

/* The length of the longest token. */
#define DLOCK_TOKEN_MAX (sizeof DLOCK_TOKEN_LEGACY - 1 + DLOCK_TOKEN_LEN)

/* Writes a new token and a terminating NUL. A process repeats an id only if its clock is set back, or if it makes more
 * than 32,000 tokens per second for some time. False: the system gave no random bytes, and the caller must not use any
 * token. */
bool dlock_token(char out[DLOCK_TOKEN_LEN + 1]);

/* Writes 128 random bits as 32 hexadecimal digits and a terminating NUL. False as above. */
bool dlock_plain_token(char out[DLOCK_TOKEN_PLAIN_LEN + 1]);

/* Is the text a token of either form? With `legacy`, DLOCK_TOKEN_LEGACY may precede it. */
bool dlock_is_token(const char *text, size_t len, bool legacy);

/* ---- where they come from ---- */

/* Sets the IPv4 address that tokens of this process name from now on; 0: unknown. With `hidden`, dlock_token() writes
 * plain tokens. */
void dlock_token_set_origin(uint32_t address, bool hidden);

/* Writes the id of a token and a NUL; DLOCK_TOKEN_LEGACY may precede the token. False: the token has no origin, so no
 * message may show its digits. */
bool dlock_token_id(const char *token, char out[DLOCK_TOKEN_ID_LEN + 1]);

typedef struct {
	uint32_t address; /* 0: unknown */
	uint32_t pid;     /* its last 24 bits */
	int64_t made_at;  /* µs since 1970, by its host's clock */
} dlock_origin;

/* Reads the id of a token. `now`, in µs since 1970, tells the year, which the id leaves out. False: it is not an id. */
bool dlock_token_read_origin(const char id[DLOCK_TOKEN_ID_LEN], int64_t now, dlock_origin *out);

/* µs since 1970, by this host's clock, which users may set. It is for display: no lease depends on it. */
int64_t dlock_time_of_day(void);

/* ---- other random values ---- */

/* A uniformly distributed number from 0 to bound - 1, for jitter, not for secrets. 0 if `bound` is 0 or the system gave
 * no random bytes. */
uint32_t dlock_jitter(uint32_t bound);

#endif
