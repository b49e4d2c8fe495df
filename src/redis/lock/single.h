#ifndef DLOCK_REDIS_SINGLE_H
#define DLOCK_REDIS_SINGLE_H

#include "../../lock/backend.h"
#include "../wire/pool.h"

/* The back end on one Redis server: a lock is handed over from its holder to the first waiter in the server's queue. */

/* `prefix` is put before each resource to make its key. `legacy`: shares its locks with SETNX/GETSET timestamp code
 * (docs/legacy.md). NULL when out of memory. */
dlock_backend *dlock_single_new(
	dlock_pool *pool, dlock_server *server, const char *prefix, size_t prefix_len, bool legacy);

#endif
