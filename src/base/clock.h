#ifndef DLOCK_CLOCK_H
#define DLOCK_CLOCK_H

#include <stdint.h>

/* Time: one clock for all leases and deadlines, and arithmetic that does not overflow. */

/* A point in time, or a length of time, in nanoseconds. */
typedef int64_t dlock_nanos;

#define DLOCK_US      INT64_C(1000)
#define DLOCK_MS      INT64_C(1000000)
#define DLOCK_SECOND  INT64_C(1000000000)
#define DLOCK_FOREVER INT64_MAX

static inline dlock_nanos dlock_from_seconds(double seconds)
{
	return (dlock_nanos) (seconds * (double) DLOCK_SECOND);
}

/* The one clock of leases and deadlines. It never jumps and goes on while the machine is suspended: a lease runs out
 * on the server during a suspend, so it must run out here too. */
dlock_nanos dlock_now(void);

/* Moves the clock of this process on, as if the machine had been suspended for so long: in tests of applications. */
void dlock_clock_travel(dlock_nanos length);

/* start + length, without overflow: what is too late to be told apart from never is DLOCK_FOREVER. */
dlock_nanos dlock_after(dlock_nanos start, dlock_nanos length);

/* Of two points in time the earlier one; of two lengths the shorter one. */
static inline dlock_nanos dlock_earlier(dlock_nanos a, dlock_nanos b)
{
	return a < b ? a : b;
}

/* Milliseconds from now to `until` for poll(): rounded up (so that a wait never ends early), 0 when past,
 * -1 for DLOCK_FOREVER. */
int dlock_poll_ms(dlock_nanos until);

#endif
