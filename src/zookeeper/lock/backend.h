#ifndef DLOCK_ZOOKEEPER_BACKEND_H
#define DLOCK_ZOOKEEPER_BACKEND_H

#include "../../lock/backend.h"
#include "../session/options.h"
#include "../session/pool.h"

/* The back end on ZooKeeper, for locks and for permits. backend.c has the recipe. */

/* Locks on an ensemble; with a capacity, semaphores of that many permits; with DLOCK_PERMITS_ALL, readers, whose claims
 * are for one permit, and writers, who ask for all of them. A resource's node is root/<prefix and resource, encoded>.
 * NULL when out of memory. Nothing is connected before the first use.
 *
 * A connection, and a response over it, is waited for as long as the session timeout at most, and for that long even
 * where the wait's deadline is earlier or past. */
dlock_backend *dlock_zookeeper_new(
	dlock_zk_pool *pool, const dlock_zk_options *options, const char *prefix, size_t prefix_len, int64_t capacity);

#endif
