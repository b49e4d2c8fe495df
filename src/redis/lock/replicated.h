#ifndef DLOCK_REDIS_REPLICATED_H
#define DLOCK_REDIS_REPLICATED_H

#include "../../lock/backend.h"
#include "../wire/pool.h"

/* The back end on Redis servers that replicate to others and fail over to them: a master behind Sentinels, the masters
 * of a cluster, or one with a stable address. With server->replicas a lock survives a fail-over with one holder
 * (docs/fail-over.md, tests/models/failover.pml); without, the locks are those of single.h, wherever the master is.
 *
 * `prefix` is put before each resource to make its key. NULL when out of memory. */
dlock_backend *dlock_replicated_new(dlock_pool *pool, dlock_server *service, const char *prefix, size_t prefix_len);

#endif
