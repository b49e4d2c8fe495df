#include "clock.h"

#include <limits.h>
#include <stdatomic.h>
#include <time.h>

static _Atomic dlock_nanos travelled;

dlock_nanos dlock_now(void)
{
	struct timespec now;
#if defined(CLOCK_BOOTTIME) && !defined(DLOCK_PORTABLE)
	clock_gettime(CLOCK_BOOTTIME, &now);
#else
	clock_gettime(CLOCK_MONOTONIC, &now); /* runs during a suspend on macOS, OpenBSD and FreeBSD 15, by their manuals */
#endif
	return now.tv_sec * DLOCK_SECOND + now.tv_nsec + atomic_load_explicit(&travelled, memory_order_relaxed);
}

void dlock_clock_travel(dlock_nanos length)
{
	atomic_fetch_add(&travelled, length);
}

dlock_nanos dlock_after(dlock_nanos start, dlock_nanos length)
{
	return length > 0 && start > DLOCK_FOREVER - length ? DLOCK_FOREVER : start + length;
}

int dlock_poll_ms(dlock_nanos until)
{
	if (until == DLOCK_FOREVER) {
		return -1;
	}
	dlock_nanos left = until - dlock_now();
	if (left <= 0) {
		return 0;
	}
	return left / DLOCK_MS >= INT_MAX ? INT_MAX : (int) ((left + DLOCK_MS - 1) / DLOCK_MS);
}
