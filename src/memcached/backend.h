#ifndef DLOCK_MEMCACHED_BACKEND_H
#define DLOCK_MEMCACHED_BACKEND_H

#include "../lock/backend.h"
#include "discard.h"

/* Locks on one memcached server. The server loses locks: after a restart, an eviction or a flush, another client can
 * acquire a held lock.
 *
 * The server counts whole seconds of a clock that ticks once a second, so a key may expire up to a second early. A
 * holder relies on its lease for the ttl less DLOCK_MEMCACHED_MARGIN, 1 %, and the time by which the server's clock was
 * late (server_clock.h). The server neither queues nor notifies waiters: they poll. */

/* The lease times: longer than the margin, and short enough that memcached does not read them as a date. */
extern const dlock_ttl_range dlock_memcached_ttls;

/* The key of a resource is made of `prefix` and its name. NULL if out of memory. */
dlock_backend *dlock_memcached_new(dlock_net_pool *pool, dlock_endpoint *server, const char *prefix,
	size_t prefix_len, dlock_memcached_digest *digest);

#endif
