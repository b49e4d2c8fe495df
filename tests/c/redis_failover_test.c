/* Locks behind Sentinels while the master is replaced. Prints TAP. */

#include <stdlib.h>
#include <unistd.h>

#include "../../src/redis/lock/service.h"
#include "fleet.h"
#include "helpers.h"
#include "pair.h"
#include "tap.h"
#include "upkeep.h"

/* Longer than a failover, and longer than the other replica needs to follow the new master: Sentinels may redirect it
 * more than ten seconds later. */
enum { LONG_GUARD = 30000, LONG_LEASE = 30000, IN_TIME = 120000 };

static fleet set;

static void begin(void)
{
	fleet_start(&set, SECRET, NULL);
}

static client client_with(int replicas)
{
	client client = { calloc(1, sizeof(dlock_pool)), NULL, { "" } };
	dlock_endpoint *service = fleet_service(&set, "mymaster", replicas);

	service->guard = LONG_GUARD * DLOCK_MS;
	client.backend = dlock_lock_new(client.pool, service, PREFIX, strlen(PREFIX), false);
	dlock_endpoint_release(service);
	return client;
}

static void settle(test_server *master)
{
	settle_epoch(master, LONG_GUARD, 2);
}

typedef struct {
	_Atomic int got;
	int status;
	int64_t token;
} result;

static result *shared;

static pid_t wait_for(const char *resource)
{
	pid_t pid = fork_child();

	if (pid == 0) {
		client own = client_with(1);
		dlock_claim *claim = claim_on(&own, resource, LONG_LEASE);
		shared->status = acquire(&own, claim, IN_TIME);
		shared->token = claim->fencing_token;
		if (shared->status != DLOCK_OK) {
			printf("# %s\n", own.error.message);
		}
		_exit(release(&own, claim));
	}
	return pid;
}

static bool is_kept(void *context)
{
	const dlock_claim *claim = context;

	return has(fleet_master(&set), claim)
		&& server_integer(fleet_master(&set), "PTTL Lock:%b", claim->resource, claim->resource_len)
		> LONG_LEASE * 6 / 10;
}

static bool is_waiting(void *resource)
{
	return server_integer(fleet_master(&set), "ZCARD dlock:queue:{Lock:%s}", (const char *) resource) == 1;
}

/* Three locks: one is held and renewed, a waiter waits for one whose holder is gone, and one is acquired after the
 * failover. `replace` replaces the master. */
static void check_fail_over(void (*replace)(void))
{
	client c = client_with(1);
	ward ward;

	shared = shared_memory(sizeof *shared);
	settle(fleet_master(&set));
	ward_begin(&ward, &c, "held", LONG_LEASE, 0, RENEW_AND_TELL(&ward));
	dlock_claim *gone = claim_on(&c, "gone", LONG_LEASE), *third = claim_on(&c, "third", LONG_LEASE);
	check(acquire(&c, gone, 0) == DLOCK_OK, "another lock is held %s", c.error.message);
	int64_t token = gone->fencing_token;
	pid_t pid = wait_for("gone");
	check(eventually(is_waiting, "gone"), "a waiter waits for it");
	dlock_claim_free(gone);
	dlock_nanos start = dlock_now();
	replace();
	dlock_nanos replaced = dlock_now();
	check(acquire(&c, third, IN_TIME) == DLOCK_OK, "the new master grants a lock (%s)", c.error.message);
	long took = (long) ((dlock_now() - start) / DLOCK_MS), since = (long) ((dlock_now() - replaced) / DLOCK_MS);
	check(took >= LONG_GUARD, "it is granted after the guard (%ld ms, %ld ms)", took, since);
	check(third->fencing_token > token, "its token is larger");
	check(eventually(is_kept, ward.claim), "the held lock is renewed on the new master");
	check(look(ward.claim) == DLOCK_CLAIM_HELD && ward.losses == 0, "its holder keeps it");
	check(exit_of(pid) == DLOCK_OK && shared->token > token, "the waiter acquires the other lock (%d)", shared->status);
	check(let_go(&c, ward.claim) && has_nobody(fleet_master(&set), "held"), "released %s", c.error.message);
	check(let_go(&c, third), "released %s", c.error.message);
	client_free(&c);
}

/* The renewal thread has not looked for the master of this service before. */
static void test_first_renewal(void)
{
	client c = client_with(1);
	ward ward;
	unsigned long failures = dlock_renewal_count().failures, before = renewals();

	settle(fleet_master(&set));
	ward_begin(&ward, &c, "held", 6000, 0, RENEW_AND_TELL(&ward));
	check(renewed_since(before, 1) && look(ward.claim) == DLOCK_CLAIM_HELD, "renewed");
	check(dlock_renewal_count().failures == failures, "the first renewal does not fail");
	check(let_go(&c, ward.claim), "released");
	client_free(&c);
}

static void promote(void)
{
	check(fleet_promote(&set), "SENTINEL FAILOVER");
}

static void test_promotion(void)
{
	check_fail_over(promote);
}

static void kill_master(void)
{
	test_server *master = fleet_master(&set);

	server_kill(master);
	check(fleet_wait_for_another(&set, master), "the killed master is replaced");
}

static void test_killed(void)
{
	check_fail_over(kill_master);
	check(fleet_heal(&set), "healed");
}

/* Without replicas the lock is a plain one, whichever server is the master. */
static void test_plain(void)
{
	client c = client_with(0);
	char epoch[128];

	check(warm(&c), "a plain lock %s", c.error.message);
	check(fleet_promote(&set), "SENTINEL FAILOVER");
	snprintf(epoch, sizeof epoch, "%s", server_text(fleet_master(&set), "GET " DLOCK_EPOCH_KEY));
	dlock_nanos start = dlock_now();
	check(passes(&c, "plain", 4000), "the new master grants one %s", c.error.message);
	check(dlock_now() - start < LONG_GUARD * DLOCK_MS / 2, "it does not wait for an epoch (%lld ms)",
		(long long) ((dlock_now() - start) / DLOCK_MS));
	check(!strcmp(server_text(fleet_master(&set), "GET " DLOCK_EPOCH_KEY), epoch), "the epoch stays as it was");
	client_free(&c);
}

int main(int argc, char **argv)
{
	static const tap_test tests[] = { TEST(first_renewal), TEST(promotion), TEST(plain), TEST(killed) };
	static const tap_setting setting = { .begin = begin };

	return tap_main(argc, argv, tests, sizeof tests / sizeof *tests, &setting);
}
