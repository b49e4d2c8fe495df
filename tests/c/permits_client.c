#include "permits_client.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "helpers.h"
#include "tap.h"

client permits_client_on(dlock_endpoint *service, int64_t capacity, bool fifo)
{
	client client = { calloc(1, sizeof(dlock_pool)), NULL, { "" } };

	client.backend = dlock_permits_new(client.pool, service, POOL, strlen(POOL), capacity, fifo);
	dlock_endpoint_release(service);
	return client;
}

client permits_client_at(const char *dsn, int64_t capacity, bool fifo)
{
	return permits_client_on(test_server_at(dsn), capacity, fifo);
}

client permits_client(const test_server *server, int64_t capacity)
{
	char dsn[64];

	snprintf(dsn, sizeof dsn, "redis://127.0.0.1:%d", server->port);
	return permits_client_at(dsn, capacity, false);
}

dlock_claim *permits_on(client *client, const char *resource, int64_t permits, int ttl_ms)
{
	dlock_claim *claim = claim_on(client, resource, ttl_ms);

	claim->permits = permits;
	return claim;
}

dlock_claim *permits_held(client *client, const char *resource, int64_t permits, int ttl_ms)
{
	dlock_claim *claim = permits_on(client, resource, permits, ttl_ms);

	if (acquire(client, claim, 60000) != DLOCK_OK) {
		printf("Bail out! %s: %s\n", resource, client->error.message);
		exit(2);
	}
	return claim;
}

long long held_permits(test_server *server, const char *resource)
{
	return server_integer(
		server, "EVAL %s 1 " POOL "%s", "return tonumber(redis.call('ZSCORE', KEYS[1], '$used') or '0')", resource);
}

long long waiters(test_server *server, const char *resource)
{
	return server_integer(server, "ZCOUNT " POOL "%s 1e15 +inf", resource);
}

long long tell_granted(test_server *server, const char *resource, int more, long long fencing_token)
{
	return server_integer(server, "EVAL %s 1 " POOL "%s %d %lld",
		"local waiter = string.sub(redis.call('ZRANGEBYSCORE', KEYS[1], 1e15, '+inf')[1] or 'q', 2) "
		"local sign = redis.call('ZSCORE', KEYS[1], 's' .. waiter) or 0 "
		"local id, inbox = string.match(waiter, '^%S+ %S+ (%S+) (%S+)$') "
		"return id and redis.call('PUBLISH', inbox, string.format('%s %.0f %s', id, -sign % 1000 + ARGV[1], ARGV[2])) "
		"or 0",
		resource, more, fencing_token);
}

typedef struct {
	test_server *server;
	const char *resource;
	int count;
} expected;

static bool is_waiting(void *context)
{
	const expected *expected = context;

	return waiters(expected->server, expected->resource) == expected->count;
}

bool eventually_waiting(test_server *server, const char *resource, int count)
{
	return eventually(is_waiting, &(expected) { server, resource, count });
}

/* ---- processes ---- */

takers *takers_new(void)
{
	return shared_memory(sizeof(takers));
}

static void count_out(takers *takers, int64_t permits)
{
	int64_t out = atomic_fetch_add(&takers->out, permits) + permits, most = atomic_load(&takers->most);

	while (out > most && !atomic_compare_exchange_strong(&takers->most, &most, out)) {
	}
}

static int take(takers *takers, int number, client own, const char *resource, int64_t permits, int ttl_ms, int hold_ms)
{
	dlock_claim *claim = permits_on(&own, resource, permits, ttl_ms);
	dlock_status status = acquire(&own, claim, 60000);

	while (status == DLOCK_OK && hold_ms < 0 && atomic_load(&claim->short_lease) /* a grant, which is short */
		&& extend(&own, claim, ttl_ms) == DLOCK_LOST) {
		dlock_claim_free(claim);
		claim = permits_on(&own, resource, permits, ttl_ms);
		status = acquire(&own, claim, 60000);
	}
	if (status != DLOCK_OK) {
		printf("# %d: %s\n", number, own.error.message);
		return 1;
	}
	takers->token[number] = claim->fencing_token;
	takers->received[number] = claim->received;
	takers->at[number] = dlock_now();
	count_out(takers, permits);
	takers->place[number] = atomic_fetch_add(&takers->served, 1) + 1;
	while (hold_ms < 0 && atomic_load(&takers->go) <= number) {
		sleep_ms(1);
	}
	sleep_ms(hold_ms > 0 ? hold_ms : 0);
	atomic_fetch_sub(&takers->out, permits);
	if (release(&own, claim) != DLOCK_OK) {
		printf("# %d: %s\n", number, own.error.message);
		return 2;
	}
	return 0;
}

void taker_start(takers *takers, test_server *server, client (*connect)(void), const char *resource, int64_t permits,
	int ttl_ms, int hold_ms)
{
	int number = takers->count++;
	int before = (int) waiters(server, resource), served = atomic_load(&takers->served);

	pid_t pid = fork_child();
	if (pid == 0) {
		int status = take(takers, number, connect(), resource, permits, ttl_ms, hold_ms);
		fflush(stdout);
		_exit(status);
	}
	takers->pid[number] = pid; /* not in the child, which shares this memory and would store 0 */
	for (dlock_nanos since = dlock_now(); dlock_now() - since < SOON && waiters(server, resource) <= before
			&& atomic_load(&takers->served) == served;) {
		sleep_ms(1);
	}
}

typedef struct {
	takers *takers;
	int count;
} wanted;

static bool are_served(void *context)
{
	const wanted *wanted = context;

	return atomic_load(&wanted->takers->served) >= wanted->count;
}

bool takers_served(takers *takers, int count)
{
	return eventually(are_served, &(wanted) { takers, count });
}

int takers_end(takers *takers)
{
	int bad = 0;

	atomic_store(&takers->go, MOST_TAKERS);
	for (int i = 0; i < takers->count; i++) {
		int status = exit_of(takers->pid[i]);
		if (status != 0) {
			printf("# process %d: %d\n", i, status);
			bad++;
		}
	}
	return bad;
}
