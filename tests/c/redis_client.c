#include "redis_client.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "helpers.h"

dlock_endpoint *test_server_at(const char *dsn)
{
	dlock_endpoint *server = dlock_endpoint_new(CONNECT_TIMEOUT, READ_TIMEOUT);
	dlock_error error;

	if (!dlock_endpoint_parse(server, dsn, strlen(dsn), &error) || !dlock_endpoint_seal(server, &error)) {
		printf("Bail out! %s %s\n", dsn, error.message);
		exit(2);
	}
	return server;
}

client client_at(const char *dsn)
{
	client client = { calloc(1, sizeof(dlock_pool)), NULL, { "" } };
	dlock_endpoint *server = test_server_at(dsn);

	client.backend = dlock_lock_new(client.pool, server, PREFIX, strlen(PREFIX), false);
	dlock_endpoint_release(server);
	return client;
}

static void write_dsn(char *out, size_t size, int port, dlock_nanos read_timeout)
{
	snprintf(out, size, "redis://127.0.0.1:%d?read_timeout=%.3f", port, (double) read_timeout / DLOCK_SECOND);
}

client client_of(const test_server *server, dlock_nanos read_timeout)
{
	char dsn[64];

	write_dsn(dsn, sizeof dsn, server->port, read_timeout);
	return client_at(dsn);
}

client client_guarded_at(const char *const *dsns, int count, dlock_nanos guard)
{
	client client = { calloc(1, sizeof(dlock_pool)), NULL, { "" } };
	dlock_endpoint *servers[DLOCK_MOST_SERVERS];

	for (int i = 0; i < count; i++) {
		servers[i] = test_server_at(dsns[i]);
	}
	client.backend = dlock_quorum_new(client.pool, servers, count, guard, PREFIX, strlen(PREFIX));
	for (int i = 0; i < count; i++) {
		dlock_endpoint_release(servers[i]);
	}
	return client;
}

client client_quorum_at(const char *const *dsns, int count)
{
	return client_guarded_at(dsns, count, 0);
}

client client_guarded(const test_server *servers, int count, dlock_nanos read_timeout, dlock_nanos guard)
{
	char text[DLOCK_MOST_SERVERS][64];
	const char *dsns[DLOCK_MOST_SERVERS];

	for (int i = 0; i < count; i++) {
		write_dsn(text[i], sizeof text[i], servers[i].port, read_timeout);
		dsns[i] = text[i];
	}
	return client_guarded_at(dsns, count, guard);
}

client client_quorum(const test_server *servers, int count, dlock_nanos read_timeout)
{
	return client_guarded(servers, count, read_timeout, 0);
}

const char *dsn_by_relay(relay *relay, const test_server *server, const char *options)
{
	static char dsn[64];

	relay_start(relay, server->port);
	snprintf(dsn, sizeof dsn, "redis://127.0.0.1:%d%s", relay->port, options);
	return dsn;
}

client client_guarded_by_relays(const test_server *servers, int count, relay *relays, int first, int relayed,
	const char *options, dlock_nanos guard)
{
	char text[DLOCK_MOST_SERVERS][64];
	const char *dsns[DLOCK_MOST_SERVERS];

	for (int i = 0; i < count; i++) {
		if (i >= first && i < first + relayed) {
			snprintf(text[i], sizeof text[i], "%s", dsn_by_relay(&relays[i - first], &servers[i], options));
		} else {
			snprintf(text[i], sizeof text[i], "redis://127.0.0.1:%d%s", servers[i].port, options);
		}
		dsns[i] = text[i];
	}
	return client_guarded_at(dsns, count, guard);
}

client client_by_relays(
	const test_server *servers, int count, relay *relays, int first, int relayed, const char *options)
{
	return client_guarded_by_relays(servers, count, relays, first, relayed, options, 0);
}

void client_free(client *client)
{
	dlock_backend_release(client->backend);
	dlock_pool_clear(client->pool);
	free(client->pool);
}

void conn_await(dlock_conn *conn, const dlock_call *call)
{
	while (call->state == DLOCK_CALL_PENDING && dlock_conn_busy(conn)) {
		struct pollfd fd = dlock_conn_poll(conn);
		if (dlock_wait_poll(&fd, 1, dlock_conn_timer(conn), NULL) > 0) {
			dlock_conn_advance(conn);
		}
		dlock_conn_expire(conn);
	}
}

static dlock_status discovery_step(void *task, dlock_loop *loop, dlock_nanos now)
{
	return dlock_discovery_step(task, loop, now);
}

bool closes_at_once(const dlock_pool *pool)
{
	const dlock_conn *conn = pool->first;

	while (conn && conn->state != DLOCK_CONN_CLOSED) {
		conn = conn->next;
	}
	return conn;
}

dlock_status discover_until(dlock_pool *pool, dlock_topology *topology, dlock_nanos until, dlock_error *error)
{
	dlock_discovery own = { .topology = topology, .until = until, .error = error };

	return dlock_loop_run(dlock_pool_loop(pool), discovery_step, &own, DLOCK_FOREVER, NULL);
}

void client_drain(client *client)
{
	dlock_pool_drain(client->pool, dlock_now() + 2 * DLOCK_SECOND);
}

void client_settle(client *client)
{
	dlock_pool_drain(client->pool, dlock_now() + READ_TIMEOUT);
}

void client_hurry(client *client, int ms)
{
	for (dlock_conn *conn = client->pool->first; conn; conn = conn->next) {
		conn->timeout_cap = ms > 0 ? ms * DLOCK_MS : DLOCK_FOREVER;
	}
}

dlock_conn *client_conn(const client *client, int n)
{
	int count = 0;
	dlock_conn *conn;

	for (conn = client->pool->first; conn; conn = conn->next) {
		count++;
	}
	conn = client->pool->first; /* the newest first */
	for (int i = count - 1; i > n; i--) {
		conn = conn->next;
	}
	return conn;
}

dlock_claim *claim_on(client *client, const char *resource, int ttl_ms)
{
	return dlock_claim_new(client->backend, resource, strlen(resource), ttl_ms * DLOCK_MS, NULL, &client->error);
}

dlock_status acquire(client *client, dlock_claim *claim, int timeout_ms)
{
	dlock_wait wait = { .deadline = timeout_ms < 0 ? DLOCK_FOREVER : dlock_now() + timeout_ms * DLOCK_MS };

	client->error.message[0] = '\0';
	return dlock_claim_acquire(claim, &wait, &client->error);
}

dlock_status release(client *client, dlock_claim *claim)
{
	client->error.message[0] = '\0';
	return dlock_claim_release(claim, &client->error);
}

dlock_status extend(client *client, dlock_claim *claim, int ttl_ms)
{
	client->error.message[0] = '\0';
	return dlock_claim_extend(claim, ttl_ms * DLOCK_MS, &client->error);
}

bool let_go(client *client, dlock_claim *claim)
{
	bool good = release(client, claim) == DLOCK_OK;

	dlock_claim_free(claim);
	return good;
}

bool passes(client *client, const char *resource, int timeout_ms)
{
	dlock_claim *claim = claim_on(client, resource, 60000);
	bool acquired = acquire(client, claim, timeout_ms) == DLOCK_OK;

	return let_go(client, claim) && acquired;
}

bool warm(client *client)
{
	dlock_claim *claim = claim_on(client, "warm", 10000);

	return acquire(client, claim, 0) == DLOCK_OK && extend(client, claim, 10000) == DLOCK_OK
		&& dlock_claim_check(claim, &client->error) == DLOCK_OK && let_go(client, claim);
}

long left_ms(dlock_claim *claim)
{
	dlock_nanos left;

	dlock_claim_refresh(claim, &left);
	return (long) (left / DLOCK_MS);
}

bool explains(const client *client, const char *label, const char *word)
{
	const char *message = client->error.message;
	bool good = strstr(message, label) && strstr(message, word) && !strstr(message, SECRET);

	if (!good) {
		printf("# no \"%s\" and \"%s\" in: %s\n", label, word, message);
	}
	return good;
}

bool has(test_server *server, const dlock_claim *claim)
{
	return !strcmp(server_text(server, "GET " PREFIX "%b", claim->resource, claim->resource_len), claim->token);
}

typedef struct {
	test_server *server;
	const char *resource;
} place;

static bool is_free(void *context)
{
	place *place = context;

	return server_integer(place->server, "EXISTS " PREFIX "%s", place->resource) == 0;
}

bool has_nobody(test_server *server, const char *resource)
{
	return is_free(&(place) { server, resource });
}

bool eventually_nobody(test_server *server, const char *resource)
{
	return eventually(is_free, &(place) { server, resource });
}

static bool is_fenced(void *context)
{
	return server_integer(context, "EXISTS " DLOCK_FENCE_KEY) == 1;
}

bool eventually_fenced(test_server *server)
{
	return eventually(is_fenced, server);
}

void keep_waiters(test_server *server, const char *key)
{
	/* A sign of life is a number below -1e15: minus its time in us. The names of signs begin with "s". */
	static const char script[]
		= "local now = redis.call('TIME')[1] * 1000000\n"
		  "for _, name in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1], -now - 1e8, -1e15)) do\n"
		  "  if string.sub(name, 1, 1) == 's' then redis.call('ZINCRBY', KEYS[1], -600000000, name) end\n"
		  "end";

	server_do(server, "EVAL %s 1 %s", script, key);
}

static void write_epoch(test_server *master, int guard, int replicas, const char *seen)
{
	char epoch[160], id[41];
	const char *line = strstr(server_text(master, "INFO replication"), "master_replid:");

	snprintf(id, sizeof id, "%s", line ? line + strlen("master_replid:") : "");
	snprintf(epoch, sizeof epoch, "%s %d -1 %d %lld %lld %s", id, guard, guard,
		server_info(master, "stats", "sync_full"), server_info(master, "stats", "sync_partial_ok"), seen);
	server_do(master, "SET " DLOCK_EPOCH_KEY " %s", epoch);
	server_integer(master, "WAIT %d 1000", replicas);
}

void settle_epoch(test_server *master, int guard, int replicas)
{
	write_epoch(master, guard, replicas, "  ");
}

void settle_known_epoch(test_server *master, int guard, int replicas, int skew)
{
	long long offset = server_info(master, "replication", "master_repl_offset");
	char seen[64];

	snprintf(seen, sizeof seen, "%lld %lld %d", offset, offset, skew);
	write_epoch(master, guard, replicas, seen);
}

bool end_guard_in(test_server *master, int ms)
{
	/* The third field is when it settles. A zero in front: the opening is not replicated yet. */
	static const char script[]
		= "local id, guard, rest = string.match(redis.call('GET', KEYS[1]) or '', '^(%x+) (%d+) [1-9]%d* (.*)$')\n"
		  "local now = redis.call('TIME')[1] * 1000\n"
		  "return id and redis.call('SET', KEYS[1], table.concat({id, guard, now + ARGV[1], rest}, ' '))";

	return !strcmp(server_text(master, "EVAL %s 1 " DLOCK_EPOCH_KEY " %d", script, ms), "OK");
}

bool end_guard(test_server *master)
{
	return end_guard_in(master, 0);
}
