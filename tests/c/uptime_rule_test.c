/* The restart guard of the quorum back end, with real restarts. Prints TAP.
 * uptime_rule_test [word in the names of the tests to run] */

#include <limits.h>
#include <pthread.h>
#include <signal.h>

#include "../../src/redis/redlock/uptime_rule.h"
#include "helpers.h"
#include "redis_client.h"
#include "relay.h"
#include "tap.h"

enum { SERVERS = 5, MAJORITY = 3 };

/* Each test has its own servers. All are started at the beginning, because servers need time until they are old. */
static test_server forgetful[SERVERS], minority[3], set[3], quiet[3], silent[3], repeated[3], killed[3], stepwise[3],
	refusing[3], handles[3], unread[3];

#define TTL   5000 /* ms */
#define GUARD (TTL * DLOCK_MS)
#define OLD   8 /* s: older than the guard, by more than the starts of a new set may differ */
#define TRIES 10 /* a busy machine may hold servers up, so that they become older than they should */

static client guarded(const test_server *servers, int count)
{
	return client_guarded(servers, count, READ_TIMEOUT, GUARD);
}

/* Waits until they have been up for that many seconds. Returns the uptime of the youngest. */
static int wait_for_age(test_server *servers, int count, int age)
{
	int youngest = INT_MAX;

	for (int i = 0; i < count; i++) {
		int uptime;
		while ((uptime = (int) server_info(&servers[i], "server", "uptime_in_seconds")) < age) {
			sleep_ms(50);
		}
		youngest = uptime < youngest ? uptime : youngest;
	}
	return youngest;
}

static void wait_until_old(test_server *servers, int count)
{
	wait_for_age(servers, count, OLD);
}

/* A guard that is a little shorter than the uptime of these servers, in seconds. So a server that restarts stays too
 * young for long, however busy the machine is. It is also the longest lease time that does not need a longer one. */
static int long_guard(test_server *servers, int count)
{
	return wait_for_age(servers, count, 30) - 10;
}

static const char *reason(const client *c, int server)
{
	const char *error = dlock_quorum_server_error(c->backend, server);

	return error ? error : "";
}

static bool is_called_ineligible_for(const client *c, int server, const char *time)
{
	return strstr(reason(c, server), "has been up for only ")
		&& strstr(reason(c, server), "it votes once it has been up for ")
		&& strstr(reason(c, server), time);
}

static bool is_called_ineligible(const client *c, int server, int guard)
{
	char time[64];

	snprintf(time, sizeof time, "%d s (dlock.restart_guard)", guard);
	bool good = is_called_ineligible_for(c, server, time);

	if (!good) {
		note("server %d: %s", server, reason(c, server));
	}
	return good;
}

static int holding(test_server *servers, int count, const dlock_claim *claim)
{
	int holding = 0;

	for (int i = 0; i < count; i++) {
		holding += has(&servers[i], claim);
	}
	return holding;
}

static bool eventually_free(test_server *servers, int count, const char *resource)
{
	bool good = true;

	for (int i = 0; i < count; i++) {
		good &= eventually_nobody(&servers[i], resource);
	}
	return good;
}

static bool passes_for(client *c, const char *resource, int ttl_ms, int timeout_ms)
{
	dlock_claim *claim = claim_on(c, resource, ttl_ms);
	bool acquired = acquire(c, claim, timeout_ms) == DLOCK_OK;

	return let_go(c, claim) && acquired;
}

static bool passes_briefly(client *c, const char *resource, int timeout_ms)
{
	return passes_for(c, resource, TTL, timeout_ms);
}

/* For how long both servers have been eligible, in ms, as the client's connections know it. */
static long since_eligible(const client *c, int a, int b)
{
	dlock_nanos x = client_conn(c, a)->handshake.uptime.started, y = client_conn(c, b)->handshake.uptime.started;

	return (long) ((dlock_now() - (x > y ? x : y) - GUARD) / DLOCK_MS);
}

/* ---- sets that have just started ---- */

static void test_new_sets(void)
{
	dlock_nanos now = dlock_now();
	static const struct {
		const char *text;
		int ages[3]; /* s; -1: unknown */
		int late;    /* s between the question and the reading of the answer */
		bool expected;
	} cases[] = {
		{ "all fresh, together", { 4, 8, 9 }, 0, true },
		{ "all fresh, but not together", { 3, 8, 9 }, 0, false },
		{ "one eligible", { 1, 8, 11 }, 0, false },
		{ "only one fresh", { 1, 30, 30 }, 0, false },
		{ "together, and one eligible", { 9, 8, 11 }, 0, true },
		{ "together, but one fresh", { 9, 11, 13 }, 0, true },
		{ "not together", { 9, 11, 15 }, 0, false },
		{ "one does not report its uptime", { 1, 2, -1 }, 0, false },
		{ "together, but the answers were read late", { 1, 1, 1 }, 6, false },
		{ "together, however late", { 1, 2, 2 }, 4, true },
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		dlock_uptime_rule guard;
		dlock_uptime_rule_begin(&guard, 10 * DLOCK_SECOND, DLOCK_SECOND);
		for (int k = 0; k < 3; k++) {
			dlock_nanos started = now - cases[i].ages[k] * DLOCK_SECOND;
			dlock_call call = { .state = DLOCK_CALL_ANSWERED,
				.server_started = cases[i].ages[k] < 0 ? DLOCK_START_UNKNOWN : started,
				.server_started_from = started - cases[i].late * DLOCK_SECOND };
			dlock_nanos eligible_at = dlock_uptime_rule_note(&guard, &call);
			check(cases[i].ages[k] < 0 ? eligible_at == DLOCK_FOREVER
									   : eligible_at == call.server_started + 10 * DLOCK_SECOND,
				"%s: %d", cases[i].text, k);
		}
		check(dlock_uptime_rule_is_new_set(&guard, 3) == cases[i].expected, "%s: %s", cases[i].text,
			cases[i].expected ? "a new set" : "no new set");
		check(!dlock_uptime_rule_is_new_set(&guard, 4), "%s: no new set before all have reported", cases[i].text);
	}
	dlock_uptime_rule guard;
	dlock_call call = { .state = DLOCK_CALL_ANSWERED, .server_started = now };
	dlock_uptime_rule_begin(&guard, DLOCK_SECOND, 10 * DLOCK_SECOND);
	check(dlock_uptime_rule_note(&guard, &call) == now + 10 * DLOCK_SECOND, "a longer lease time counts");
	dlock_uptime_rule_begin(&guard, 0, 10 * DLOCK_SECOND);
	check(dlock_uptime_rule_note(&guard, &call) == 0 && !dlock_uptime_rule_is_new_set(&guard, 3),
		"not if the rule is disabled");
}

/* ---- restarts ---- */

static void test_forgetful(void)
{
	int guard = long_guard(forgetful, SERVERS);
	client c = guarded(forgetful, SERVERS), waiter = guarded(forgetful, SERVERS),
		   thief = client_guarded(forgetful, SERVERS, READ_TIMEOUT, guard * DLOCK_SECOND);

	for (int way = 0; way < 2; way++) { /* over new connections, and over connections that break */
		if (way == 1) {
			wait_until_old(forgetful, SERVERS);
			passes_briefly(&thief, "connected", 0);
			passes_briefly(&waiter, "connected", 0);
		}
		dlock_claim *claim = claim_on(&c, "forgetful", TTL), *stolen = claim_on(&thief, "forgetful", TTL),
					*later = claim_on(&waiter, "forgetful", TTL);
		check(acquire(&c, claim, 60000) == DLOCK_OK, "held: %s", c.error.message);
		client_settle(&c);
		dlock_nanos restarted = dlock_now();
		for (int i = 0; i < SERVERS; i++) { /* the servers that remember had not answered in time */
			if (i < MAJORITY) {
				server_restart(&forgetful[i]);
			} else {
				server_do(&forgetful[i], "DEL " PREFIX "forgetful");
			}
		}
		dlock_status status = acquire(&thief, stolen, 0);
		check(status == DLOCK_QUORUM, "a majority that restarted empty leads to no second holder (status %d, held %d)",
			status, look(claim) == DLOCK_CLAIM_HELD);
		check(is_called_ineligible(&thief, 0, guard) && is_called_ineligible(&thief, 1, guard)
				&& is_called_ineligible(&thief, 2, guard) && !*reason(&thief, 4),
			"the errors say why");
		check(explains(&thief, "of 5 servers have no vote", "(quorum 3)"), "the message has the number of servers");
		client_settle(&thief);
		check(has_nobody(&forgetful[0], "forgetful") && has_nobody(&forgetful[2], "forgetful"),
			"the client cancels its votes");
		dlock_claim_free(stolen);

		server_do(&forgetful[0], "CONFIG RESETSTAT");
		dlock_nanos begun = dlock_now();
		status = acquire(&waiter, later, 60000);
		bool held = look(claim) == DLOCK_CLAIM_HELD;
		double waited = (double) (dlock_now() - restarted) / DLOCK_SECOND;
		check(status == DLOCK_OK && !held, "a waiter acquires it (%s), the first holder's lease has expired (held %d)",
			waiter.error.message, held);
		check(dlock_now() - restarted > GUARD - DLOCK_SECOND && waited < 60, "when the servers are old enough (%.1f s)",
			waited);
		check(server_info(&forgetful[0], "commandstats", "cmdstat_evalsha:calls")
				< 40 + 20 * (dlock_now() - begun) / DLOCK_SECOND,
			"the waiter does not ask all the time");
		dlock_claim_abandon(later);
		dlock_claim_free(later);
		dlock_claim_abandon(claim);
		dlock_claim_free(claim);
		client_settle(&c);
		client_settle(&waiter);
		check(eventually_free(forgetful, SERVERS, "forgetful"), "nothing is left");
	}
	client_free(&c);
	client_free(&waiter);
	client_free(&thief);
}

static void test_minority(void)
{
	int guard = long_guard(minority, 3), ttl = guard * 1000;
	client c = client_guarded(minority, 3, READ_TIMEOUT, guard * DLOCK_SECOND);
	dlock_claim *claim = claim_on(&c, "minority", ttl);

	check(passes_for(&c, "warm", ttl, 0), "warm");
	server_restart(&minority[0]);
	check(acquire(&c, claim, 0) == DLOCK_OK, "two old servers of three are enough: %s", c.error.message);
	client_settle(&c);
	check(is_called_ineligible(&c, 0, guard) || !*reason(&c, 0), "the fresh server is not counted, or answered later");
	check(holding(minority, 3, claim) == 3, "it has the lock, too");
	server_do(&minority[1], "DEL " PREFIX "minority");
	check(dlock_claim_check(claim, &c.error) == DLOCK_OK && extend(&c, claim, ttl) == DLOCK_OK,
		"it counts for checks and extensions: %s", c.error.message);
	check(let_go(&c, claim), "it counts for releases");
	client_settle(&c);
	check(eventually_free(minority, 3, "minority"), "the lock is free on all servers");

	server_kill(&minority[1]);
	claim = claim_on(&c, "minority", ttl);
	dlock_nanos start = dlock_now();
	check(acquire(&c, claim, 0) == DLOCK_QUORUM && is_called_ineligible(&c, 0, guard)
			&& strstr(reason(&c, 1), "refused"),
		"one old, one fresh and one dead server do not suffice");
	check(acquire(&c, claim, 300) == DLOCK_QUORUM && dlock_now() - start >= 300 * DLOCK_MS,
		"they do not suffice within 300 ms: %s", c.error.message);
	server_kill(&minority[2]);
	start = dlock_now();
	check(acquire(&c, claim, 60000) == DLOCK_QUORUM && dlock_now() - start < SOON,
		"the client does not wait for two dead servers");
	dlock_claim_free(claim);
	client_free(&c);
	server_restart(&minority[2]);
	c = guarded(minority, 3);
	/* On a busy machine the server that has just started may answer late, and count as dead. */
	bool passed = false;
	for (int i = 0; i < 20 && !passed; i++) {
		passed = passes_briefly(&c, "minority", 60000);
	}
	check(passed, "while one server is dead, the client waits for two that restarted: %s", c.error.message);
	check(server_info(&minority[2], "server", "uptime_in_seconds") >= TTL / 1000 - 1,
		"it waits until they are old enough");
	client_free(&c);
}

static void restart_all(test_server *servers, int count)
{
	for (int i = 0; i < count; i++) {
		server_restart(&servers[i]);
	}
}

/* Servers that start within 5 s of one another are a new set. If a busy machine starts or asks one later, they start
 * again. */
static bool restart_together(test_server *servers, int count, client *clients, int ttl_ms)
{
	for (int tries = 0; tries < TRIES; tries++) {
		restart_all(servers, count);
		if (passes_for(&clients[0], "together", ttl_ms, 0) && passes_for(&clients[1], "together", ttl_ms, 0)) {
			return true;
		}
	}
	return false;
}

/* If all servers have just started, all vote, if they can be reached. */
static void test_set(void)
{
	enum { LONG = 60 };
	client clients[] = { client_guarded(set, 3, READ_TIMEOUT, LONG * DLOCK_SECOND),
		client_guarded(set, 3, READ_TIMEOUT, LONG * DLOCK_SECOND) }, c = clients[0], other = clients[1],
		   later = guarded(set, 3);

	wait_until_old(set, 3);
	passes_for(&c, "connected", LONG * 1000, 0);
	check(restart_together(set, 3, clients, LONG * 1000), "a set that has just started votes: %s",
		clients[0].error.message);
	for (int i = 0; i < 20; i++) {
		if (!passes_for(&c, "set", LONG * 1000, 0)) {
			check(false, "it votes again and again: %s", c.error.message);
			break;
		}
	}
	dlock_claim *claim = claim_on(&c, "set", LONG * 1000), *denied = claim_on(&other, "set", LONG * 1000);
	check(acquire(&c, claim, 0) == DLOCK_OK && acquire(&other, denied, 0) == DLOCK_TIMEOUT,
		"it votes for one client at a time: %s", other.error.message);
	check(acquire(&other, denied, 100) == DLOCK_TIMEOUT && let_go(&c, claim), "released");
	check(acquire(&other, denied, 60000) == DLOCK_OK && let_go(&other, denied), "the next client acquires it");
	client_settle(&c);
	client_settle(&other);
	check(eventually_free(set, 3, "set"), "nothing is left");
	server_kill(&set[1]);
	claim = claim_on(&c, "set", LONG * 1000);
	check(acquire(&c, claim, 0) == DLOCK_QUORUM
			&& (is_called_ineligible(&c, 0, LONG) || is_called_ineligible(&c, 2, LONG)),
		"a set does not vote if one server is out of reach: %s",
		c.error.message); /* the other server may be slower than the decision */
	dlock_claim_free(claim);
	claim = claim_on(&later, "set", TTL);
	dlock_status status = DLOCK_TIMEOUT;
	for (int tries = 0; tries < TRIES && status != DLOCK_OK; tries++) { /* a server may be held up for the lease time */
		status = acquire(&later, claim, 60000);
	}
	long late = since_eligible(&later, 0, 2);
	check(status == DLOCK_OK, "its servers vote later: %s", later.error.message);
	check(late >= 0 && late < SOON / DLOCK_MS, "they vote as soon as both are old enough (%ld ms later)", late);
	check(server_info(&set[0], "server", "uptime_in_seconds") >= TTL / 1000 - 1, "when they are old enough");
	dlock_claim_abandon(claim);
	dlock_claim_free(claim);
	client_free(&c);
	client_free(&other);
	client_free(&later);
}

/* In a set that has just started, one server has the lock for another client. That client acquired it after the start,
 * so the other servers may have had it, too, and forgotten it. */
static void test_refusing(void)
{
	enum { LONG = 60000 };
	client clients[] = { guarded(refusing, 3), guarded(refusing, 3) }, c = clients[0], thief = clients[1];
	dlock_claim *claim = claim_on(&c, "refusing", LONG), *stolen = claim_on(&thief, "refusing", LONG);

	check(restart_together(refusing, 3, clients, LONG), "a new set");
	server_do(&refusing[2], "SET " PREFIX "refusing other");
	check(acquire(&c, claim, 0) == DLOCK_TIMEOUT, "two yes and a no of a new set do not suffice: %s", c.error.message);
	check(!*reason(&c, 2)
			&& (is_called_ineligible_for(&c, 0, "60 s (the lease time asked for)")
				|| is_called_ineligible_for(&c, 1, "60 s (the lease time asked for)")),
		"the error names a server without a vote"); /* the other server may be slower than the decision */
	client_settle(&c);
	check(has_nobody(&refusing[0], "refusing") && has_nobody(&refusing[1], "refusing"), "the client cancels its votes");
	server_do(&refusing[2], "PEXPIRE " PREFIX "refusing 500");
	dlock_nanos start = dlock_now();
	check(acquire(&c, claim, 60000) == DLOCK_OK && holding(refusing, 3, claim) == 3, "three yes suffice: %s",
		c.error.message);
	check(dlock_now() - start < SOON, "the waiter acquires it when the last server is free");
	server_restart(&refusing[0]);
	dlock_status status = acquire(&thief, stolen, 0);
	check(status != DLOCK_OK && look(claim) == DLOCK_CLAIM_HELD,
		"there is no second holder if one of them forgets (status %d)", status);
	dlock_claim_free(stolen);
	check(let_go(&c, claim), "released");

	/* The sequence that would follow if the client acquired the lock in the first part. */
	check(restart_together(refusing, 3, clients, LONG), "a new set");
	claim = claim_on(&c, "refusing", LONG);
	stolen = claim_on(&thief, "refusing", LONG);
	server_do(&refusing[2], "SET " PREFIX "refusing other");
	bool held = acquire(&c, claim, 0) == DLOCK_OK;
	server_restart(&refusing[0]);
	server_do(&refusing[2], "DEL " PREFIX "refusing");
	status = acquire(&thief, stolen, 0);
	held = held && look(claim) == DLOCK_CLAIM_HELD;
	check(
		!held || status != DLOCK_OK, "two votes of a new set do not lead to two holders (%d, status %d)", held, status);
	dlock_claim_abandon(claim);
	dlock_claim_abandon(stolen);
	dlock_claim_free(claim);
	dlock_claim_free(stolen);
	client_free(&c);
	client_free(&thief);
}

/* The first server restarts a guard before the lock is acquired, the others after that. Uptimes are whole seconds, so
 * all servers may still seem too young to vote. Returns false if the restarts took longer than the lease lasts, as on a
 * busy machine. */
static bool acquire_stepwise(client *c, client *thief, dlock_nanos guard)
{
	dlock_claim *claim = claim_on(c, "stepwise", TTL), *stolen = claim_on(thief, "stepwise", TTL);

	wait_until_old(stepwise, 3);
	server_restart(&stepwise[0]);
	sleep_ms((int) (guard / DLOCK_MS) + 200);
	dlock_nanos begun = dlock_now();
	dlock_status acquired = acquire(c, claim, 2000);
	client_settle(c);
	server_do(&stepwise[0], "DEL " PREFIX "stepwise"); /* it had not answered in time */
	server_restart(&stepwise[1]);
	server_restart(&stepwise[2]);
	dlock_status status = acquire(thief, stolen, 0);
	bool in_time = dlock_now() - begun < GUARD * 9 / 10;
	if (in_time) {
		check(acquired == DLOCK_OK, "the two old servers have it: %s", c->error.message);
		check(status == DLOCK_QUORUM, "there is no second holder (status %d)", status);
	}
	dlock_claim_abandon(claim);
	dlock_claim_abandon(stolen);
	client_settle(c);
	client_settle(thief);
	dlock_claim_free(claim);
	dlock_claim_free(stolen);
	return in_time;
}

static void test_stepwise(void)
{
	const dlock_nanos guard = 8 * DLOCK_SECOND;
	client c = client_guarded(stepwise, 3, READ_TIMEOUT, guard),
		   thief = client_guarded(stepwise, 3, READ_TIMEOUT, guard);
	int tries = 0;

	while (!acquire_stepwise(&c, &thief, guard) && ++tries < TRIES) {
	}
	check(tries < TRIES, "the machine is not too busy for that");
	client_free(&c);
	client_free(&thief);
}

/* ---- the cost ---- */

static long long questions(test_server *server)
{
	return server_info(server, "commandstats", "cmdstat_info:calls");
}

static void test_cost(void)
{
	client off = client_quorum(quiet, 3, READ_TIMEOUT), on = guarded(quiet, 3);
	int bad = 0;

	wait_until_old(quiet, 3);
	for (int i = 0; i < 3; i++) {
		server_do(&quiet[i], "CONFIG RESETSTAT");
	}
	for (int i = 0; i < 20; i++) {
		bad += !passes_briefly(&off, "cost", 0);
	}
	client_settle(&off);
	check(bad == 0 && questions(&quiet[0]) == 0, "a disabled rule asks nothing");
	server_do(&quiet[0], "CONFIG RESETSTAT");
	for (int i = 0; i < 20; i++) {
		bad += !passes_briefly(&on, "cost", 60000);
	}
	dlock_claim *claim = claim_on(&off, "cost", 60000), *waiter = claim_on(&on, "cost", TTL);
	check(
		acquire(&off, claim, 0) == DLOCK_OK && acquire(&on, waiter, 100) == DLOCK_TIMEOUT, "a waiter opens its inbox");
	check(let_go(&off, claim), "released");
	dlock_claim_free(waiter);
	client_settle(&on);
	long long asked = questions(&quiet[0]);
	check(bad == 0 && asked == 1, "the rule asks once for each connection, except inboxes (%lld)", asked);
	client_free(&off);
	client_free(&on);
}

/* ---- servers that do not report their uptime ---- */

static void test_silent(void)
{
	client c = guarded(silent, 3);
	dlock_claim *claim = claim_on(&c, "silent", TTL);

	for (int i = 0; i < 3; i++) {
		server_do(&silent[i], "ACL SETUSER locks on >" SECRET " ~* &* +@all %s", i < 2 ? "-info" : "+info");
	}
	char text[3][80];
	const char *dsns[3];
	for (int i = 0; i < 3; i++) {
		snprintf(text[i], sizeof text[i], "redis://locks:" SECRET "@127.0.0.1:%d", silent[i].port);
		dsns[i] = text[i];
	}
	dlock_claim_free(claim);
	client_free(&c);
	wait_until_old(silent, 3);
	c = client_guarded_at(dsns, 3, GUARD);
	claim = claim_on(&c, "silent", TTL);
	dlock_nanos start = dlock_now();
	check(acquire(&c, claim, 60000) == DLOCK_QUORUM && dlock_now() - start < SOON,
		"without +info a server does not vote, however long the client waits");
	for (int i = 0; i < 2; i++) {
		check(strstr(reason(&c, i), "NOPERM") && strstr(reason(&c, i), "+info")
				&& strstr(reason(&c, i), "dlock.restart_guard=0"),
			"%s", reason(&c, i));
	}
	client_settle(&c);
	check(eventually_free(silent, 3, "silent"), "nothing is left");
	server_do(&silent[0], "ACL SETUSER locks +info");
	check(acquire(&c, claim, 60000) == DLOCK_OK && let_go(&c, claim),
		"a server votes after the user is allowed INFO: %s", c.error.message);
	check(dlock_pool_opened(c.pool) == 3, "over the same connection (%lu)", dlock_pool_opened(c.pool));
	client_free(&c);
	c = client_quorum_at(dsns, 3);
	check(passes_briefly(&c, "silent", 0), "a disabled rule needs no INFO");
	client_free(&c);
}

/* ---- reconnecting ---- */

/* A relay, and another server's port. */
typedef struct {
	relay relay;
	int next;
} replaced;

static void *replace_when_asked(void *context)
{
	replaced *server = context;

	eventually(is_stopped, &server->relay);
	atomic_store(&server->relay.server_port, server->next);
	atomic_store(&server->relay.cut, 1);
	while (atomic_load(&server->relay.cut)) {
		sleep_ms(1);
	}
	atomic_store(&server->relay.stop, NULL);
	return NULL;
}

/* The server is replaced while it is asked. The client asks again, and the vote is the new server's. */
static void test_repeated(void)
{
	replaced first;
	static test_server fresh;
	pthread_t replacer;

	int guard = long_guard(repeated, 3), ttl = guard * 1000;
	server_start(&fresh, NULL);
	first.next = fresh.port;
	client c = client_guarded_by_relays(repeated, 3, &first.relay, 0, 1, "", guard * DLOCK_SECOND);
	check(passes_for(&c, "warm", ttl, 0), "warm: %s", c.error.message);
	client_settle(&c);
	server_kill(&repeated[1]); /* so that the replaced server's vote is needed */
	unsigned long opened = client_conn(&c, 0)->generation;
	atomic_store(&first.relay.stop, PREFIX "repeated");
	pthread_create(&replacer, NULL, replace_when_asked, &first);
	dlock_claim *claim = claim_on(&c, "repeated", ttl);
	dlock_status status = acquire(&c, claim, 0);
	check(client_conn(&c, 0)->generation == opened + 1, "the server is replaced while it is asked");
	check(status == DLOCK_QUORUM && is_called_ineligible(&c, 0, guard),
		"the new server is fresh, so its vote does not count (status %d)", status);
	pthread_join(replacer, NULL);
	client_settle(&c);
	check(eventually_nobody(&fresh, "repeated"), "its vote is cancelled");
	dlock_claim_free(claim);
	client_free(&c);
	relay_end(&first.relay);
}

/* A handle was used. A server that knows this restarts with the key of long ago. */
static void test_handles(void)
{
	static const char old_token[] = "0123456789abcdef0123456789abcdef";
	int guard = long_guard(handles, 3), ttl = guard * 1000;
	client c = client_guarded(handles, 3, READ_TIMEOUT, guard * DLOCK_SECOND);
	dlock_claim *holder = claim_on(&c, "handles", ttl), *claim = claim_on(&c, "handles", ttl);

	check(passes_for(&c, "warm", ttl, 0), "warm");
	server_do(&handles[0], "SET " PREFIX "handles %s PX 600000",
		old_token); /* this server has missed that the handle was used */
	check(acquire(&c, holder, 0) == DLOCK_OK, "a client holds it on the other two servers");
	client_settle(&c);
	server_restart(&handles[1]);
	server_do(&handles[1], "SET " PREFIX "handles %s PX 600000", old_token);
	dlock_status status = dlock_claim_attach(claim, old_token, &c.error);
	check(status == DLOCK_QUORUM && is_called_ineligible(&c, 1, guard),
		"a claim cannot attach by the handle (status %d: %s)", status, c.error.message);
	client_settle(&c);
	check(!has(&handles[0], claim) && !has(&handles[1], claim) && has(&handles[2], holder), "no key is changed");
	dlock_claim_abandon(holder);
	dlock_claim_free(holder);
	client_settle(&c);

	server_do(&handles[2], "SET " PREFIX "handles %s PX 600000", old_token);
	check(
		dlock_claim_attach(claim, old_token, &c.error) == DLOCK_OK, "with two old servers it can: %s", c.error.message);
	client_settle(&c);
	check(holding(handles, 3, claim) == 3, "the fresh server has the new key, too");
	check(let_go(&c, claim), "released");
	client_settle(&c);
	check(eventually_free(handles, 3, "handles"), "the lock is free on all servers");
	client_free(&c);
}

static bool knows_uptime(const client *c, int server)
{
	return client_conn(c, server)->handshake.uptime.started != DLOCK_START_UNKNOWN;
}

/* A client reads with its next lock how long the third server has been up, seconds after the server has said it. By
 * then the other servers have been restarted. Returns false if a busy machine took too long. */
static bool reads_late(void)
{
	relay relay;

	wait_until_old(unread, 3);
	server_restart(&unread[2]);
	client c = guarded(unread, 3), thief = client_guarded_by_relays(unread, 3, &relay, 2, 1, "", GUARD);
	dlock_claim *claim = claim_on(&c, "unread", TTL), *stolen = claim_on(&thief, "unread", TTL);
	atomic_store(&relay.delay_ms, 1000);
	bool in_time = passes_briefly(&thief, "first", 0) && knows_uptime(&thief, 0) && !knows_uptime(&thief, 2);
	if (in_time) { /* a lock was acquired and released before the third server answers */
		wait_until_old(unread, 3);
		dlock_nanos begun = dlock_now();
		atomic_store(&relay.delay_ms, 0);
		dlock_status acquired = acquire(&c, claim, 0);
		client_settle(&c);
		server_do(&unread[2], "DEL " PREFIX "unread"); /* it had not answered in time */
		restart_all(unread, 2);
		dlock_status status = acquire(&thief, stolen, 0);
		/* A server whose answer was read late seems younger than it is. */
		in_time = dlock_now() - begun < GUARD - DLOCK_SECOND && acquired == DLOCK_OK && !*reason(&thief, 2);
		if (in_time) { /* another client holds a lock, and the old server has its vote */
			check(status == DLOCK_QUORUM
					&& (is_called_ineligible(&thief, 0, TTL / 1000) || is_called_ineligible(&thief, 1, TTL / 1000)),
				"the old server does not pass as one of a new set (status %d, held %d)", status,
				look(claim) == DLOCK_CLAIM_HELD);
		}
	}
	dlock_claim_abandon(stolen);
	dlock_claim_free(stolen);
	dlock_claim_abandon(claim);
	dlock_claim_free(claim);
	client_free(&c);
	client_free(&thief);
	relay_end(&relay);
	return in_time;
}

static void test_unread(void)
{
	int tries = 0;

	while (!reads_late() && ++tries < TRIES) {
	}
	check(tries < TRIES, "the machine is not too busy for that");
}

static void test_killed(void)
{
	int guard = long_guard(killed, 3), bad = 0;
	client c = client_guarded(killed, 3, READ_TIMEOUT, guard * DLOCK_SECOND);

	server_kill(&killed[2]); /* so that both other servers are needed */
	server_do(&killed[0], "CONFIG RESETSTAT");
	for (int i = 0; i < 10; i++) {
		for (int k = 0; k < 2; k++) {
			server_do(&killed[k], "CLIENT KILL TYPE normal SKIPME yes");
		}
		bad += !passes_for(&c, "killed", guard * 1000, 0);
	}
	check(bad == 0, "an old server votes over each new connection (%d did not: %s)", bad, c.error.message);
	long long asked = questions(&killed[0]);
	check(asked == 10, "each connection asks its uptime (%lld)", asked);
	client_free(&c);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
		test_server *servers;
		int count;
	} tests[] = {
		{ "new sets", test_new_sets, NULL, 0 },
		{ "cost", test_cost, quiet, 3 },
		{ "silent", test_silent, silent, 3 },
		{ "unread", test_unread, unread, 3 },
		{ "set", test_set, set, 3 },
		{ "refusing", test_refusing, refusing, 3 },
		{ "stepwise", test_stepwise, stepwise, 3 },
		/* With a long guard: the older the servers are, the longer it is. */
		{ "killed", test_killed, killed, 3 },
		{ "repeated", test_repeated, repeated, 3 },
		{ "handles", test_handles, handles, 3 },
		{ "minority", test_minority, minority, 3 },
		{ "forgetful", test_forgetful, forgetful, SERVERS },
	};
	enum { TESTS = sizeof tests / sizeof *tests };

	signal(SIGPIPE, SIG_IGN); /* as in PHP */
	dlock_process_init();
	for (int start = 1; start >= 0; start--) {
		for (size_t i = 0; i < TESTS; i++) {
			if (argc > 1 && !strstr(tests[i].name, argv[1])) {
				continue;
			}
			if (start) {
				servers_start(tests[i].servers, tests[i].count);
			} else {
				note("%s", tests[i].name);
				tests[i].run();
			}
		}
	}
	return tap_end();
}
