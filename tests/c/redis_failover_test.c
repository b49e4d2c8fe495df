/* Locks behind Sentinels while the master is replaced. Prints TAP. */

#include <stdlib.h>
#include <unistd.h>

#include "../../src/redis/lock/service.h"
#include "fleet.h"
#include "helpers.h"
#include "pair.h"
#include "tap.h"
#include "upkeep.h"

static fleet set;

static void begin(void)
{
	fleet_start(&set, SECRET, NULL);
}

static client client_with(int replicas)
{
	client client = { calloc(1, sizeof(dlock_pool)), NULL, { "" } };
	dlock_endpoint *service = fleet_service(&set, "mymaster", replicas);

	service->guard = GUARD * DLOCK_MS;
	client.backend = dlock_lock_new(client.pool, service, PREFIX, strlen(PREFIX), false);
	dlock_endpoint_release(service);
	return client;
}

static bool are_in_step(void *master)
{
	return server_do(master, "SET step 1 PX 1") && server_integer(master, "WAIT 2 100") == 2;
}

static void settle(test_server *master)
{
	eventually(are_in_step, master); /* a replica that attaches later opens the epoch anew */
	settle_epoch(master, GUARD, 2);
	eventually(are_in_step, master);
}

typedef struct {
	int status;
	int64_t token;
} result;

static result *shared;

static pid_t wait_for(const char *resource)
{
	pid_t pid = fork_child();

	if (pid == 0) {
		client own = client_with(1);
		dlock_claim *claim = claim_on(&own, resource, LEASE);
		shared->status = acquire(&own, claim, 2 * LONG_WAIT);
		shared->token = claim->fencing_token;
		if (shared->status != DLOCK_OK) {
			printf("# %s\n", own.error.message);
		}
		_exit(release(&own, claim));
	}
	return pid;
}

static bool is_refused_now(void *client)
{
	return is_refused(client, "third");
}

/* Acquires the lock after the guard. Another replica may attach later, for which the epoch is opened anew: Sentinels
 * may redirect it more than ten seconds after the failover. */
static bool acquires_after_guard(client *c, dlock_claim *claim)
{
	for (int i = 0; i < 300; i++) {
		if (acquire(c, claim, 0) == DLOCK_OK) {
			return true;
		}
		end_guard(fleet_master(&set));
		sleep_ms(100);
	}
	return false;
}

/* The key would not last so long without a renewal. */
static void shorten(const dlock_claim *claim)
{
	server_do(fleet_master(&set), "PEXPIRE Lock:%s %d", claim->resource, LEASE / 3);
}

static bool is_kept(void *context)
{
	const dlock_claim *claim = context;

	return has(fleet_master(&set), claim)
		&& server_integer(fleet_master(&set), "PTTL Lock:%s", claim->resource) > LEASE / 3;
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
	ward_begin(&ward, &c, "held", LEASE, 0, RENEW_AND_TELL(&ward));
	dlock_claim *gone = claim_on(&c, "gone", LEASE), *third = claim_on(&c, "third", LEASE);
	check(acquires(&c, gone), "another lock is held %s", c.error.message);
	int64_t token = gone->fencing_token;
	pid_t pid = wait_for("gone");
	check(eventually(is_waiting, "gone"), "a waiter waits for it");
	dlock_claim_free(gone);
	long long since = server_now_ms(fleet_master(&set));
	replace();
	check(eventually(is_refused_now, &c) && guard_end_ms(fleet_master(&set)) - since >= GUARD,
		"the new master grants no lock before the guard is over: %s", c.error.message);
	shorten(ward.claim);
	renew_now(ward.claim);
	check(eventually(is_kept, ward.claim), "the held lock is renewed on the new master");
	check(acquires_after_guard(&c, third), "the new master grants a lock after the guard (%s)", c.error.message);
	check(third->fencing_token > token, "its token is larger");
	check(eventually_in_state(ward.claim, DLOCK_CLAIM_HELD) && ward.losses == 0, "its holder keeps the held lock");
	server_do(fleet_master(&set), "PEXPIRE Lock:gone 1");
	while (!has_ended(pid)) { /* until its own time is over */
		end_guard(fleet_master(&set));
		sleep_ms(100);
	}
	check(exit_of(pid) == DLOCK_OK && shared->token > token, "the waiter acquires the other lock (%d)", shared->status);
	check(let_go(&c, ward.claim) && has_nobody(fleet_master(&set), "held"), "released %s", c.error.message);
	check(let_go(&c, third), "released %s", c.error.message);
	client_free(&c);
}

/* The renewal thread has not looked for the master of this service before. */
static void test_first_renewal(void)
{
	unsigned long failures;
	dlock_nanos since;
	int calls = 0;

	settle(fleet_master(&set));
	do {
		client c = client_with(1);
		ward ward;
		unsigned long before = renewals();
		failures = dlock_renewal_count().failures;
		ward_begin(&ward, &c, "held", LEASE, 0, RENEW_AND_TELL(&ward));
		since = dlock_now();
		renew_now(ward.claim);
		check(renewed_since(before, 1) && look(ward.claim) == DLOCK_CLAIM_HELD, "renewed");
		failures = dlock_renewal_count().failures - failures;
		check(let_go(&c, ward.claim), "released");
		client_free(&c);
	} while (failures > 0 && may_be_held_up(DLOCK_CONNECTION, since) && ++calls < MOST_CALLS);
	check(failures == 0, "the first renewal does not fail");
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
	check(passes(&c, "plain", LONG_WAIT), "the new master grants one %s", c.error.message);
	check(dlock_now() - start < GUARD * DLOCK_MS / 2, "it does not wait for an epoch (%lld ms)",
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
