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

/* The list of back ends: what a process (under ZTS, a thread) keeps of each across requests, and which back end serves
 * which server. A new back end needs a folder in src/, a scheme in net/endpoint/parse.c, and its lines in
 * backends.c. */
typedef struct {
	dlock_loop loop; /* sleeps for all pools below */
	dlock_pool redis;
	dlock_net_pool others; /* memcached and databases */
#ifdef DLOCK_ZOOKEEPER
	dlock_zk_pool *zookeeper; /* NULL until the first use */
#endif
} dlock_pools;

/* How many were opened so far, without those of the renewal thread. */
typedef struct {
	unsigned long connections, reconnections, sessions;
} dlock_pools_counts;

/* Initializes zeroed pools. They must not move afterwards, because they point to their loop. */
void dlock_pools_begin(dlock_pools *pools);

dlock_pools_counts dlock_pools_count(const dlock_pools *pools);

/* Waits for the requests that are under way, until `deadline` at the latest. */
void dlock_pools_drain(dlock_pools *pools, dlock_nanos deadline);

/* At the request's end: strands that still wait never resume. */
void dlock_pools_forget_waits(dlock_pools *pools);

/* Frees connections that were closed because they were not used. No call may be under way. */
void dlock_pools_free_retired(dlock_pools *pools);

/* Closes all connections and sessions, and frees them. No back end may be left. */
void dlock_pools_clear(dlock_pools *pools);

/* The range of lease times on this server: at most its guard, if it has one. The guard must be set before
 * (dlock_endpoint_complete()). */
dlock_ttl_range dlock_ttls_on(const dlock_endpoint *server);

/* The back end of locks on one server. `legacy`: it shares its locks with code that stores timestamps by SETNX and
 * GETSET. NULL when out of memory. */
dlock_backend *dlock_backend_on(
	dlock_pools *pools, dlock_endpoint *server, const char *prefix, size_t prefix_len, bool legacy);

/* The back end of permits on one server: `capacity` permits of each resource. `fifo`: a writer, which wants all of
 * them, is served in the order of arrival. NULL when out of memory. */
dlock_backend *dlock_permits_on(
	dlock_pools *pools, dlock_endpoint *server, const char *prefix, size_t prefix_len, int64_t capacity, bool fifo);

/* The stocks on one server, which is Redis or memory://. NULL when out of memory. */
dlock_stock *dlock_stock_on(dlock_pools *pools, dlock_endpoint *server, const char *prefix, size_t prefix_len);

#ifdef DLOCK_ZOOKEEPER
/* Makes the pool of sessions, if there is none yet. False when out of memory. */
bool dlock_pools_begin_zookeeper(dlock_pools *pools);

/* The back end of permits on ZooKeeper, which serves all waiters in the order of arrival. NULL when out of memory. */
dlock_backend *dlock_permits_on_ensemble(
	dlock_pools *pools, const dlock_zk_options *ensemble, const char *prefix, size_t prefix_len, int64_t capacity);
#endif

#endif
