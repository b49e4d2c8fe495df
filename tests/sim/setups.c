/* The servers of each set-up, and how a client reaches them: by its own connections, through the back end that a manager object would have. */
#include "run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "redis/quorum.h"
#include "redis/replicated.h"
#include "redis/single.h"

const char *const setups[SETUPS] = { [SINGLE] = "single", [REPLICATED] = "replicated", [QUORUM] = "quorum",
	[CLUSTER] = "cluster" };
server *redis[REDIS], *sentinels[3];

/* ---- servers ---- */

void servers_begin(void)
{
	for (int i = 0; i < options.servers; i++) {
		redis[i] = redis_new(i, i + 1, 6379, options.seed);
	}
	if (options.setup == REPLICATED) {
		sentinels_begin();
	}
	for (int i = 0; options.setup == CLUSTER && i < options.servers; i++) {
		redis_join_cluster(redis[i]);
	}
}

bool setup_fails_over(void)
{
	return options.setup == REPLICATED || options.setup == CLUSTER;
}

static dlock_server *server_of(const char *dsn)
{
	dlock_server *s = dlock_server_new(SECOND, SECOND);
	dlock_error error;

	if (dlock_server_parse(s, dsn, strlen(dsn), &error)) {
		s->guard = s->replicas > 0 && s->guard == 0 ? options.guard_ms * MS : s->guard;
		if (dlock_server_seal(s, &error)) {
			return s;
		}
	}
	fprintf(stderr, "%s: %s\n", dsn, error.message);
	exit(2);
}

static dlock_server *server_at(int number)
{
	char dsn[64];

	snprintf(dsn, sizeof dsn, "redis://10.0.0.%d:6379", number + 1);
	return server_of(dsn);
}

dlock_server *service_of_setup(int replicas)
{
	char dsn[120];

	if (options.setup == CLUSTER) {
		snprintf(dsn, sizeof dsn, "cluster://10.0.0.1:6379,10.0.0.2:6379,10.0.0.3:6379,10.0.0.4:6379?replicas=%d", replicas);
	} else if (options.setup == REPLICATED) {
		snprintf(dsn, sizeof dsn, "sentinel://10.0.0.11:26379,10.0.0.12:26379,10.0.0.13:26379/mymaster?replicas=%d", replicas);
	} else {
		return server_at(0);
	}
	return server_of(dsn);
}

/* ---- clients ---- */

struct connections {
	dlock_pool redis;
};

connections *connections_new(void)
{
	return calloc(1, sizeof(connections));
}

void connections_end(connections *own)
{
	dlock_pool_drain(&own->redis, dlock_now() + SECOND);
	dlock_pool_clear(&own->redis);
	free(own);
}

dlock_pool *redis_pool(connections *own)
{
	return &own->redis;
}

static dlock_backend *quorum_backend(connections *own)
{
	dlock_server *all[REDIS];

	for (int i = 0; i < options.servers; i++) {
		all[i] = server_at(i);
	}
	return dlock_quorum_new(&own->redis, all, options.servers, options.guard_ms * MS, LOCK_PREFIX, strlen(LOCK_PREFIX));
}

dlock_backend *lock_backend(connections *own)
{
	switch (options.setup) {
	case QUORUM:
		return quorum_backend(own);
	case REPLICATED:
	case CLUSTER:
		return dlock_replicated_new(&own->redis, service_of_setup(1), LOCK_PREFIX, strlen(LOCK_PREFIX));
	default:
		return dlock_single_new(&own->redis, service_of_setup(1), LOCK_PREFIX, strlen(LOCK_PREFIX), false);
	}
}
