#include "server_clock.h"

/* The clock counts whole seconds. */
#define TICK DLOCK_SECOND

dlock_nanos dlock_memcached_clock_read(
	dlock_memcached_clock *clock, const dlock_memcached_reply *reply, dlock_nanos sent, dlock_nanos now)
{
	if (reply->code != DLOCK_MEMCACHED_HD || reply->cas == 0 || reply->left < 0) {
		clock->cas = 0;
		return DLOCK_FOREVER;
	}
	dlock_nanos end = now + reply->left * DLOCK_SECOND, late = sent + reply->left * DLOCK_SECOND - clock->end;
	if (reply->cas != clock->cas) {
		*clock = (dlock_memcached_clock) { .cas = reply->cas, .end = end };
		return DLOCK_FOREVER;
	}
	clock->end = end < clock->end ? end : clock->end;
	return late > TICK ? late : 0;
}
