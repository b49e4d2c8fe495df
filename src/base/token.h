#ifndef DLOCK_TOKEN_H
#define DLOCK_TOKEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Random values: owner tokens, which nobody can guess, and jitter, which need not be secret. */

#define DLOCK_TOKEN_LEN 32

/* What stands before the digits where other code reads a lock's value as the time at which the lock ends: one in the
 * year 2286, by any of PHP's rules. */
#define DLOCK_TOKEN_LEGACY "9999999999:"

/* The longest token. */
#define DLOCK_TOKEN_MAX (sizeof DLOCK_TOKEN_LEGACY - 1 + DLOCK_TOKEN_LEN)

/* Writes 128 bits from the system's generator as 32 hexadecimal digits and a terminating NUL.
 * False when the system gave no random bytes; then there must be no token at all. */
bool dlock_token(char out[DLOCK_TOKEN_LEN + 1]);

/* Is it what dlock_token() writes? With `legacy`, also where it stands behind DLOCK_TOKEN_LEGACY. */
bool dlock_is_token(const char *text, size_t len, bool legacy);

/* A uniformly distributed number from 0 to bound - 1, for jitter; 0 when bound is 0. Not for secrets. */
uint32_t dlock_jitter(uint32_t bound);

#endif
