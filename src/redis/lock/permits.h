#ifndef DLOCK_REDIS_PERMITS_H
#define DLOCK_REDIS_PERMITS_H

#include "../../lock/backend.h"
#include "../wire/pool.h"

/* The back end for semaphores and read/write locks on Redis: a claim has permits of its resource's pool, claim->permits of them, all at once. They are granted in the
 * order in which they were asked for, handed over by a release to all first waiters that they are enough for, and taken back from holders whose
 * lease is over when somebody needs them (lua/permits_pool.lua). The master is wherever the service has it. */

/* `prefix` is put before each resource to make its pool's key. `capacity`: the permits of each pool, DLOCK_PERMITS_ALL for a read/write lock, where a reader
 * takes one and a writer all of them; `fifo`: readers and writers take turns in the order of asking, otherwise their phases alternate. With
 * service->replicas, permits survive a fail-over like locks (replicated.h). NULL when out of memory. */
dlock_backend *dlock_permits_new(dlock_pool *pool, dlock_server *service, const char *prefix, size_t prefix_len, int64_t capacity, bool fifo);

/* The permits that nobody holds now. Others may be waiting for them. */
dlock_status dlock_permits_available(dlock_backend *backend, const char *resource, size_t resource_len, int64_t *available, dlock_error *error);

#endif
