#ifndef DLOCK_TOKEN_H
#define DLOCK_TOKEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DLOCK_TOKEN_LEN 32

/* Writes 128 bits from the system's generator as 32 hexadecimal digits and a terminating NUL.
 * False when the system gave no random bytes; then there must be no token at all. */
bool dlock_token(char out[DLOCK_TOKEN_LEN + 1]);

/* A uniformly distributed number from 0 to bound - 1, for jitter; 0 when bound is 0. Not for secrets. */
uint32_t dlock_jitter(uint32_t bound);

#endif
