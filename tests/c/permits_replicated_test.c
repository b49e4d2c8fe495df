/* Semaphores and read/write locks if a replica confirms: epochs, and holders and waiters across a promotion. Prints
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

static client client_with(int64_t capacity, const char *options)
{
	char dsn[160];

	snprintf(dsn, sizeof dsn, "redis://127.0.0.1:%d?replicas=1&%s", servers.endpoint.port, options);
	return permits_client_at(dsn, capacity, false);
}

static client two(void)
{
	return client_with(2, GUARD_OPTION);
}

static bool both_have(long long permits, const char *resource)
{
	return held_permits(servers.master, resource) == permits && held_permits(servers.replica, resource) == permits;
}

static dlock_status check_again(client *c, dlock_claim *claim)
{
	dlock_status status;
	dlock_nanos since;
	int calls = 0;

	do {
		since = dlock_now();
		status = dlock_claim_check(claim, &c->error);
	} while (may_be_held_up(status, since) && ++calls < MOST_CALLS);
	return status;
}

/* ---- granting ---- */

static void test_settles(void)
{
	client c = client_with(2, SHORT_GUARD_OPTION);
	dlock_claim *claim = permits_on(&c, "first", 2, LEASE);
	dlock_nanos start = dlock_now();

	check(is_refused(&c, "first"), "nothing is granted in an epoch that is not settled: %s", c.error.message);
	check(acquires(&c, claim) && dlock_now() - start >= SHORT_GUARD * DLOCK_MS,
		"but it is when the epoch is settled, a guard later (%s)", c.error.message);
	check(both_have(2, "first") && !claim->short_lease, "and a replica has the permits");
	check(extend_again(&c, claim, LEASE) == DLOCK_OK && check_again(&c, claim) == DLOCK_OK && let_go(&c, claim),
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
	client c = two();
	char token[DLOCK_TOKEN_MAX + 1];

	pair_settle(&servers);
	dlock_claim *claim = permits_held(&c, "unconfirmed", 1, LEASE),
				*other = permits_on(&c, "unconfirmed", 1, LEASE);
	strcpy(token, other->token);
	server_freeze(servers.replica);
	check(extend(&c, claim, LEASE) == DLOCK_CONNECTION, "no extension without a replica: %s", c.error.message);
	check(release(&c, claim) == DLOCK_OK, "but a held permit can be released");
	check(acquire(&c, other, 300) == DLOCK_CONNECTION && !dlock_claim_is_held(other), "and nothing is granted: %s",
		c.error.message);
	check(strcmp(token, other->token),
		"the next request has another token, because the release of this one may come late");
	server_thaw(servers.replica);
	client_settle(&c);
	check(eventually(is_given_back, "unconfirmed"), "nothing is left");
	check(pair_is_in_step(&servers) && acquires(&c, other) && let_go(&c, other),
		"and a permit can be acquired again");
	dlock_claim_free(claim);
	client_free(&c);
}

/* A notification may come from a master that was replaced. */
static void test_push_is_a_hint(void)
{
	client c = two();
	takers *takers = takers_new();

	pair_settle(&servers);
	dlock_claim *claim = permits_held(&c, "hint", 2, LEASE);
	taker_start(takers, servers.master, two, "hint", 1, LEASE, 5);
	check(
		eventually_waiting(servers.master, "hint", 1) && tell_granted(servers.master, "hint", 0, 9000000000000000) == 1,
		"a waiter is told that it has its permits");
	sleep_ms(100);
	check(takers->served == 0, "it does not rely on that");
	check(release(&c, claim) == DLOCK_OK && takers_served(takers, 1) && takers_end(takers) == 0,
		"and it acquires them after the release");
	check(takers->token[0] < 9000000000000000 && takers->token[0] > claim->fencing_token, "with the server's token");
	dlock_claim_free(claim);
	client_free(&c);
}

/* ---- across a promotion ---- */

/* Removes a holder from the new master, as if that had missed it. */
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
	client c = client_with(5, GUARD_OPTION), other = client_with(5, GUARD_OPTION);
	dlock_claim *extended, *checked, *late = permits_on(&other, "restored", 3, LEASE);

	pair_settle(&servers);
	extended = permits_held(&c, "restored", 2, LEASE);
	checked = permits_held(&c, "restored", 1, LEASE);
	pair_fail_over(&servers);
	miss(extended);
	check(held_permits(servers.master, "restored") == 1, "a server is promoted that has missed a holder");
	check(extend_again(&c, extended, LEASE) == DLOCK_OK && both_have(3, "restored"),
		"an extension restores it (%s)", c.error.message);
	check(check_again(&c, checked) == DLOCK_OK && both_have(3, "restored"), "another holder was not missed");
	check(is_refused(&other, "restored"), "no permit is granted meanwhile");
	check(end_guard(servers.master) && acquire(&other, late, 0) == DLOCK_TIMEOUT && !late->explained,
		"when the epoch is settled, three permits are not available");
	check(extend_again(&c, extended, LEASE) == DLOCK_OK, "a restored holder extends");
	check(let_go(&c, checked) && acquires(&other, late), "they are available after a release");
	miss(extended);
	check(extend_again(&c, extended, LEASE) == DLOCK_LOST && held_permits(servers.master, "restored") == 3,
		"a holder that is missing in a settled epoch has lost its permits");
	check(let_go(&other, late), "released");
	dlock_claim_free(extended);
	client_free(&c);
	client_free(&other);
}

static void test_release_unknown(void)
{
	client c = two();
	dlock_status status;
	dlock_nanos since;
	int calls = 0;

	do {
		pair_settle(&servers);
		dlock_claim *claim = permits_held(&c, "unknown", 2, LEASE);
		pair_fail_over(&servers);
		miss(claim);
		since = dlock_now();
		status = release(&c, claim);
		dlock_claim_free(claim);
	} while (may_be_held_up(status, since) && ++calls < MOST_CALLS);
	check(status == DLOCK_OK && held_permits(servers.master, "unknown") == 0,
		"permits that the new master does not know are released (%s)", c.error.message);
	client_free(&c);
}

/* While a holder may be missing, a release grants no permit. */
static void test_release_in_unsettled_epoch(void)
{
	client c = two();
	takers *takers = takers_new();

	pair_settle(&servers);
	dlock_claim *missed = permits_held(&c, "unsettled", 1, LEASE);
	dlock_claim *known = permits_held(&c, "unsettled", 1, LEASE);
	taker_start(takers, servers.master, two, "unsettled", 2, LEASE, 5);
	pair_fail_over(&servers);
	miss(missed);
	check(release(&c, known) == DLOCK_OK && !known->handed_over && held_permits(servers.master, "unsettled") == 0,
		"released: no waiter is granted a permit");
	check(extend_again(&c, missed, LEASE) == DLOCK_OK && held_permits(servers.master, "unsettled") == 1,
		"the missing holder is restored");
	check(is_refused(&c, "unsettled") && end_guard(servers.master), "the epoch settles");
	check(extend_again(&c, missed, LEASE) == DLOCK_OK && takers->served == 0, "the holder extends");
	check(let_go(&c, missed) && takers_served(takers, 1) && takers_end(takers) == 0,
		"the waiter acquires both when the holder releases");
	dlock_claim_free(known);
	client_free(&c);
}

static void test_attach(void)
{
	client c = two(), lower = client_with(1, GUARD_OPTION);
	char token[DLOCK_TOKEN_MAX + 1];

	pair_settle(&servers);
	dlock_claim *claim = permits_held(&c, "attach", 2, LEASE);
	strcpy(token, claim->token);
	dlock_claim_free(claim);
	claim = permits_on(&c, "attach", 1, LEASE);
	check(attach_again(&c, &claim, token) == DLOCK_OK && claim->permits == 2 && both_have(2, "attach"),
		"attached, and confirmed");
	strcpy(token, claim->token);
	dlock_claim_free(claim);
	claim = permits_on(&lower, "attach", 1, LEASE);
	check(attach_again(&lower, &claim, token) == DLOCK_OK && claim->permits == 2 && both_have(2, "attach"),
		"by a client with a lower capacity: the capacity at the grant counts (%s)", lower.error.message);
	strcpy(token, claim->token);
	dlock_claim_free(claim);
	claim = permits_on(&c, "attach", 1, LEASE);
	pair_fail_over(&servers);
	check(attach_again(&c, &claim, token) == DLOCK_CONNECTION && strstr(c.error.message, "promoted"),
		"not in an unsettled epoch: %s", c.error.message);
	check(server_integer(servers.master, "EXISTS " POOL "attach") == 1
			&& *server_text(servers.master, "ZSCORE " POOL "attach h%s", token),
		"the pool is not changed");
	dlock_claim_free(claim);
	client_free(&c);
	client_free(&lower);
}

/* A holder that a promoted server missed is restored there. An earlier grant, which its waiter has not used, is then
 * too many. */
static void test_stale_grant(void)
{
	client c = client_with(1, GUARD_OPTION), other = client_with(1, GUARD_OPTION);

	pair_settle(&servers);
	dlock_claim *claim = permits_held(&c, "stale", 1, LEASE), *waiter = permits_on(&other, "stale", 1, LEASE);
	pair_fail_over(&servers);
	miss(claim);
	server_integer(servers.master, "EVAL %s 1 " POOL "stale %s %d",
		"local now = redis.call('TIME') redis.call('ZINCRBY', KEYS[1], 1, '$used') return redis.call('ZADD', KEYS[1], "
		"now[1] * 1000 + ARGV[2], 'h' .. ARGV[1])",
		waiter->token, 10 * GUARD);
	check(extend_again(&c, claim, LEASE) == DLOCK_OK && held_permits(servers.master, "stale") == 2,
		"the holder is restored beside an earlier grant");
	check(is_refused(&other, "stale"), "the epoch is not settled yet");
	check(end_guard(servers.master) && extend_again(&c, claim, LEASE) == DLOCK_OK, "the holder extends");
	dlock_status status = acquire(&other, waiter, 0);
	check(status == DLOCK_TIMEOUT && !waiter->explained, "in a settled epoch, the grant does not count (%d, %d: %s)",
		status, waiter->explained, other.error.message);
	check(held_permits(servers.master, "stale") == 1 && let_go(&c, claim) && acquires(&other, waiter),
		"but the waiter acquires it when the holder releases");
	check(let_go(&other, waiter), "released");
	client_free(&c);
	client_free(&other);
}

/* A client repeats a request whose answer was lost. Its capacity is lower than the number of permits granted
 * meanwhile. */
static void test_lower_capacity(void)
{
	client c = two(), lower = client_with(1, GUARD_OPTION);

	pair_settle(&servers);
	dlock_claim *repeated = permits_on(&lower, "lower", 1, LEASE);
	server_integer(servers.master, "EVAL %s 1 " POOL "lower %s %d",
		"local now = redis.call('TIME') redis.call('ZINCRBY', KEYS[1], 1, '$used') return redis.call('ZADD', KEYS[1], "
		"now[1] * 1000 + ARGV[2], 'h' .. ARGV[1])",
		repeated->token, GUARD);
	dlock_claim *claim = permits_held(&c, "lower", 1, LEASE);
	check(acquires(&lower, repeated) && both_have(2, "lower"), "both clients hold a permit");
	check(let_go(&lower, repeated) && let_go(&c, claim), "released");
	client_free(&c);
	client_free(&lower);
}

/* A client has attached to a lease, which a promoted server missed. Then the same handle comes a second time. By that
 * server's clock its lease has not expired: the clock may be behind another one, or a grant lasts longer than the
 * guard. */
static void test_handle_beside_restored(void)
{
	client c = two();

	pair_settle(&servers);
	dlock_claim *claim = permits_held(&c, "handle", 2, LEASE), *second = permits_on(&c, "handle", 2, LEASE);
	dlock_claim *detached = permits_on(&c, "handle", 2, LEASE), *other = permits_on(&c, "another", 1, LEASE);
	pair_fail_over(&servers);
	miss(claim);
	server_integer(servers.master, "EVAL %s 1 " POOL "handle %s %d",
		"local now = redis.call('TIME') redis.call('ZINCRBY', KEYS[1], 2, '$used') return redis.call('ZADD', KEYS[1], "
		"now[1] * 1000 + ARGV[2], 'h' .. ARGV[1], 2, 'w' .. ARGV[1])",
		detached->token, 10 * GUARD);
	check(extend_again(&c, claim, LEASE) == DLOCK_OK && held_permits(servers.master, "handle") == 4,
		"the attached holder is restored beside the old lease");
	check(is_refused(&c, "another"), "the epoch is not settled yet");
	check(end_guard(servers.master) && extend_again(&c, claim, LEASE) == DLOCK_OK, "the holder extends");
	check(acquires(&c, other) && let_go(&c, other), "the epoch is settled");
	check(attach_again(&c, &second, detached->token) == DLOCK_LOST,
		"the second attach fails then: there are no permits for it");
	check(extend_again(&c, claim, LEASE) == DLOCK_OK && held_permits(servers.master, "handle") == 4,
		"the holder still extends");
	server_integer(servers.master, "ZADD " POOL "handle XX 1500000000000 h%s", detached->token);
	dlock_claim_free(detached);
	detached = claim;
	check(attach_again(&c, &second, detached->token) == DLOCK_OK
			&& held_permits(servers.master, "handle") == 2,
		"and a client attaches to its lease: an expired lease blocks no other (%s)", c.error.message);
	check(let_go(&c, second), "released");
	dlock_claim_free(detached);
	client_free(&c);
}

/* ---- full resynchronizations ---- */

static test_server other_master;

static bool is_up(void *replica)
{
	return strstr(server_text(replica, "INFO replication"), "master_link_status:up") != NULL;
}

/* The replica confirms a grant after it has followed another master, for which it may have confirmed other grants. */
static void test_full_copy(void)
{
	client c = two();
	char token[DLOCK_TOKEN_MAX + 1];

	server_start(&other_master, pair_options);
	pair_settle(&servers);
	dlock_claim *claim = permits_held(&c, "copied", 1, LEASE);
	server_do(servers.replica, "REPLICAOF 127.0.0.1 %d", other_master.port);
	check(eventually(is_up, servers.replica), "the replica is moved away");
	server_do(servers.replica, "REPLICAOF 127.0.0.1 %d", servers.master->port);
	check(pair_is_in_step(&servers), "and back");
	dlock_claim *refused = permits_on(&c, "other", 2, LEASE);
	check(is_refused(&c, "other") && held_permits(servers.master, "other") == 0,
		"nothing is granted, nor left behind: %s", c.error.message);
	check(extend_again(&c, claim, LEASE) == DLOCK_OK, "a held permit can be extended");
	strcpy(token, claim->token);
	dlock_claim_free(claim);
	claim = permits_on(&c, "copied", 1, LEASE);
	check(attach_again(&c, &claim, token) == DLOCK_CONNECTION
			&& *server_text(servers.master, "ZSCORE " POOL "copied h%s", token),
		"but no client can attach: %s", c.error.message);
	check(end_guard(servers.master) && acquires(&c, refused) && let_go(&c, refused), "until the guard has passed");
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
		TEST(release_unknown),
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
