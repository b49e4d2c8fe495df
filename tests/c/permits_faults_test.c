/* Semaphores when answers are lost, servers and holders die, processes fork, or users lack rights. Prints TAP. */

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../src/lock/registry.h"
#include "helpers.h"
#include "one_server.h"
#include "permits_client.h"
#include "upkeep.h"

static client three(void)
{
	return permits_client(&server, 3);
}

static client one(void)
{
	return permits_client(&server, 1);
}

/* After it the server knows all scripts, so that the relay drops the answer that a test means. */
static void teach_scripts(void)
{
	client c = three();
	char token[DLOCK_TOKEN_MAX + 1];
	dlock_claim *claim = permits_held(&c, "warm", 1, 60000);

	strcpy(token, claim->token);
	dlock_claim_free(claim);
	claim = permits_on(&c, "warm", 1, 60000);
	check(dlock_claim_attach(claim, token, &c.error) == DLOCK_OK && extend(&c, claim, 60000) == DLOCK_OK
		&& dlock_claim_check(claim, &c.error) == DLOCK_OK && let_go(&c, claim), "the server knows the scripts");
	client_free(&c);
}

/* ---- lost answers ---- */

enum { ACQUIRE, ATTACH, EXTEND, RELEASE };

static int life(const char *dsn, const char *token)
{
	client own = permits_client_at(dsn, 3, false);
	dlock_claim *claim = permits_on(&own, "lost", 2, 60000);
	dlock_status status = token ? dlock_claim_attach(claim, token, &own.error) : acquire(&own, claim, 0);

	if (status != DLOCK_OK || claim->permits != 2) {
		return 1;
	}
	if (extend(&own, claim, 50000) != DLOCK_OK || look(claim) != DLOCK_CLAIM_HELD
		|| held_permits(&server, "lost") != 2) {
		return 2;
	}
	return release(&own, claim) == DLOCK_OK && look(claim) == DLOCK_CLAIM_RELEASED ? 0 : 3;
}

/* A request is executed, but its answer is lost. The repeated request finds that, and does nothing twice. */
static void test_lost_answers(void)
{
	static const dlock_script_id scripts[] = { DLOCK_SCRIPT_PERMITS_ACQUIRE, DLOCK_SCRIPT_PERMITS_EXCHANGE,
		DLOCK_SCRIPT_PERMITS_RENEW, DLOCK_SCRIPT_PERMITS_RELEASE };
	static const char *const names[] = { "acquire", "attach", "extend", "release" };
	client c = three();

	teach_scripts();
	for (int i = ACQUIRE; i <= RELEASE; i++) {
		dlock_claim *given = i == ATTACH ? permits_held(&c, "lost", 2, 60000) : NULL;
		relay relay;
		const char *dsn = dsn_by_relay(&relay, &server, "");
		atomic_store(&relay.swallow, dlock_scripts[scripts[i]].sha1);
		pid_t pid = fork_child();
		if (pid == 0) {
			_exit(life(dsn, given ? given->token : NULL));
		}
		check(eventually(has_swallowed, &relay) && held_permits(&server, "lost") == (i == RELEASE ? 0 : 2),
			"the answer to %s is lost", names[i]);
		atomic_store(&relay.swallowed, 0);
		int status = exit_of(pid);
		check(status == 0 && held_permits(&server, "lost") == 0, "the client repeats it, and it is done once (%d)",
			status);
		relay_end(&relay);
		if (given) {
			dlock_claim_free(given);
		}
	}
	client_free(&c);
}

static void let_lease_end(int signal)
{
	(void) signal;
	dlock_clock_travel(30 * DLOCK_SECOND);
}

/* A repeated release finds no lease. The lease may have expired before the first release, so the claim counts as
 * lost. */
static void test_release_repeated_late(void)
{
	relay relay;
	const char *dsn = dsn_by_relay(&relay, &server, "");

	teach_scripts();
	atomic_store(&relay.swallow, dlock_scripts[DLOCK_SCRIPT_PERMITS_RELEASE].sha1);
	pid_t pid = fork_child();
	if (pid == 0) {
		client own = permits_client_at(dsn, 3, false);
		dlock_claim *claim = permits_held(&own, "late", 2, 30000);
		signal(SIGCONT, let_lease_end);
		_exit(release(&own, claim) == DLOCK_LOST ? 0 : 1);
	}
	check(eventually(has_swallowed, &relay), "the answer to a release is lost");
	kill(pid, SIGCONT);
	atomic_store(&relay.swallowed, 0);
	check(exit_of(pid) == 0, "and repeated when the lease has expired: it may have been lost before");
	relay_end(&relay);
}

static bool is_served(void *context)
{
	tell_granted(&server, "granted", 0, 222);
	return atomic_load(&((takers *) context)->served) > 0;
}

/* A grant in reply to an earlier request may have expired. */
static void test_old_grant(void)
{
	client c = one();
	takers *takers = takers_new();

	dlock_claim *claim = permits_held(&c, "granted", 1, 60000);
	taker_start(takers, &server, one, "granted", 1, 60000, 5);
	check(eventually_waiting(&server, "granted", 1) && tell_granted(&server, "granted", -1, 111) == 1,
		"a waiter is told of an old grant");
	sleep_ms(100);
	check(takers->served == 0, "it does not rely on that grant");
	check(eventually(is_served, takers) && takers->token[0] == 222,
		"but on a grant in reply to its last request");
	takers_end(takers);
	check(let_go(&c, claim), "released");
	client_free(&c);
}

static void test_restarted(void)
{
	client c = three(), other = three();
	dlock_claim *claim = permits_held(&c, "restarted", 3, 60000), *waiter = permits_on(&other, "restarted", 1, 60000);

	pid_t pid = fork_child();
	if (pid == 0) {
		client own = three();
		dlock_status status = acquire(&own, permits_on(&own, "restarted", 1, 60000), 60000);
		_exit(status == DLOCK_CONNECTION && explains(&own, "127.0.0.1", "") ? 0 : 1);
	}
	check(eventually_waiting(&server, "restarted", 1), "a process waits");
	server_kill(&server);
	check(exit_of(pid) == 0, "its wait ends with its server");
	check(acquire(&other, waiter, 0) == DLOCK_CONNECTION && dlock_claim_check(claim, &c.error) == DLOCK_CONNECTION,
		"no server answers");
	server_restart(&server);
	check(acquire(&other, waiter, 60000) == DLOCK_OK, "the server is back, empty");
	check(extend(&c, claim, 60000) == DLOCK_LOST && look(claim) == DLOCK_CLAIM_LOST, "what was held is lost");
	check(let_go(&other, waiter) && held_permits(&server, "restarted") == 0, "released");
	dlock_claim_free(claim);
	client_free(&c);
	client_free(&other);
}

/* ---- renewal ---- */

static void test_renewed(void)
{
	client c = three();
	ward ward;

	unsigned long before = renewals();
	ward_begin(&ward, &c, "renewed", 60000, 0, RENEW_AND_TELL(&ward));
	dlock_claim *other = permits_held(&c, "renewed", 2, 60000), *fourth = permits_on(&c, "renewed", 1, 60000);
	renew_now(ward.claim);
	check(renewed_since(before, 1) && acquire(&c, fourth, 100) == DLOCK_TIMEOUT && look(ward.claim) == DLOCK_CLAIM_HELD,
		"renewed, and no other claim acquires it");
	server_do(&server, "DEL " POOL "renewed");
	renew_now(ward.claim);
	check(eventually_lost(&ward) && look(ward.claim) == DLOCK_CLAIM_LOST, "the holder is told of its loss");
	dlock_claim_free(ward.claim);
	dlock_claim_free(other);
	dlock_claim_free(fourth);
	client_free(&c);
}

static long long lease_ms(const char *resource, const char *token)
{
	return server_integer(&server, "EVAL %s 1 " POOL "%s %s",
		"local now = redis.call('TIME') return math.floor((redis.call('ZSCORE', KEYS[1], 'h' .. ARGV[1]) or 0) - "
		"now[1] * 1000 - now[2] / 1000)",
		resource, token);
}

/* Is the lease long, on the server and for the claim? */
static bool is_long(void *context)
{
	dlock_claim *claim = context;

	return lease_ms("granted", claim->token) > 30000 && !atomic_load(&claim->short_lease) && left_ms(claim) > 30000;
}

enum { TOO_LATE = 77 };

/* A grant is as short as that of a lock, until the thread has requested the full lease time. */
static int renew_granted(client *own)
{
	dlock_nanos start = dlock_now();
	dlock_claim *claim = permits_on(own, "granted", 1, 60000);
	dlock_upkeep upkeep = { .renew = false };
	int bad = acquire(own, claim, 60000) != DLOCK_OK || !claim->received || !claim->short_lease || left_ms(claim) > 3000
		? 1
		: lease_ms("granted", claim->token) > 3000 || dlock_renewal_begin(claim, &upkeep, &own->error) != DLOCK_OK
		? 2
		: !eventually(is_long, claim)
		? 3
		: 0;

	dlock_nanos took = dlock_now() - start;
	return let_go(own, claim) && !bad ? 0 : took < GRANTED_IN_TIME ? bad : TOO_LATE;
}

static void test_short_lease(void)
{
	client c = one();
	int status = TOO_LATE;

	for (int tries = 0; status == TOO_LATE && tries < 10; tries++) {
		dlock_claim *claim = permits_held(&c, "granted", 1, 60000);
		pid_t pid = fork_child();
		if (pid == 0) {
			client own = one();
			_exit(renew_granted(&own));
		}
		check(eventually_waiting(&server, "granted", 1) && let_go(&c, claim), "it is handed over");
		status = exit_of(pid);
	}
	check(status == 0, "for as long as a grant, and soon for its lease time (%d)", status);
	client_free(&c);
}

/* ---- processes ---- */

static void test_fork(void)
{
	client c = three();
	dlock_claim *claim = permits_held(&c, "fork", 2, 60000), *waiting = permits_on(&c, "fork", 2, 60000);

	interrupt_now();
	dlock_wait wait = { .deadline = DLOCK_FOREVER, .interrupted = interrupted };
	check(dlock_claim_acquire(waiting, &wait, &c.error) == DLOCK_INTERRUPTED && waiters(&server, "fork") == 1,
		"held, and waited for");
	interrupt_clear();
	pid_t pid = fork_child();
	if (pid == 0) {
		dlock_claim *own = permits_on(&c, "fork-child", 1, 60000);
		int bad = (look(claim) != DLOCK_CLAIM_LOST) + 2 * (release(&c, claim) != DLOCK_LOST)
			+ 4 * (extend(&c, claim, 1000) != DLOCK_LOST)
			+ 8 * (dlock_claim_acquire(waiting, &wait, &c.error) != DLOCK_LOST)
			+ 16 * (acquire(&c, own, 0) != DLOCK_OK);
		dlock_claim_abandon(claim);
		dlock_claim_abandon(waiting);
		bad += 32 * !let_go(&c, own);
		client_settle(&c);
		client_free(&c);
		_exit(bad);
	}
	int bad = exit_of(pid);
	check(bad == 0, "a child neither holds nor waits (%d)", bad);
	check(held_permits(&server, "fork") == 2 && waiters(&server, "fork") == 1, "the parent still does both");
	check(let_go(&c, claim) && acquire(&c, waiting, 60000) == DLOCK_OK && let_go(&c, waiting),
		"and it releases and acquires");
	client_free(&c);
}

/* Would this process wait without end for permits that it holds itself? */
static void test_waits_for_itself(void)
{
	client c = permits_client(&server, 4);
	dlock_registry registry = { .first = NULL };
	dlock_registry_entry entries[2] = { { .claim = NULL } };
	ward wards[2];

	for (int i = 0; i < 2; i++) {
		ward_begin(&wards[i], &c, "self", 60000, 0, RENEW);
		entries[i].claim = wards[i].claim;
		dlock_registry_add(&registry, &entries[i]);
	}
	check(!dlock_registry_find_endless(&registry, c.backend, "self", 4, 1, 0, NULL),
		"if two of four permits are held, one is available");
	check(!dlock_registry_find_endless(&registry, c.backend, "self", 4, 2, 0, NULL), "or two");
	check(dlock_registry_find_endless(&registry, c.backend, "self", 4, 3, 0, NULL), "but not three");
	check(!dlock_registry_find_endless(&registry, c.backend, "other", 5, 4, 0, NULL),
		"of another pool, all are available");
	dlock_renewal_stop(wards[1].claim);
	check(!dlock_registry_find_endless(&registry, c.backend, "self", 4, 3, 0, NULL),
		"a lease that will expire does not count");
	check(dlock_registry_find_endless(&registry, c.backend, "self", 4, 4, 0, NULL), "but the other lease does");
	for (int i = 0; i < 2; i++) {
		check(let_go(&c, wards[i].claim), "released");
	}
	client_free(&c);
}

/* ---- a death among many waiters ---- */

static client lock(void)
{
	return client_of(&server, READ_TIMEOUT);
}

static long long waiting_for(bool permits)
{
	return permits ? waiters(&server, "many") : server_integer(&server, "ZCARD dlock:queue:{" PREFIX "many}");
}

/* When a waiter acquired it; 0: later than its lease lasted, because its process stood still. */
typedef struct {
	dlock_nanos at, until;
} possession;

enum { WAITERS = 50, VICTIM = 30, LEASE_MS = 1000, LONG_MS = 60000 };

/* The victim shortens its lease, and dies. Returns the exit status. */
static int wait_among(client *own, bool is_victim, possession *mine)
{
	dlock_claim *waiter = claim_on(own, "many", LONG_MS);

	if (acquire(own, waiter, 60000) != DLOCK_OK) {
		return 1;
	}
	dlock_nanos until = atomic_load(&waiter->deadline);
	mine->at = dlock_now();
	if (is_victim && extend(own, waiter, LEASE_MS) != DLOCK_LOST) {
		until = dlock_earlier(until, atomic_load(&waiter->deadline));
	}
	mine->until = until;
	mine->at = mine->at < until ? mine->at : 0;
	return !is_victim && release(own, waiter) != DLOCK_OK && dlock_now() < until;
}

static bool many_wait(void *permits)
{
	return waiting_for(*(bool *) permits) == WAITERS;
}

static void die_among(bool permits)
{
	client (*connect)(void) = permits ? one : lock;
	possession *possessions = shared_memory(WAITERS * sizeof *possessions), *victim = &possessions[VICTIM];
	pid_t pids[WAITERS];
	client c = connect();
	dlock_claim *claim = claim_on(&c, "many", LONG_MS);
	int bad = 0, early = 0;
	dlock_nanos next = DLOCK_FOREVER;

	check(acquire(&c, claim, 60000) == DLOCK_OK, "held");
	dlock_upkeep upkeep = RENEW;
	check(dlock_renewal_begin(claim, &upkeep, &c.error) == DLOCK_OK, "and renewed");
	for (int i = 0; i < WAITERS; i++) {
		pids[i] = fork_child();
		if (pids[i] == 0) {
			client own = connect();
			_exit(wait_among(&own, i == VICTIM, &possessions[i]));
		}
		while (waiting_for(permits) <= i && !has_ended(pids[i])) {
			sleep_ms(1);
		}
	}
	check(eventually(many_wait, &permits), "fifty wait");
	check(let_go(&c, claim), "thirty hand it over, and the next dies");
	for (int i = 0; i < WAITERS; i++) {
		bad += exit_of(pids[i]) != 0;
	}
	for (int i = 0; i < WAITERS; i++) {
		early += i != VICTIM && victim->at && possessions[i].at > victim->at && possessions[i].at < victim->until;
		next = possessions[i].at > victim->until ? dlock_earlier(next, possessions[i].at) : next;
	}
	check(bad == 0 && early == 0, "no other waiter acquires it before the lease has expired (%d, %d)", bad, early);
	check(next < victim->until + SOON, "the next one does soon after that (%ld ms)",
		(long) ((next - victim->until) / DLOCK_MS));
	client_free(&c);
}

static void test_death_among_waiters(void)
{
	die_among(true);
	die_among(false);
}

/* ---- users who lack rights ---- */

/* Without one of these rights, a user can still acquire, wait and release. If no notification is possible, waiters
 * poll. */
static void test_users(void)
{
	static const char *const forbidden[] = { "publish", "subscribe", "time" };

	for (int i = 0; i < 3; i++) {
		char dsn[128];
		server_do(&server, "ACL SETUSER app%d on >" SECRET " ~* &* +@all -%s", i, forbidden[i]);
		snprintf(dsn, sizeof dsn, "redis://app%d:" SECRET "@127.0.0.1:%d", i, server.port);
		client c = permits_client_at(dsn, 1, false);
		dlock_claim *claim = permits_held(&c, "users", 1, 60000);
		pid_t pid = fork_child();
		if (pid == 0) {
			client own = permits_client_at(dsn, 1, false);
			dlock_claim *waiter = permits_on(&own, "users", 1, 60000);
			bool good = acquire(&own, waiter, 60000) == DLOCK_OK && release(&own, waiter) == DLOCK_OK;
			printf(good ? "" : "# %s\n", own.error.message);
			fflush(stdout);
			_exit(!good);
		}
		sleep_ms(300);
		dlock_nanos start = dlock_now();
		check(let_go(&c, claim) && exit_of(pid) == 0, "without the right to %s (%s)", forbidden[i], c.error.message);
		check(dlock_now() - start < SOON, "the waiter acquires it (%ld ms)", (long) ((dlock_now() - start) / DLOCK_MS));
		server_do(&server, "ACL DELUSER app%d", i);
		server_do(&server, "DEL " POOL "users");
		client_free(&c);
	}
}

int main(int argc, char **argv)
{
	static const tap_test tests[] = {
		TEST(lost_answers),
		TEST(release_repeated_late),
		TEST(old_grant),
		TEST(restarted),
		TEST(renewed),
		TEST(short_lease),
		TEST(fork),
		TEST(waits_for_itself),
		TEST(death_among_waiters),
		TEST(users),
	};

	return tap_main(argc, argv, tests, sizeof tests / sizeof *tests, &one_server);
}
