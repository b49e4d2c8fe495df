#include "pair.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../src/redis/lock/service.h"
#include "helpers.h"

const char *const pair_options[] = { "--repl-diskless-sync-delay", "0", "--repl-ping-replica-period", "1", NULL };

static bool has_replica(void *context)
{
	pair *pair = context;
	const char *line = strstr(server_text(pair->master, "INFO replication"), "slave0:");

	return line && strstr(line, "state=online")
		&& strstr(server_text(pair->replica, "INFO replication"), "master_link_status:up")
		&& server_do(pair->master, "SET step 1 PX 1") && server_integer(pair->master, "WAIT 1 100") == 1;
}

bool pair_is_in_step(pair *pair)
{
	bool good = eventually(has_replica, pair);

	if (!good) {
		printf("# the replica is not in step\n");
	}
	return good;
}

static void follow(test_server *replica, const test_server *master)
{
	server_do(replica, "REPLICAOF 127.0.0.1 %d", master->port);
}

void pair_start(pair *pair)
{
	for (int i = 0; i < 2; i++) {
		server_start(&pair->servers[i], pair_options);
	}
	pair->master = &pair->servers[0];
	pair->replica = &pair->servers[1];
	relay_start(&pair->endpoint, pair->master->port);
	follow(pair->replica, pair->master);
	pair_is_in_step(pair);
}

void pair_reset(pair *pair)
{
	server_reset(pair->master);
	atomic_store(&pair->endpoint.delay_ms, 0);
	pair_is_in_step(pair);
}

void pair_settle(pair *pair)
{
	settle_epoch(pair->master, GUARD, 1);
	pair_is_in_step(pair);
}

void pair_fail_over(pair *pair)
{
	test_server *master = pair->replica;

	server_do(master, "REPLICAOF NO ONE");
	pair->replica = pair->master;
	pair->master = master;
	atomic_store(&pair->endpoint.server_port, master->port);
	atomic_store(&pair->endpoint.cut, 1);
	if (pair->replica->pid) {
		follow(pair->replica, master);
		pair_is_in_step(pair);
	}
}

client client_replicated_at(const char *dsn)
{
	client client = { calloc(1, sizeof(dlock_pool)), NULL, { "" } };
	dlock_endpoint *service = test_server_at(dsn);

	client.backend = dlock_lock_new(client.pool, service, PREFIX, strlen(PREFIX), false);
	dlock_endpoint_release(service);
	return client;
}

client pair_client(pair *pair, const char *more)
{
	char dsn[160];

	snprintf(dsn, sizeof dsn, "redis://127.0.0.1:%d?replicas=1&%s", pair->endpoint.port, more);
	return client_replicated_at(dsn);
}

bool may_be_held_up(dlock_status status, dlock_nanos since)
{
	return status == DLOCK_CONNECTION && dlock_now() - since > 900 * DLOCK_MS;
}

bool acquires(client *client, dlock_claim *claim)
{
	dlock_status status = acquire(client, claim, LONG_WAIT);

	if (status != DLOCK_OK) {
		printf("# %s: %d %s\n", claim->resource, status, client->error.message);
	}
	return status == DLOCK_OK;
}

dlock_status extend_again(client *client, dlock_claim *claim, int ttl_ms)
{
	dlock_status status;
	dlock_nanos since;
	int calls = 0;

	do {
		since = dlock_now();
		status = extend(client, claim, ttl_ms);
	} while (may_be_held_up(status, since) && ++calls < MOST_CALLS);
	return status;
}

dlock_status attach_again(client *client, dlock_claim **claim, const char *token)
{
	dlock_claim *own = *claim;
	dlock_status status;
	dlock_nanos since;
	int calls = 0;

	do {
		*claim = dlock_claim_new(client->backend, own->resource, own->resource_len, own->ttl, NULL, &client->error);
		(*claim)->permits = own->permits;
		dlock_claim_free(own);
		own = *claim;
		client_settle(client); /* the call before has had the lease rolled back */
		since = dlock_now();
		status = dlock_claim_attach(own, token, &client->error);
	} while (may_be_held_up(status, since) && ++calls < MOST_CALLS);
	return status;
}

bool is_refused(client *client, const char *resource)
{
	dlock_status status;
	dlock_nanos since;
	bool good;
	int calls = 0;

	do {
		dlock_claim *claim = claim_on(client, resource, LEASE);
		since = dlock_now();
		status = acquire(client, claim, 0);
		good = status == DLOCK_TIMEOUT && claim->explained
			&& strstr(client->error.message, "no lock is granted for another");
		if (status == DLOCK_OK) {
			release(client, claim);
		}
		dlock_claim_free(claim);
	} while (may_be_held_up(status, since) && ++calls < MOST_CALLS);
	if (!good) {
		printf("# %s: %d %s\n", resource, status, client->error.message);
	}
	return good;
}

void keep_lock_waiters(test_server *master, const char *key)
{
	/* The entry of a waiter begins with the time of its sign, in us. */
	static const char script[]
		= "local now = redis.call('TIME')[1] * 1000000\n"
		  "for _, name in ipairs(redis.call('HKEYS', KEYS[1])) do\n"
		  "  local rest = string.match(redis.call('HGET', KEYS[1], name), '^%d+(.*)$')\n"
		  "  redis.call('HSET', KEYS[1], name, string.format('%.0f', now + 600000000) .. rest)\n"
		  "end";

	server_do(master, "EVAL %s 1 %s", script, key);
}

long long server_now_ms(test_server *server)
{
	return server_integer(server, "EVAL %s 0",
		"local now = redis.call('TIME') return now[1] * 1000 + math.floor(now[2] / 1000)");
}

long long guard_end_ms(test_server *master)
{
	char settles[32] = "";

	sscanf(server_text(master, "GET " DLOCK_EPOCH_KEY), "%*s %*s %31s", settles);
	return *settles == '0' || *settles == '-' ? 0 : atoll(settles);
}

bool waits_for_guard(client *client, test_server *master, const char *resource, long long since, int guard)
{
	bool refused = is_refused(client, resource);
	long long left = guard_end_ms(master) - since;

	printf("# the guard ends %lld ms after the change\n", left);
	return refused && left >= guard && end_guard(master) && passes(client, resource, LONG_WAIT);
}

/* A client waits so long for the answers of the nodes, and asks them again so long after it began to. */
enum { SURVEY_MS = 500 };

bool passes_at_once(client *client, test_server *master, const char *resource)
{
	for (int i = 0; i < 5 * MOST_CALLS; i++) {
		dlock_nanos since = dlock_now();
		end_guard_in(master, GUARD);
		if (passes(client, resource, 0)) {
			return true;
		}
		printf("# %s: %s\n", resource, client->error.message);
		if (dlock_now() - since < SURVEY_MS * DLOCK_MS * 8 / 10) {
			return false; /* nothing stood still */
		}
		sleep_ms(SURVEY_MS);
	}
	return false;
}
