/* Acquisitions that are dropped, each at every one of its sleeps: nothing of them is left. Prints TAP. */

#include <stdlib.h>

#include "pair.h"
#include "permits_client.h"
#include "redis_client.h"
#include "tap.h"

enum { SERVERS = 3 };

static test_server server, servers[SERVERS];
static pair two;

/* ---- a loop whose sleep ends the run ---- */

static int sleeps; /* before the run ends */

static int sleep_or_drop(dlock_loop *loop, struct pollfd *fds, int count, dlock_nanos until, const dlock_wait *wait)
{
	(void) loop;
	return sleeps-- > 0 ? dlock_wait_poll(fds, count, until, wait) : DLOCK_WAIT_INTERRUPTED;
}

/* ---- what is dropped ---- */

static client lock_alone(void)
{
	return client_of(&server, READ_TIMEOUT);
}

static client lock_replicated(void)
{
	return pair_client(&two, GUARD_OPTION);
}

static client permits_alone(void)
{
	return permits_client(&server, 1);
}

static client lock_of_majority(void)
{
	return client_quorum(servers, SERVERS, READ_TIMEOUT);
}

/* A new client has no connection yet, so acquisitions are dropped while it connects, too. `taken`: another client holds
 * the lock, so the client queues. */
static const struct {
	const char *name;
	client (*client)(void);
	bool taken;
} cases[] = {
	{ "a lock", lock_alone, false },
	{ "a lock that is waited for", lock_alone, true },
	{ "a lock that replicas confirm", lock_replicated, false },
	{ "a lock that replicas confirm and that is waited for", lock_replicated, true },
	{ "a permit", permits_alone, false },
	{ "a permit that is waited for", permits_alone, true },
	{ "a lock of a majority", lock_of_majority, false },
	{ "a lock of a majority that is waited for", lock_of_majority, true },
};

static void let_drain(client *client)
{
	dlock_pool_loop(client->pool)->sleep = NULL;
	client_settle(client);
}

/* In ms: a lease that outlasts the test, so that a lock that is left is found; how long a client waits for a lock that
 * is taken; and how long that takes if no process stands still. */
enum { LASTING = 600000, WAIT = 60, IN_TIME = 1000 };

/* Drops an acquisition after n sleeps. True: it came that far. `good`: afterwards another client acquires the lock.
 * `in_time`: nothing stood still, so that the acquisition had the time for all its sleeps. */
static bool is_dropped(size_t number, int n, bool *good, bool *in_time)
{
	client other = cases[number].client(), c = cases[number].client();
	dlock_claim *holder = claim_on(&other, "dropped", LASTING), *claim = claim_on(&c, "dropped", LASTING);

	if (cases[number].taken && !acquires(&other, holder)) {
		*good = false;
	}
	sleeps = n;
	dlock_pool_loop(c.pool)->sleep = sleep_or_drop;
	dlock_nanos since = dlock_now();
	dlock_wait wait = { .deadline = since + (cases[number].taken ? WAIT : LONG_WAIT) * DLOCK_MS };
	dlock_status status = dlock_claim_acquire(claim, &wait, &c.error);
	*in_time = dlock_now() - since < IN_TIME * DLOCK_MS;
	dlock_claim_abandon(claim);
	dlock_claim_free(claim);
	let_drain(&c);
	if (cases[number].taken) {
		*good = release(&other, holder) == DLOCK_OK && !holder->handed_over && *good;
	}
	*good = passes(&other, "dropped", 20000) && *good;
	dlock_claim_free(holder);
	client_free(&other);
	client_free(&c);
	return status == DLOCK_INTERRUPTED;
}

int main(void)
{
	dlock_process_init();
	server_start(&server, NULL);
	for (int i = 0; i < SERVERS; i++) {
		server_start(&servers[i], NULL);
	}
	pair_start(&two);
	pair_settle(&two);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		bool good = true, in_time = false;
		int n = 0;
		for (int tries = 0; good && !in_time && tries < MOST_CALLS; tries++) {
			while (is_dropped(i, n, &good, &in_time) && good) {
				n++;
			}
		}
		check(good && n >= (cases[i].taken ? 3 : 2), "%s, dropped at each of %d sleeps: nothing of it is left",
			cases[i].name, n);
	}
	return tap_end();
}
