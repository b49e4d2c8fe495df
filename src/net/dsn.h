#ifndef DLOCK_DSN_H
#define DLOCK_DSN_H

#include <stdbool.h>
#include <stddef.h>

#include "../base/clock.h"
#include "../base/error.h"

/* The parts of a DSN, for all that read some. */

/* Percent-decodes into an owned string, which may hold a secret. A NUL has no place in any part, and would cut it short
 * unseen. On failure the message goes on from the name of an argument: "must ...". */
bool dlock_dsn_decode(char **field, const char *text, size_t len, dlock_error *error);

/* "2.5": more than 0, and `most` at most. */
bool dlock_dsn_seconds(const char *text, size_t len, dlock_nanos most, dlock_nanos *out);

#endif
