/* Semaphores and read/write locks where a replica confirms: epochs, and holders and waiters over a promotion. Prints
 * TAP. */

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "helpers.h"
#include "pair.h"
#include "permits_client.h"
#include "tap.h"
#include "upkeep.h"

static pair servers;

static void begin(void)
{
	pair_start(&servers);
}

static void reset(void)
{
	pair_reset(&servers);
}

/* For leases that must outlive what a busy machine does meanwhile. */
enum { LONG_GUARD = 10000, LONG_LEASE = 9900 }; /* ms */

static client client_with(int64_t capacity, int guard)
{
	char dsn[160];

	snprintf(dsn, sizeof dsn, "redis://127.0.0.1:%d?replicas=1&guard=%d.%03d&read_timeout=%s", servers.endpoint.port,
		guard / 1000, guard % 1000, guard < LONG_GUARD ? "0.4" : "5");
	return permits_client_at(dsn, capacity, false);
}

static client two(void)
{
	return client_with(2, GUARD);
}

/* For what a busy machine is to do in an unsettled epoch. */
static client two_with_time(void)
{
	return client_with(2, LONG_GUARD);
}

static bool both_have(long long permits, const char *resource)
{
	return held_permits(servers.master, resource) == permits && held_permits(servers.replica, resource) == permits;
}

/* ---- granting ---- */

static void test_settles(void)
{
	client c = two();
	dlock_claim *claim = permits_on(&c, "first", 2, LEASE);
	dlock_nanos start = dlock_now();

	check(acquire(&c, claim, 0) == DLOCK_TIMEOUT && claim->explained,
		"nothing is granted in an epoch that is not settled: %s", c.error.message);
	check(acquire(&c, claim, 5000) == DLOCK_OK, "but then (%s)", c.error.message);
	long took = (long) ((dlock_now() - start) / DLOCK_MS);
	check(took >= GUARD && took < SOON / DLOCK_MS, "a guard later (%ld ms)", took);
	check(both_have(2, "first") && !claim->short_lease, "and a replica has it");
	check(extend(&c, claim, LEASE) == DLOCK_OK && dlock_claim_check(claim, &c.error) == DLOCK_OK && let_go(&c, claim),
		"extended, checked, released");
	check(held_permits(servers.master, "first") == 0, "nothing is left");
	client_free(&c);
}

static bool is_given_back(void *resource)
{
	return held_permits(servers.master, resource) == 0;
}

static void test_unconfirmed(void)
{
	client c = client_with(2, LONG_GUARD);
	char token[DLOCK_TOKEN_MAX + 1];

	settle_epoch(servers.master, LONG_GUARD, 1);
	dlock_claim *claim = permits_held(&c, "unconfirmed", 1, LONG_LEASE),
				*other = permits_on(&c, "unconfirmed", 1, LONG_LEASE);
	strcpy(token, other->token);
	server_freeze(servers.replica);
	check(extend(&c, claim, LONG_LEASE) == DLOCK_CONNECTION, "no more time without a replica: %s", c.error.message);
	check(release(&c, claim) == DLOCK_OK, "but what is held is given back");
	check(acquire(&c, other, 300) == DLOCK_CONNECTION && !dlock_claim_is_held(other), "and nothing is granted: %s",
		c.error.message);
	check(strcmp(token, other->token), "under this token nothing is asked for again: its release may come late");
	server_thaw(servers.replica);
	client_drain(&c);
	check(eventually(is_given_back, "unconfirmed"), "nothing is left");
	check(pair_is_in_step(&servers) && acquire(&c, other, 2000) == DLOCK_OK && let_go(&c, other),
		"and it is to be had again");
	dlock_claim_free(claim);
	client_free(&c);
}

static client two_for_long(void)
{
	return client_with(2, 10000);
}

/* What a master says that was replaced. */
static void test_push_is_a_hint(void)
{
	client c = two_for_long();
	takers *takers = takers_new();

	pair_settle(&servers);
	server_integer(servers.master, "EVAL %s 1 " DLOCK_EPOCH_KEY " %d",
		"redis.call('SET', KEYS[1], (string.gsub(redis.call('GET', KEYS[1]), ' ' .. ARGV[1], ' 10000'))) return 1",
		GUARD);
	server_integer(servers.master, "WAIT 1 1000");
	dlock_claim *claim = permits_held(&c, "hint", 2, 9000);
	taker_start(takers, servers.master, two_for_long, "hint", 1, 9000, 5);
	check(
		eventually_waiting(servers.master, "hint", 1) && tell_granted(servers.master, "hint", 0, 9000000000000000) == 1,
		"a waiter is told that it has its permits");
	sleep_ms(100);
	check(takers->served == 0, "it does not believe that");
	check(release(&c, claim) == DLOCK_OK && takers_served(takers, 1) && takers_end(takers) == 0,
		"and has them by the release");
	check(takers->token[0] < 9000000000000000 && takers->token[0] > claim->fencing_token, "with the server's token");
	dlock_claim_free(claim);
	client_free(&c);
}

/* ---- over a promotion ---- */

/* Takes a holder out of the new master, as if that had missed it. */
static void miss(const dlock_claim *claim)
{
	server_integer(servers.master, "EVAL %s 1 " POOL "%s %s",
		"local n = tonumber(redis.call('ZSCORE', KEYS[1], 'w' .. ARGV[1]) or 1) redis.call('ZREM', KEYS[1], 'h' .. "
		"ARGV[1], 'w' .. ARGV[1]) "
		"return redis.call('ZINCRBY', KEYS[1], -n, '$used')",
		claim->resource, claim->token);
}

static void test_restored(void)
{
	enum { GUARD_HERE = 4 * GUARD, LEASE_HERE = 4 * LEASE };
	client c = client_with(5, GUARD_HERE), other = client_with(5, GUARD_HERE);
	dlock_claim *extended, *checked, *released, *late = permits_on(&other, "restored", 3, LEASE_HERE);

	settle_epoch(servers.master, GUARD_HERE, 1);
	extended = permits_held(&c, "restored", 2, LEASE_HERE);
	checked = permits_held(&c, "restored", 1, LEASE_HERE);
	released = permits_held(&c, "restored", 2, LEASE_HERE);
	dlock_nanos begun = dlock_now();
	pair_fail_over(&servers);
	miss(extended);
	miss(released);
	check(held_permits(servers.master, "restored") == 1, "a server is promoted that has missed two holders");
	check(extend(&c, extended, LEASE_HERE) == DLOCK_OK && both_have(3, "restored"),
		"one is there again when it asks for more time (%s)", c.error.message);
	check(dlock_claim_check(checked, &c.error) == DLOCK_OK && both_have(3, "restored"), "one was there");
	check(release(&c, released) == DLOCK_OK && held_permits(servers.master, "restored") == 3,
		"the third had them until it released");
	dlock_status status = acquire(&other, late, 0);
	bool slow = dlock_now() - begun > GUARD_HERE * DLOCK_MS * 9 / 10;
	check(status == DLOCK_TIMEOUT && (late->explained || slow), "nobody gets any meanwhile");
	for (int i = 0; i < 4; i++) {
		sleep_ms(GUARD_HERE * 3 / 10);
		check(
			extend(&c, extended, LEASE_HERE) == DLOCK_OK && extend(&c, checked, LEASE_HERE) == DLOCK_OK, "they go on");
	}
	check(acquire(&other, late, 0) == DLOCK_TIMEOUT && !late->explained,
		"and there is no room for three when the epoch is settled");
	check(let_go(&c, checked) && acquire(&other, late, 0) == DLOCK_OK, "but when one is released");
	miss(extended);
	check(extend(&c, extended, LEASE_HERE) == DLOCK_LOST && held_permits(servers.master, "restored") == 3,
		"what is missing in a settled epoch is lost");
	check(let_go(&other, late), "released");
	dlock_claim_free(extended);
	dlock_claim_free(released);
	client_free(&c);
	client_free(&other);
}

/* As long as a holder may be missing, a release gives to nobody. */
static void test_release_in_unsettled_epoch(void)
{
	client c = two_with_time();
	takers *takers = takers_new();

	settle_epoch(servers.master, LONG_GUARD, 1);
	dlock_claim *missed = permits_held(&c, "unsettled", 1, LONG_LEASE);
	dlock_claim *known = permits_held(&c, "unsettled", 1, LONG_LEASE);
	taker_start(takers, servers.master, two_with_time, "unsettled", 2, LONG_LEASE, 5);
	dlock_nanos start = dlock_now();
	pair_fail_over(&servers);
	miss(missed);
	check(release(&c, known) == DLOCK_OK && !known->handed_over && held_permits(servers.master, "unsettled") == 0,
		"released: nobody is granted anything");
	check(extend(&c, missed, LONG_LEASE) == DLOCK_OK && held_permits(servers.master, "unsettled") == 1,
		"one that was missing is there again");
	for (int i = 0; i < 5; i++) {
		sleep_ms(LONG_GUARD * 3 / 10);
		check(extend(&c, missed, LONG_LEASE) == DLOCK_OK && takers->served == 0, "and goes on");
	}
	check(let_go(&c, missed) && takers_served(takers, 1), "the waiter has both when it is released");
	check((takers->at[0] - start) / DLOCK_MS >= LONG_GUARD && takers_end(takers) == 0,
		"not before the epoch is settled");
	dlock_claim_free(known);
	client_free(&c);
}

static void test_attach(void)
{
	client c = two(), lower = client_with(1, GUARD);
	char token[DLOCK_TOKEN_MAX + 1];

	pair_settle(&servers);
	dlock_claim *claim = permits_held(&c, "attach", 2, LEASE);
	strcpy(token, claim->token);
	dlock_claim_free(claim);
	claim = permits_on(&c, "attach", 1, LEASE);
	check(dlock_claim_attach(claim, token, &c.error) == DLOCK_OK && claim->permits == 2 && both_have(2, "attach"),
		"attached, and confirmed");
	strcpy(token, claim->token);
	dlock_claim_free(claim);
	claim = permits_on(&lower, "attach", 1, LEASE);
	check(dlock_claim_attach(claim, token, &lower.error) == DLOCK_OK && claim->permits == 2 && both_have(2, "attach"),
		"by one that asks with a lower capacity: what was granted counts by that of the grant (%s)",
		lower.error.message);
	strcpy(token, claim->token);
	dlock_claim_free(claim);
	claim = permits_on(&c, "attach", 1, LEASE);
	pair_fail_over(&servers);
	check(dlock_claim_attach(claim, token, &c.error) == DLOCK_CONNECTION && strstr(c.error.message, "promoted"),
		"not in an unsettled epoch: %s", c.error.message);
	check(server_integer(servers.master, "EXISTS " POOL "attach") == 1
			&& *server_text(servers.master, "ZSCORE " POOL "attach h%s", token),
		"nothing is changed");
	dlock_claim_free(claim);
	client_free(&c);
	client_free(&lower);
}

/* A holder that a promoted server missed is restored there, and a grant that was not taken up before is too many. */
static void test_stale_grant(void)
{
	client c = client_with(1, GUARD), other = client_with(1, GUARD);

	pair_settle(&servers);
	dlock_claim *claim = permits_held(&c, "stale", 1, LEASE), *waiter = permits_on(&other, "stale", 1, LEASE);
	pair_fail_over(&servers);
	miss(claim);
	server_integer(servers.master, "EVAL %s 1 " POOL "stale %s %d",
		"local now = redis.call('TIME') redis.call('ZINCRBY', KEYS[1], 1, '$used') return redis.call('ZADD', KEYS[1], "
		"now[1] * 1000 + ARGV[2], 'h' .. ARGV[1])",
		waiter->token, 10 * GUARD);
	check(extend(&c, claim, LEASE) == DLOCK_OK && held_permits(servers.master, "stale") == 2,
		"one is restored beside a grant of before");
	dlock_claim *third = permits_on(&other, "stale", 1, LEASE);
	dlock_status status = acquire(&other, third, 0);
	check(status == DLOCK_TIMEOUT && third->explained, "the epoch is to settle (%d, %d: %s)", status, third->explained,
		other.error.message);
	dlock_claim_free(third);
	for (int i = 0; i < 5; i++) {
		sleep_ms(GUARD * 3 / 10);
		check(extend(&c, claim, LEASE) == DLOCK_OK, "and goes on");
	}
	status = acquire(&other, waiter, 0);
	check(status == DLOCK_TIMEOUT && !waiter->explained, "in a settled epoch, the grant is none (%d, %d: %s)", status,
		waiter->explained, other.error.message);
	check(held_permits(servers.master, "stale") == 1 && let_go(&c, claim) && acquire(&other, waiter, 0) == DLOCK_OK,
		"but when the holder is gone");
	check(let_go(&other, waiter), "released");
	client_free(&c);
	client_free(&other);
}

/* A request whose answer was lost is repeated, and asks with a lower capacity than what was granted meanwhile. */
static void test_lower_capacity(void)
{
	client c = two(), lower = client_with(1, GUARD);

	pair_settle(&servers);
	dlock_claim *repeated = permits_on(&lower, "lower", 1, LEASE);
	server_integer(servers.master, "EVAL %s 1 " POOL "lower %s %d",
		"local now = redis.call('TIME') redis.call('ZINCRBY', KEYS[1], 1, '$used') return redis.call('ZADD', KEYS[1], "
		"now[1] * 1000 + ARGV[2], 'h' .. ARGV[1])",
		repeated->token, 60000);
	dlock_claim *claim = permits_held(&c, "lower", 1, LEASE);
	check(acquire(&lower, repeated, 0) == DLOCK_OK && both_have(2, "lower"), "it has its permit, and so has the other");
	check(let_go(&lower, repeated) && let_go(&c, claim), "released");
	client_free(&c);
	client_free(&lower);
}

/* The handle of a lease was taken up, which a promoted server missed, and comes a second time. By that server's clock
 * its lease goes on: a clock that is behind another makes it longer, and so does a grant, which may last for longer
 * than the guard. */
static void test_handle_beside_restored(void)
{
	client c = client_with(2, GUARD);

	pair_settle(&servers);
	dlock_claim *claim = permits_held(&c, "handle", 2, LEASE), *second = permits_on(&c, "handle", 2, LEASE);
	dlock_claim *detached = permits_on(&c, "handle", 2, LEASE), *other = permits_on(&c, "another", 1, LEASE);
	pair_fail_over(&servers);
	miss(claim);
	server_integer(servers.master, "EVAL %s 1 " POOL "handle %s %d",
		"local now = redis.call('TIME') redis.call('ZINCRBY', KEYS[1], 2, '$used') return redis.call('ZADD', KEYS[1], "
		"now[1] * 1000 + ARGV[2], 'h' .. ARGV[1], 2, 'w' .. ARGV[1])",
		detached->token, 10 * GUARD);
	check(extend(&c, claim, LEASE) == DLOCK_OK && held_permits(servers.master, "handle") == 4,
		"who has taken up the handle is restored beside it");
	check(acquire(&c, other, 0) == DLOCK_TIMEOUT && other->explained, "the epoch is to settle");
	for (int i = 0; i < 5; i++) {
		sleep_ms(GUARD * 3 / 10);
		check(extend(&c, claim, LEASE) == DLOCK_OK, "and goes on");
	}
	check(acquire(&c, other, 0) == DLOCK_OK && let_go(&c, other), "the epoch is settled");
	check(dlock_claim_attach(second, detached->token, &c.error) == DLOCK_LOST,
		"nobody else takes it up then: there are no permits for it");
	check(extend(&c, claim, LEASE) == DLOCK_OK && held_permits(servers.master, "handle") == 4, "who has them goes on");
	server_integer(servers.master, "ZADD " POOL "handle XX 1500000000000 h%s", detached->token);
	dlock_claim_free(detached);
	detached = claim;
	check(dlock_claim_attach(second, detached->token, &c.error) == DLOCK_OK
			&& held_permits(servers.master, "handle") == 2,
		"and its own handle is taken up: what is over is in nobody's way (%s)", c.error.message);
	check(let_go(&c, second), "released");
	dlock_claim_free(detached);
	client_free(&c);
}

/* ---- full copies ---- */

static test_server other_master;

static bool is_up(void *replica)
{
	return strstr(server_text(replica, "INFO replication"), "master_link_status:up") != NULL;
}

/* The replica has been another master's, for which it may have confirmed others, when it confirms a grant. */
static void test_full_copy(void)
{
	static const char *const options[] = { "--repl-diskless-sync-delay", "0", "--repl-ping-replica-period", "1", NULL };
	client c = client_with(2, LONG_GUARD);
	char token[DLOCK_TOKEN_MAX + 1];

	server_start(&other_master, options);
	settle_epoch(servers.master, LONG_GUARD, 1);
	dlock_claim *claim = permits_held(&c, "copied", 1, LONG_LEASE);
	server_do(servers.replica, "REPLICAOF 127.0.0.1 %d", other_master.port);
	check(eventually(is_up, servers.replica), "the replica is moved away");
	server_do(servers.replica, "REPLICAOF 127.0.0.1 %d", servers.master->port);
	check(pair_is_in_step(&servers), "and back");
	dlock_claim *refused = permits_on(&c, "other", 2, LONG_LEASE);
	check(acquire(&c, refused, 0) == DLOCK_TIMEOUT && refused->explained && held_permits(servers.master, "other") == 0,
		"nothing is granted, nor left behind: %s", c.error.message);
	check(extend(&c, claim, LONG_LEASE) == DLOCK_OK, "what is held is kept");
	strcpy(token, claim->token);
	dlock_claim_free(claim);
	claim = permits_on(&c, "copied", 1, LONG_LEASE);
	check(dlock_claim_attach(claim, token, &c.error) == DLOCK_CONNECTION
			&& *server_text(servers.master, "ZSCORE " POOL "copied h%s", token),
		"nor is a handle taken up: %s", c.error.message);
	check(acquire(&c, refused, 60000) == DLOCK_OK && let_go(&c, refused), "until the guard is over");
	dlock_claim_free(claim);
	server_kill(&other_master);
	client_free(&c);
}

int main(int argc, char **argv)
{
	static const tap_test tests[] = {
		TEST(settles),
		TEST(unconfirmed),
		TEST(push_is_a_hint),
		TEST(restored),
		TEST(release_in_unsettled_epoch),
		TEST(attach),
		TEST(stale_grant),
		TEST(lower_capacity),
		TEST(handle_beside_restored),
		TEST(full_copy),
	};
	static const tap_setting setting = { begin, reset };

	return tap_main(argc, argv, tests, sizeof tests / sizeof *tests, &setting);
}
