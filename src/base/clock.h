#ifndef DLOCK_CLOCK_H
#define DLOCK_CLOCK_H

#include <stdint.h>

/* Time: the clock of all leases and deadlines, and arithmetic that does not overflow. */

/* A point in time or a length of time, in nanoseconds. */
typedef int64_t dlock_nanos;

#define DLOCK_US      INT64_C(1000)
#define DLOCK_MS      INT64_C(1000000)
#define DLOCK_SECOND  INT64_C(1000000000)
#define DLOCK_FOREVER INT64_MAX

static inline dlock_nanos dlock_from_seconds(double seconds)
{
	return (dlock_nanos) (seconds * (double) DLOCK_SECOND);
}

/* The clock of all leases and deadlines. It never jumps. It runs while the machine is suspended, because a lease
 * expires on the server meanwhile and so must expire here, too. */
dlock_nanos dlock_now(void);

/* Moves the clock of this process forward, as if the machine had been suspended: for tests of applications. */
void dlock_clock_travel(dlock_nanos length);

/* start + length. A sum that would overflow is DLOCK_FOREVER. */
dlock_nanos dlock_after(dlock_nanos start, dlock_nanos length);

/* The earlier of two points in time, or the shorter of two lengths. */
static inline dlock_nanos dlock_earlier(dlock_nanos a, dlock_nanos b)
{
	return a < b ? a : b;
}

/* Milliseconds from now to `until`, for poll(): rounded up, so that a wait never ends early; at most INT_MAX. 0 if
 * `until` has passed, -1 for DLOCK_FOREVER. */
int dlock_poll_ms(dlock_nanos until);

#endif
