#ifndef DLOCK_MEMCACHED_SERVER_CLOCK_H
#define DLOCK_MEMCACHED_SERVER_CLOCK_H

#include "request.h"

/* The clock of a memcached server, as one connection sees it. It ticks once a second.
 *
 * A server that stood still first executes the requests that it has received meanwhile, by the time at which it
 * stopped. Then its clock catches up, so keys that it set by the old time expire too early by the whole stop. So a
 * connection reads the clock before each lease that it sets: it asks for the remaining time of the key
 * DLOCK_MEMCACHED_CLOCK, which never changes. */
typedef struct {
	uint64_t cas;           /* of the key; 0: not read */
	dlock_nanos left, sent; /* the key's remaining time by the last reading, and when its request was sent */
	dlock_nanos end;        /* the key does not expire earlier than DLOCK_MEMCACHED_MARGIN before this */
	bool is_reconnected;    /* an earlier connection has read this */
	dlock_nanos late;       /* how late it was at first, while it has been late without a break; 0: it is not late */
	dlock_nanos late_since; /* when it began to be late */
} dlock_memcached_clock;

/* Returns how late the clock may have been when the server gave this reply, to a request sent at `sent`. A key that is
 * set after it expires so much too early. DLOCK_FOREVER: it is not known, because the key was replaced.
 *
 * A clock that was late catches up, except if the machine was suspended. A new connection tells these apart: over it,
 * such a clock stays late for longer than catching up takes.
 *
 * The first reading counts as made while the server did not stand still. So it shows the clock to within two ticks.
 * Later ones show it better if the clock ticks between two of them that are less than a tick apart. Otherwise a clock
 * that is in time may seem late by up to two ticks, because the place of its tick within the second drifts. Leases last
 * shorter by that.
 *
 * A stop remains unnoticed in two cases. The process reads the clock for the first time just as the server continues.
 * Or its last reading is so old that the server's clock has gained a second since. */
dlock_nanos dlock_memcached_clock_read(
	dlock_memcached_clock *clock, const dlock_memcached_reply *reply, dlock_nanos sent, dlock_nanos now);

/* The next readings come over another connection. */
void dlock_memcached_clock_reconnect(dlock_memcached_clock *clock);

#endif
