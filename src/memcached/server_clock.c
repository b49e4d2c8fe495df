#include "server_clock.h"

/* The clock counts whole seconds. */
#define TICK DLOCK_SECOND

/* A server that continues executes requests before another of its threads has let the clock catch up. */
#define CATCH_UP (3 * DLOCK_SECOND)

/* Has the clock been late over a new connection for longer than catching up takes? */
static bool stays_late(dlock_memcached_clock *clock, dlock_nanos late, dlock_nanos now)
{
	if (late <= TICK) {
		clock->is_reconnected = false;
		clock->late = 0;
		return false;
	}
	if (clock->late == 0 || late > clock->late + TICK) { /* if later than before, the server stood still once more */
		clock->late = late;
		clock->late_since = now;
	}
	return clock->is_reconnected && now - clock->late_since > CATCH_UP;
}

void dlock_memcached_clock_reconnect(dlock_memcached_clock *clock)
{
	clock->is_reconnected = true;
	clock->late = 0;
}

dlock_nanos dlock_memcached_clock_read(
	dlock_memcached_clock *clock, const dlock_memcached_reply *reply, dlock_nanos sent, dlock_nanos now)
{
	if (reply->code != DLOCK_MEMCACHED_HD || reply->cas == 0 || reply->left < 0) {
		clock->cas = 0;
		return DLOCK_FOREVER;
	}
	dlock_nanos left = reply->left * DLOCK_SECOND;
	/* It has ticked since the last reading was sent. At that tick it showed the right second, even after a stop. */
	if (left < clock->left && clock->end < clock->sent + left + TICK) {
		clock->end = clock->sent + left + TICK;
	}
	dlock_nanos late = sent + left - clock->end;
	if (reply->cas != clock->cas || stays_late(clock, late, now)) {
		*clock = (dlock_memcached_clock) { .cas = reply->cas, .left = left, .sent = sent, .end = sent + left };
		return DLOCK_FOREVER;
	}
	clock->left = left;
	clock->sent = sent;
	clock->end = dlock_earlier(clock->end, now + left + TICK); /* if the server's clock gains */
	return late > 0 ? late : 0;
}
