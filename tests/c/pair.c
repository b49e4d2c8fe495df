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

long first_lock_ms(client *client, const char *resource, dlock_nanos since)
{
	dlock_claim *claim = claim_on(client, resource, LEASE);
	dlock_status status = acquire(client, claim, 5000);
	long took = (long) ((dlock_now() - since) / DLOCK_MS);

	if (status != DLOCK_OK) {
		printf("# %s: %d %s\n", resource, status, client->error.message);
	}
	bool good = let_go(client, claim);
	return status == DLOCK_OK && good ? took : -1;
}

bool is_refused(client *client, const char *resource)
{
	dlock_claim *claim = claim_on(client, resource, LEASE);
	dlock_status status = acquire(client, claim, 0);
	bool good = status == DLOCK_TIMEOUT && claim->explained
		&& strstr(client->error.message, "no lock is granted for another");

	if (!good) {
		printf("# %s: %d %s\n", resource, status, client->error.message);
	}
	if (status == DLOCK_OK) {
		release(client, claim);
	}
	dlock_claim_free(claim);
	return good;
}
