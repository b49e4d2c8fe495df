#ifndef DLOCK_MEMCACHED_BACKEND_H
#define DLOCK_MEMCACHED_BACKEND_H

#include "../lock/backend.h"
#include "discard.h"

/* Locks on one memcached server. It forgets: a restart, an eviction or a flush gives a lock away.
 *
 * Expiry counts in whole seconds of a clock that ticks once a second, so that a key may go up to a second early: a
 * lease is believed for its ttl less DLOCK_MEMCACHED_MARGIN and 1 %, and less the time by which the server's clock was
 * behind (server_clock.h). There is no push and no queue: a waiter polls. */

/* The lease times that there can be: from more than the margin, to what memcached does not take for a date. */
extern const dlock_ttl_range dlock_memcached_ttls;

/* `prefix` is put before each resource to make its key. NULL when out of memory. */
dlock_backend *dlock_memcached_new(dlock_net_pool *pool, dlock_endpoint *server, const char *prefix,
	size_t prefix_len, dlock_memcached_digest *digest);

#endif
