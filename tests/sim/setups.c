/* The servers of each set-up, and how a client reaches them: by its own connections, through the back end that a
 * manager object would have. */
#include "run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "memcached.h"

#include "memcached/backend.h"
#include "redis/redlock/quorum.h"
#include "redis/lock/service.h"

const char *const setups[SETUPS] = { [SINGLE] = "single", [REPLICATED] = "replicated", [QUORUM] = "quorum",
	[CLUSTER] = "cluster", [MEMCACHED] = "memcached" };
server *redis[REDIS], *sentinels[3];
static memcached *cache;

/* ---- servers ---- */

void servers_begin(void)
{
	if (options.setup == MEMCACHED) {
		cache = memcached_new(1, 11211, run_seed(&options));
		return;
	}
	for (int i = 0; i < options.servers; i++) {
		redis[i] = redis_new(i, i + 1, 6379, run_seed(&options));
	}
	if (options.setup == REPLICATED) {
		sentinels_begin();
	}
	for (int i = 0; options.setup == CLUSTER && i < options.servers; i++) {
		redis_join_cluster(redis[i]);
	}
}

bool server_holder(int number, const char *key, char *token, size_t size, nanos *left)
{
	return cache ? memcached_holder(cache, key, token, size, left)
				 : redis_holder(redis[number], key, token, size, left);
}

int server_leftovers(int number, char *out, size_t size)
{
	return cache ? memcached_leftovers(cache, out, size) : redis_leftovers(redis[number], out, size);
}

bool server_counts(int number)
{
	return cache || (redis_is_alive(redis[number]) && !redis_master_of(redis[number]));
}

bool server_is_stopped(int number)
{
	return !cache && redis_is_paused(redis[number]);
}

void server_delete_key(int number, const char *key)
{
	if (cache) {
		memcached_delete_key(cache, key);
	} else if (server_counts(number)) {
		redis_delete_key(redis[number], key);
	}
}

void server_pause(int number, nanos until)
{
	if (cache) {
		memcached_pause(cache, until);
	} else {
		redis_pause(redis[number], until);
	}
}

bool setup_fails_over(void)
{
	return options.setup == REPLICATED || options.setup == CLUSTER;
}

static dlock_endpoint *server_of(const char *dsn)
{
	dlock_error error;

	for (;;) {
		unsigned long failed = failed_calls();
		dlock_endpoint *s = dlock_endpoint_new(SECOND, SECOND);
		if (s && dlock_endpoint_parse(s, dsn, strlen(dsn), &error)) {
			s->guard = s->replicas > 0 && s->guard == 0 ? options.guard_ms * MS : s->guard;
			if (dlock_endpoint_seal(s, &error)) {
				return s;
			}
		}
		if (s) {
			dlock_endpoint_release(s);
		}
		try_again(failed, dsn);
	}
}

static dlock_endpoint *server_at(int number)
{
	char dsn[64];

	snprintf(dsn, sizeof dsn, "redis://10.0.0.%d:6379", number + 1);
	return server_of(dsn);
}

dlock_endpoint *service_of_setup(int replicas)
{
	char dsn[120];

	if (options.setup == CLUSTER) {
		snprintf(
			dsn, sizeof dsn, "cluster://10.0.0.1:6379,10.0.0.2:6379,10.0.0.3:6379,10.0.0.4:6379?replicas=%d", replicas);
	} else if (options.setup == REPLICATED) {
		snprintf(dsn, sizeof dsn,
			"sentinel://10.0.0.11:26379,10.0.0.12:26379,10.0.0.13:26379/" SENTINEL_SERVICE "?replicas=%d", replicas);
	} else {
		return server_at(0);
	}
	return server_of(dsn);
}

/* ---- clients ---- */

struct connections {
	dlock_pool redis;
	dlock_net_pool memcached;
};

connections *connections_new(void)
{
	return calloc(1, sizeof(connections));
}

void connections_drain(connections *own)
{
	dlock_pool_drain(&own->redis, dlock_now() + SECOND);
	dlock_net_pool_drain(&own->memcached, dlock_now() + SECOND);
}

void connections_end(connections *own)
{
	connections_drain(own);
	dlock_pool_clear(&own->redis);
	dlock_net_pool_clear(&own->memcached);
	free(own);
}

dlock_pool *redis_pool(connections *own)
{
	return &own->redis;
}

static dlock_backend *quorum_backend(connections *own)
{
	dlock_endpoint *all[REDIS];

	for (int i = 0; i < options.servers; i++) {
		all[i] = server_at(i);
	}
	return dlock_quorum_new(&own->redis, all, options.servers, options.guard_ms * MS, LOCK_PREFIX, strlen(LOCK_PREFIX));
}

/* No name here is long enough for a digest. */
static void no_digest(const char *text, size_t len, char hex[64 + 1])
{
	(void) hex;
	violation("a digest of %.*s is wanted", (int) len, text);
}

static dlock_backend *try_lock_backend(connections *own)
{
	switch (options.setup) {
	case QUORUM:
		return quorum_backend(own);
	case REPLICATED:
	case CLUSTER:
		return dlock_lock_new(&own->redis, service_of_setup(1), LOCK_PREFIX, strlen(LOCK_PREFIX), false);
	case MEMCACHED:
		return dlock_memcached_new(
			&own->memcached, server_of("memcached://10.0.0.1:11211"), LOCK_PREFIX, strlen(LOCK_PREFIX), no_digest);
	default:
		return dlock_lock_new(&own->redis, service_of_setup(1), LOCK_PREFIX, strlen(LOCK_PREFIX), false);
	}
}

dlock_backend *lock_backend(connections *own)
{
	for (;;) {
		unsigned long failed = failed_calls();
		dlock_backend *backend = try_lock_backend(own);
		if (backend) {
			return backend;
		}
		try_again(failed, "a back end");
	}
}
