#include "backends.h"

#include "php.h"

#include "ext/hash/php_hash.h"
#include "ext/hash/php_hash_sha.h"
#include "ext/standard/md5.h"

#include "../database/backend.h"
#include "../memcached/backend.h"
#include "../memory/backend.h"
#include "../memory/stock.h"
#include "../redis/lock/service.h"
#include "../redis/stock/stocks.h"
#include "../redis/wire/pool.h"
#ifdef DLOCK_ZOOKEEPER
#include "../zookeeper/lock/backend.h"
#endif

void dlock_pools_begin(dlock_pools *pools)
{
	dlock_pool_join(&pools->redis, &pools->loop);
	dlock_net_pool_join(&pools->others, &pools->loop);
}

dlock_pools_counts dlock_pools_count(const dlock_pools *pools)
{
	dlock_pools_counts counts = { 0 };

	dlock_net_pool_count(&pools->others, &counts.connections, &counts.reconnections);
	counts.connections += dlock_pool_opened(&pools->redis);
	counts.reconnections += dlock_pool_reopened(&pools->redis);
#ifdef DLOCK_ZOOKEEPER
	counts.sessions = pools->zookeeper ? dlock_zk_pool_sessions_opened(pools->zookeeper) : 0;
#endif
	return counts;
}

void dlock_pools_drain(dlock_pools *pools, dlock_nanos deadline)
{
	dlock_pool_drain(&pools->redis, deadline);
	dlock_net_pool_drain(&pools->others, deadline);
#ifdef DLOCK_ZOOKEEPER
	if (pools->zookeeper) {
		dlock_zk_pool_drain(pools->zookeeper, deadline);
	}
#endif
}

void dlock_pools_forget_waits(dlock_pools *pools)
{
#ifdef DLOCK_ZOOKEEPER
	if (pools->zookeeper) { /* before the loop, because the sessions' threads ring its bells */
		dlock_zk_pool_forget_waits(pools->zookeeper);
	}
#endif
	dlock_loop_forget_sleepers(&pools->loop);
}

void dlock_pools_free_retired(dlock_pools *pools)
{
	dlock_pool_free_retired(&pools->redis);
}

void dlock_pools_clear(dlock_pools *pools)
{
	dlock_pool_clear(&pools->redis);
	dlock_net_pool_clear(&pools->others);
#ifdef DLOCK_ZOOKEEPER
	if (pools->zookeeper) {
		dlock_zk_pool_free(pools->zookeeper);
	}
#endif
	dlock_loop_end(&pools->loop);
}

dlock_ttl_range dlock_ttls_on(const dlock_endpoint *server)
{
	if (server->kind == DLOCK_ENDPOINT_MEMCACHED) {
		return dlock_memcached_ttls;
	}
	return dlock_endpoint_has_guard(server) ? (dlock_ttl_range) { DLOCK_TTL_MIN, server->guard, true } : DLOCK_ANY_TTL;
}

static void digest(const char *text, size_t len, char hex[64 + 1])
{
	unsigned char raw[32];
	PHP_SHA256_CTX context;

	PHP_SHA256InitArgs(&context, NULL);
	PHP_SHA256Update(&context, (const unsigned char *) text, len);
	PHP_SHA256Final(raw, &context);
	make_digest_ex(hex, raw, sizeof raw);
}

dlock_backend *dlock_backend_on(
	dlock_pools *pools, dlock_endpoint *server, const char *prefix, size_t prefix_len, bool legacy)
{
	switch (server->kind) {
	case DLOCK_ENDPOINT_MEMCACHED:
		return dlock_memcached_new(&pools->others, server, prefix, prefix_len, digest);
	case DLOCK_ENDPOINT_PGSQL:
	case DLOCK_ENDPOINT_MYSQL:
		return dlock_db_new(&pools->others, server, prefix, prefix_len);
	case DLOCK_ENDPOINT_MEMORY:
		return dlock_memory_new(server->host, prefix, prefix_len, 1, false);
	default:
		return dlock_lock_new(&pools->redis, server, prefix, prefix_len, legacy);
	}
}

dlock_backend *dlock_permits_on(
	dlock_pools *pools, dlock_endpoint *server, const char *prefix, size_t prefix_len, int64_t capacity, bool fifo)
{
	if (server->kind == DLOCK_ENDPOINT_MEMORY) {
		return dlock_memory_new(server->host, prefix, prefix_len, capacity, fifo);
	}
	return dlock_permits_new(&pools->redis, server, prefix, prefix_len, capacity, fifo);
}

dlock_stock *dlock_stock_on(dlock_pools *pools, dlock_endpoint *server, const char *prefix, size_t prefix_len)
{
	return server->kind == DLOCK_ENDPOINT_MEMORY ? dlock_memory_stock_new(server->host, prefix, prefix_len)
											   : dlock_redis_stock_new(&pools->redis, server, prefix, prefix_len);
}

#ifdef DLOCK_ZOOKEEPER
bool dlock_pools_begin_zookeeper(dlock_pools *pools)
{
	if (!pools->zookeeper) {
		pools->zookeeper = dlock_zk_pool_new(&pools->loop);
	}
	return pools->zookeeper;
}

dlock_backend *dlock_permits_on_ensemble(
	dlock_pools *pools, const dlock_zk_options *ensemble, const char *prefix, size_t prefix_len, int64_t capacity)
{
	return dlock_pools_begin_zookeeper(pools)
		? dlock_zookeeper_new(pools->zookeeper, ensemble, prefix, prefix_len, capacity)
		: NULL;
}
#endif
