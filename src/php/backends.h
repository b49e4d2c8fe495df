#ifndef DLOCK_PHP_BACKENDS_H
#define DLOCK_PHP_BACKENDS_H

#include "../lock/backend.h"
#include "../net/pool.h"
#include "../redis/wire/pool.h"
#include "../stock/stock.h"
#ifdef DLOCK_ZOOKEEPER
#include "../zookeeper/session/options.h"
#include "../zookeeper/session/pool.h"
#endif

/* The list of back ends: what a process, or under ZTS a thread, keeps of each over requests, and which one a server
 * has. A new back end is a folder of src/, a scheme in net/endpoint/parse.c, and its lines in backends.c. */
typedef struct {
	dlock_loop loop; /* of all of these */
	dlock_pool redis;
	dlock_net_pool others; /* memcached and databases */
#ifdef DLOCK_ZOOKEEPER
	dlock_zk_pool *zookeeper; /* NULL: not used yet */
#endif
} dlock_pools;

/* What was opened so far, without what renews leases. */
typedef struct {
	unsigned long connections, reconnections, sessions;
} dlock_pools_counts;

/* Of zeroed pools, which stay where they are. */
void dlock_pools_begin(dlock_pools *pools);

dlock_pools_counts dlock_pools_count(const dlock_pools *pools);

/* Finishes what is under way, until `deadline`. */
void dlock_pools_drain(dlock_pools *pools, dlock_nanos deadline);

/* The request ends: no waiting strand goes on. */
void dlock_pools_forget_waits(dlock_pools *pools);

/* Frees connections that were closed for want of use. No call may be under way. */
void dlock_pools_free_retired(dlock_pools *pools);

void dlock_pools_clear(dlock_pools *pools);

/* The lease times that leases on such a server can have: not longer than its guard, which is set. */
dlock_ttl_range dlock_ttls_on(const dlock_endpoint *server);

/* The back end on one server. `legacy`: shares its locks with SETNX/GETSET timestamp code. NULL when out of memory. */
dlock_backend *dlock_backend_on(
	dlock_pools *pools, dlock_endpoint *server, const char *prefix, size_t prefix_len, bool legacy);

/* The one that has `capacity` permits of each resource; `fifo`: a writer, who wants all of them, is served in turn.
 * NULL when out of memory. */
dlock_backend *dlock_permits_on(
	dlock_pools *pools, dlock_endpoint *server, const char *prefix, size_t prefix_len, int64_t capacity, bool fifo);

/* The stocks on one server, which is Redis or memory. NULL when out of memory. */
dlock_stock *dlock_stock_on(dlock_pools *pools, dlock_endpoint *server, const char *prefix, size_t prefix_len);

#ifdef DLOCK_ZOOKEEPER
/* Makes the pool of sessions, where there is none yet. False: out of memory. */
bool dlock_pools_begin_zookeeper(dlock_pools *pools);

/* The same on ZooKeeper, where everyone is served in turn. */
dlock_backend *dlock_permits_on_ensemble(
	dlock_pools *pools, const dlock_zk_options *ensemble, const char *prefix, size_t prefix_len, int64_t capacity);
#endif

#endif
