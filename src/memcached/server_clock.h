#ifndef DLOCK_MEMCACHED_SERVER_CLOCK_H
#define DLOCK_MEMCACHED_SERVER_CLOCK_H

#include "request.h"

/* The clock of a memcached server, as one connection sees it. It ticks once a second; a server that stood still, and
 * goes on, executes what it has received in the meantime by the time at which it stopped, and then lets the clock catch
 * up: what was set by it ends too early by the whole stop. So the clock is read before each lease that is set: how long
 * the key DLOCK_MEMCACHED_CLOCK, which never changes, is to last yet. */
typedef struct {
	uint64_t cas;            /* of the key; 0: not read yet */
	dlock_nanos end;         /* of the key, by what was read so far, and no earlier than it is */
	dlock_nanos latency;     /* of that reading: the end may be so much earlier, and a clock so much later unnoticed */
	bool is_reconnected;     /* this was read over another connection */
	dlock_nanos late;        /* as it was first, since it has been so without a break; 0: it is not */
	dlock_nanos late_since;
} dlock_memcached_clock;

/* How late the clock was when the reply was given, to a request of then. DLOCK_FOREVER: it is not known, since the key
 * is another one. What is set after it ends so much earlier than it should. A clock that was late may have caught up,
 * or, where its machine was suspended, go on from there: that tells another connection, over which it stays as late for
 * longer than it takes to catch up. A process cannot know that reads it for the first time just as such a server goes
 * on, or whose last reading is so old that the server's clock has gained a second since. */
dlock_nanos dlock_memcached_clock_read(
	dlock_memcached_clock *clock, const dlock_memcached_reply *reply, dlock_nanos sent, dlock_nanos now);

/* What comes next is read over another connection. */
void dlock_memcached_clock_reconnect(dlock_memcached_clock *clock);

#endif
