#ifndef DLOCK_ZOOKEEPER_BACKEND_H
#define DLOCK_ZOOKEEPER_BACKEND_H

#include "../../lock/backend.h"
#include "../session/options.h"
#include "../session/pool.h"

/* The back end on ZooKeeper, for locks and for permits. backend.c has the recipe. */

/* Makes a back end for an ensemble. `capacity` 0: locks. Less than DLOCK_PERMITS_ALL: semaphores of that many permits.
 * DLOCK_PERMITS_ALL: read/write locks. A reader's claim then asks for one permit, a writer's for all of them.
 *
 * A resource's node is root/<prefix and resource, encoded>. The back end copies the options and the prefix, and
 * connects on first use. Returns NULL if out of memory.
 *
 * The back end waits for a connection, and for a response over it, for at most the session timeout. It may wait that
 * long even if the wait's deadline is earlier or past. */
dlock_backend *dlock_zookeeper_new(
	dlock_zk_pool *pool, const dlock_zk_options *options, const char *prefix, size_t prefix_len, int64_t capacity);

#endif
