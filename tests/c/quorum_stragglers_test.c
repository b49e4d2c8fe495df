/* What comes late or twice to the quorum back end: votes of stragglers, and requests whose connection breaks. Prints
 * TAP. */

#include <unistd.h>

#include "helpers.h"
#include "quorum_servers.h"
#include "upkeep.h"

#include "../../src/lock/renewal_list.h"
#include "../../src/redis/redlock/quorum_internal.h"

/* ---- stragglers ---- */

static void test_straggler(void)
{
	static const char *ends[] = { "released", "abandoned", "released after its vote",
		"released by a process that ends" };

	for (int way = 0; way < 4; way++) {
		client c = client_quorum(servers, SERVERS, READ_TIMEOUT);
		check(warm_all(&c), "warm");
		dlock_claim *claim = claim_on(&c, "straggler", 60000);
		server_freeze(&servers[3]);
		check(acquire(&c, claim, 0) == DLOCK_OK, "acquired without the straggler");
		if (way == 2) {
			server_thaw(&servers[3]);
			check(is_everywhere("straggler"), "it votes later");
		}
		if (way == 1) {
			dlock_claim_abandon(claim);
		} else {
			check(release(&c, claim) == DLOCK_OK, "released");
		}
		dlock_claim_free(claim);
		if (way == 3) {
			client_free(&c);
		}
		server_thaw(&servers[3]);
		check(way == 2 || eventually_fenced(&servers[3]), "the straggler votes");
		check(eventually_nowhere("straggler"), "%s: no vote is left", ends[way]);
		if (way != 3) {
			client_free(&c);
		}
	}
}

/* If a server needs the whole script, the client asks for its vote again. That must not happen after the release. */
static void test_straggler_asked_again(void)
{
	client c = client_quorum(servers, SERVERS, READ_TIMEOUT);
	dlock_claim *claim = claim_on(&c, "again", 60000);

	check(warm_all(&c), "warm");
	server_do(&servers[3], "SCRIPT FLUSH");
	server_do(&servers[3], "SCRIPT LOAD %s", dlock_scripts[DLOCK_SCRIPT_RELEASE].source);
	server_freeze(&servers[3]);
	check(acquire(&c, claim, 0) == DLOCK_OK && let_go(&c, claim), "passed without the straggler");
	server_thaw(&servers[3]);
	client_settle(&c);
	check(taken("again") == 0, "the straggler has no vote");
	client_free(&c);
}

/* The number of waiters at a server. */
static long long waiting_at(int server, const char *resource)
{
	return server_integer(&servers[server], "ZCARD dlock:queue:{" PREFIX "%s}", resource);
}

static bool is_waiting_at_all(void *resource)
{
	int waiting = 0;

	for (int i = 0; i < SERVERS; i++) {
		waiting += waiting_at(i, resource) == 1;
	}
	return waiting == SERVERS;
}

typedef struct {
	_Atomic int acquired, thawed, drained, end;
} meeting;

static void wait_while(_Atomic int *flag)
{
	while (!atomic_load(flag)) {
		sleep_ms(2);
	}
}

/* The client must not ask again after the waiter has left the queue, because it would queue for no waiter. The last
 * server has the lock for another client, and is late when the others hand it over. */
static void test_straggler_behind_leave(void)
{
	client c = client_quorum(servers, SERVERS, READ_TIMEOUT);
	dlock_claim *claim = claim_on(&c, "left", 60000);
	meeting *meeting = shared_memory(sizeof *meeting);

	check(warm_all(&c), "warm");
	server_do(&servers[4], "SET " PREFIX "left foreign");
	check(acquire(&c, claim, 0) == DLOCK_OK, "held by four of five");
	pid_t pid = fork_child();
	if (pid == 0) {
		client own = client_quorum(servers, SERVERS, READ_TIMEOUT);
		dlock_claim *waiter = claim_on(&own, "left", 60000);
		atomic_store(&meeting->acquired, acquire(&own, waiter, 60000) == DLOCK_OK ? 1 : -1);
		wait_while(&meeting->thawed);
		client_settle(&own);
		atomic_store(&meeting->drained, 1);
		wait_while(&meeting->end);
		_exit(!let_go(&own, waiter));
	}
	check(eventually(is_waiting_at_all, "left"), "a waiter is in the queue of all servers");
	server_do(&servers[4], "SCRIPT FLUSH");
	server_freeze(&servers[4]);
	check(let_go(&c, claim), "released");
	wait_while(&meeting->acquired);
	check(atomic_load(&meeting->acquired) == 1, "the waiter acquires it from the other servers");
	server_thaw(&servers[4]);
	atomic_store(&meeting->thawed, 1);
	wait_while(&meeting->drained);
	check(waiting_at(4, "left") == 0, "the late server has no waiter in its queue (%lld)", waiting_at(4, "left"));
	atomic_store(&meeting->end, 1);
	check(exit_of(pid) == 0, "released");
	client_free(&c);
}

/* The client has never been connected to the straggler. What it asks depends on when it is connected. */
static void test_unconnected_straggler(void)
{
	client c = client_quorum(servers, SERVERS, READ_TIMEOUT);

	check(warm_all(&c), "warm");
	client_free(&c);
	server_freeze(&servers[3]);
	c = client_quorum(servers, SERVERS, READ_TIMEOUT);
	check(passes(&c, "straggler", 0), "passes without it");
	server_thaw(&servers[3]);
	client_settle(&c);
	check(eventually_nowhere("straggler"), "nothing is left");
	client_free(&c);
}

/* ---- requests whose connection breaks ---- */

/* Breaks the connection. The next use opens a new one. */
static void break_and_use(relay *relay, client *c)
{
	atomic_store(&relay->cut, 1);
	while (atomic_load(&relay->cut)) {
		sleep_ms(1);
	}
	atomic_store(&relay->stop, NULL);
	check(passes(c, "other", 0), "over a new connection");
	client_settle(c);
}

/* Two extensions must not change places. */
static void test_extension_not_repeated(void)
{
	enum { LONG = 600000, SHORT = 60000 };
	relay relay;
	client c = client_by_relay(&relay, dlock_scripts[DLOCK_SCRIPT_EXTEND].source);
	dlock_claim *claim = claim_on(&c, "extended", LONG);

	check(acquire(&c, claim, 0) == DLOCK_OK && is_everywhere("extended"), "held everywhere");
	check(extend(&c, claim, SHORT) == DLOCK_OK && extend(&c, claim, LONG) == DLOCK_OK,
		"a shorter time, and the full one again");
	break_and_use(&relay, &c);
	long long pttl = server_integer(&servers[SERVERS - 1], "PTTL " PREFIX "extended");
	check(pttl > SHORT, "the shorter extension does not come late (%lld ms are left)", pttl);
	check(let_go(&c, claim), "released");
	client_free(&c);
	relay_end(&relay);
}

static bool has_executed_extension(void *context)
{
	(void) context;
	return server_info(&servers[SERVERS - 1], "commandstats", "cmdstat_eval:calls") > 0;
}

/* A late server does not know the script, so the client must send the acquire again. Meanwhile it has asked for a
 * shorter lease time, which must remain. */
static void test_straggler_behind_extension(void)
{
	enum { SHORT = 60000 };
	relay relay;
	client c = client_by_relay(&relay, dlock_scripts[DLOCK_SCRIPT_ACQUIRE].sha1);
	dlock_claim *claim = claim_on(&c, "overtaken", 600000);

	server_do(&servers[SERVERS - 1], "SCRIPT FLUSH");
	server_do(&servers[SERVERS - 1], "CONFIG RESETSTAT");
	check(acquire(&c, claim, 0) == DLOCK_OK && extend(&c, claim, SHORT) == DLOCK_OK,
		"held by the other servers, and for a shorter time");
	atomic_store(&relay.stop, NULL);
	while (!has_executed_extension(NULL)) {
		client_settle(&c);
	}
	client_settle(&c);
	long long left = server_integer(&servers[SERVERS - 1], "PTTL " PREFIX "overtaken");
	check(left <= SHORT, "the late server does not have it for longer (%lld ms)", left);
	check(let_go(&c, claim), "released");
	client_free(&c);
	relay_end(&relay);
}

/* The last server is reached over a new connection. What was held up on the earlier one stays held up. */
static void connect_again(relay *relay, client *c)
{
	check(eventually(is_stopped, relay), "a request is held up");
	dlock_conn_close(client_conn(c, SERVERS - 1));
	atomic_store(&relay->stop, "no request has this word");
}

/* Without the first two servers, a majority needs the last one. */
static void freeze_two(bool freezes)
{
	(freezes ? server_freeze : server_thaw)(&servers[0]);
	(freezes ? server_freeze : server_thaw)(&servers[1]);
}

static bool has_short_time(void *most)
{
	long long left = server_integer(&servers[SERVERS - 1], "PTTL " PREFIX "late");

	return left > 0 && left <= *(const long *) most;
}

/* The last server may execute a request for a shorter lease time after the longer one, over another connection. */
static void test_shorter_time_comes_late(void)
{
	static const char *ways[] = { "an extension", "the acquire", "an extension, before a check" };
	enum { SHORT = 60000, LONG = 600000 };
	long most = SHORT;
	relay relay;

	for (int way = 0; way < 3; way++) {
		client c = client_by_relay(&relay, NULL);
		dlock_claim *claim = claim_on(&c, "late", way == 1 ? SHORT : LONG);
		check(way == 1 || (acquire(&c, claim, 0) == DLOCK_OK && is_everywhere("late")), "held everywhere");
		atomic_store(&relay.stop,
			way == 1 ? dlock_scripts[DLOCK_SCRIPT_ACQUIRE].sha1 : dlock_scripts[DLOCK_SCRIPT_EXTEND].source);
		check((way == 1 ? acquire(&c, claim, 0) : extend(&c, claim, SHORT)) == DLOCK_OK, "%s: a majority answers",
			ways[way]);
		connect_again(&relay, &c);
		if (way == 1) { /* as a repair */
			server_do(&servers[SERVERS - 1], "SET " PREFIX "late %s PX %d", claim->token, LONG);
		}
		for (int i = 0; way == 2 && i < SERVERS; i++) { /* as an extension of which the client has no answer */
			server_do(&servers[i], "PEXPIRE " PREFIX "late %d", LONG);
		}
		freeze_two(true);
		check((way == 2 ? dlock_claim_check(claim, &c.error) : extend(&c, claim, LONG)) == DLOCK_OK,
			"%s: then a majority with the last server: %s", ways[way], c.error.message);
		freeze_two(false);
		atomic_store(&relay.stop, NULL);
		check(eventually(has_short_time, &most), "%s: it comes late", ways[way]);
		check(left_ms(claim) <= SHORT, "%s: the holder relies on no more (%ld ms)", ways[way], left_ms(claim));
		client_settle(&c);
		server_freeze(&servers[SERVERS - 1]);
		check(extend(&c, claim, LONG) == DLOCK_OK && left_ms(claim) > SHORT,
			"%s: it relies on other servers for longer (%ld ms)", ways[way], left_ms(claim));
		server_thaw(&servers[SERVERS - 1]);
		check(let_go(&c, claim), "released");
		client_free(&c);
		relay_end(&relay);
	}
}

/* So may it after a renewal, of which the holder knows no more than that it was kept. */
static void test_shorter_time_after_renewal(void)
{
	enum { SHORT = 60000, LONG = 600000 };
	relay relay;
	client c = client_by_relay(&relay, NULL);
	dlock_claim *claim = claim_on(&c, "late", LONG);

	check(acquire(&c, claim, 0) == DLOCK_OK && is_everywhere("late"), "held everywhere");
	atomic_store(&relay.stop, dlock_scripts[DLOCK_SCRIPT_EXTEND].source);
	check(extend(&c, claim, SHORT) == DLOCK_OK, "a majority answers");
	connect_again(&relay, &c);
	check(extend(&c, claim, LONG) == DLOCK_OK, "then all of them");
	dlock_nanos deadline = claim->deadline;
	check(dlock_renewal_begin(claim, &RENEW, &c.error) == DLOCK_OK && claim->renewal->ttl == LONG * DLOCK_MS,
		"the whole time is requested");
	freeze_two(true);
	check(renews(claim) && claim->deadline == deadline, "a majority with the last server gives no more time");
	freeze_two(false);
	server_freeze(&servers[SERVERS - 1]);
	check(extend(&c, claim, LONG) == DLOCK_OK, "the others give it");
	deadline = claim->deadline;
	check(renews(claim) && claim->deadline > deadline, "to a renewal, too");
	server_thaw(&servers[SERVERS - 1]);
	atomic_store(&relay.stop, NULL);
	check(let_go(&c, claim), "released");
	client_free(&c);
	relay_end(&relay);
}

/* The last server lacks the script of an acquire that was sent again. A check must not make the client forget it: it
 * would send the script after the release. */
static void test_checked_straggler(void)
{
	relay relay;
	client c = client_by_relay(&relay, dlock_scripts[DLOCK_SCRIPT_ACQUIRE].sha1);
	dlock_claim *claim = claim_on(&c, "checked", 60000);

	server_do(&servers[SERVERS - 1], "SCRIPT FLUSH");
	check(acquire(&c, claim, 0) == DLOCK_OK && eventually(is_stopped, &relay), "held by the others");
	atomic_store(&relay.cut, 1);
	for (int i = 0; i < 20; i++) {
		check(dlock_claim_check(claim, &c.error) == DLOCK_OK, "checked");
		sleep_ms(10);
	}
	check(release(&c, claim) == DLOCK_OK, "released");
	dlock_claim_free(claim);
	atomic_store(&relay.stop, NULL);
	client_settle(&c);
	check(taken("checked") == 0, "no server has it");
	client_free(&c);
	relay_end(&relay);
}

/* Over one connection, the server executes the requests in their order. But the renewal thread has its own. */
static void test_shorter_time_in_front(void)
{
	enum { SHORT = 60000, LONG = 600000 };
	client c = client_quorum(servers, SERVERS, READ_TIMEOUT);
	dlock_claim *claim = claim_on(&c, "front", LONG);

	check(warm_all(&c) && acquire(&c, claim, 0) == DLOCK_OK && is_everywhere("front"), "held everywhere");
	client_settle(&c);
	server_freeze(&servers[SERVERS - 1]);
	check(extend(&c, claim, SHORT) == DLOCK_OK && extend(&c, claim, LONG) == DLOCK_OK, "a shorter time, and a longer");
	check(left_ms(claim) > SHORT, "the holder relies on the longer one (%ld ms)", left_ms(claim));
	check(claim->unacknowledged_ttl == SHORT * DLOCK_MS, "a server has not answered");
	server_thaw(&servers[SERVERS - 1]);
	client_settle(&c);
	check(dlock_claim_check(claim, &c.error) == DLOCK_OK && left_ms(claim) > SHORT, "nor do checks shorten it");
	for (int tries = 0; tries < 10 && claim->unacknowledged_ttl != 0; tries++) { /* now another server may be late */
		client_settle(&c);
		check(extend(&c, claim, LONG) == DLOCK_OK, "extended");
	}
	check(claim->unacknowledged_ttl == 0, "it has answered");
	check(let_go(&c, claim), "released");
	client_free(&c);
}

typedef struct {
	const char *dsns[SERVERS];
	bool acquired, released;
} holder;

static void *hold_and_release(void *context)
{
	holder *holder = context;
	client own = client_quorum_at(holder->dsns, SERVERS);
	dlock_claim *claim = claim_on(&own, "released", 60000);

	holder->acquired = acquire(&own, claim, 0) == DLOCK_OK;
	holder->released = release(&own, claim) == DLOCK_OK && look(claim) == DLOCK_CLAIM_RELEASED;
	dlock_claim_free(claim);
	client_free(&own);
	return NULL;
}

/* The network breaks after a release. The repeated release finds that the first one was executed. */
static void test_release_repeated(void)
{
	relay relays[SERVERS];
	char text[SERVERS][64];
	holder holder;
	pthread_t thread;

	for (int i = 0; i < SERVERS; i++) {
		relay_start(&relays[i], servers[i].port);
		snprintf(text[i], sizeof text[i], "redis://127.0.0.1:%d", relays[i].port);
		holder.dsns[i] = text[i];
		atomic_store(&relays[i].swallow, dlock_scripts[DLOCK_SCRIPT_RELEASE].source);
	}
	pthread_create(&thread, NULL, hold_and_release, &holder);
	for (int i = 0; i < SERVERS; i++) {
		check(eventually(has_swallowed, &relays[i]), "the answer to a release is lost");
	}
	check(taken("released") == 0, "but the release was executed");
	for (int i = 0; i < SERVERS; i++) {
		atomic_store(&relays[i].swallowed, 0);
	}
	pthread_join(thread, NULL);
	check(holder.acquired && holder.released, "and the holder learns that by asking again");
	for (int i = 0; i < SERVERS; i++) {
		relay_end(&relays[i]);
	}
}

static bool has_extended(void *context)
{
	(void) context;
	return server_integer(&servers[SERVERS - 1], "PTTL " PREFIX "unknown") > 60000;
}

/* When the late server says that it does not know the script, no caller waits for its answer any more. So no caller
 * would send the script. */
static void test_late_without_script(void)
{
	relay relay;
	client c = client_by_relay(&relay, NULL);
	dlock_claim *claim = claim_on(&c, "unknown", 60000);

	check(acquire(&c, claim, 0) == DLOCK_OK && is_everywhere("unknown"), "held everywhere");
	server_do(&servers[SERVERS - 1], "SCRIPT FLUSH");
	atomic_store(&relay.delay_ms, 100);
	check(extend(&c, claim, 600000) == DLOCK_OK, "extended by the other servers");
	check(eventually(has_extended, NULL), "and by a server that is late and does not know the script");
	atomic_store(&relay.delay_ms, 0);
	check(let_go(&c, claim), "released");
	client_free(&c);
	relay_end(&relay);
}

static bool has_it(void *claim)
{
	return has(&servers[SERVERS - 1], claim);
}

/* A server may be so far away that its answer comes after the release. It must still come to know the script. */
static void test_never_heard_in_time(void)
{
	relay relay;
	client c = client_by_relay(&relay, dlock_scripts[DLOCK_SCRIPT_ACQUIRE].sha1);
	dlock_claim *claim = claim_on(&c, "again", 60000);

	server_do(&servers[SERVERS - 1], "SCRIPT FLUSH");
	check(passes(&c, "again", 0), "held, and released, before the last server is asked");
	atomic_store(&relay.stop, NULL);
	client_settle(&c);
	atomic_store(&relay.stop, dlock_scripts[DLOCK_SCRIPT_ACQUIRE].sha1);
	check(acquire(&c, claim, 0) == DLOCK_OK && eventually(has_it, claim),
		"the next time the client sends it the script at once");
	check(let_go(&c, claim), "released");
	client_free(&c);
	relay_end(&relay);
}

/* If a claim is freed without a release, its requests are not repeated. */
static void test_straggler_of_none(void)
{
	relay relay;
	client c = client_by_relay(&relay, dlock_scripts[DLOCK_SCRIPT_ACQUIRE].sha1);
	dlock_claim *claim = claim_on(&c, "freed", 60000);

	check(acquire(&c, claim, 0) == DLOCK_OK, "held by the other servers");
	dlock_claim_free(claim);
	break_and_use(&relay, &c);
	check(has_nobody(&servers[SERVERS - 1], "freed"), "the late server is not asked again");
	client_free(&c);
	relay_end(&relay);
}

/* Two servers of a bare majority answer later than the third. */
static bool is_queued(void *resource)
{
	return waiting_at(0, resource) == 1 && waiting_at(1, resource) == 1 && waiting_at(2, resource) == 1;
}

static void test_late_tickets(void)
{
	client c = client_quorum(servers, SERVERS, READ_TIMEOUT);
	dlock_claim *claim = claim_on(&c, "tickets", 60000);
	relay relays[2];

	check(warm_all(&c) && acquire(&c, claim, 0) == DLOCK_OK, "held");
	server_kill(&servers[3]);
	server_kill(&servers[4]);
	client other = client_by_relays(servers, SERVERS, relays, 1, 2, "");
	relays[0].delay_ms = relays[1].delay_ms = 60;
	pid_t pid = fork_child();
	if (pid == 0) {
		dlock_claim *waiter = claim_on(&other, "tickets", 60000);
		_exit(acquire(&other, waiter, 60000) != DLOCK_OK || !let_go(&other, waiter));
	}
	check(eventually(is_queued, "tickets"), "a waiter queues although two of three servers are slow");
	check(release(&c, claim) == DLOCK_OK && exit_of(pid) == 0, "and it acquires the lock");
	dlock_claim_free(claim);
	client_free(&other);
	client_free(&c);
	relay_end(&relays[0]);
	relay_end(&relays[1]);
	server_restart(&servers[3]);
	server_restart(&servers[4]);
}

static void delay_all(relay *relays, int ms)
{
	for (int i = 0; i < SERVERS; i++) {
		atomic_store(&relays[i].delay_ms, ms);
	}
}

/* An acquisition goes by the timeouts of all servers. */
static void set_timeouts(client *c, dlock_nanos timeout)
{
	for (int i = 0; i < SERVERS; i++) {
		client_conn(c, i)->server->connect_timeout = client_conn(c, i)->server->read_timeout = timeout;
	}
}

/* Checks that a failed attempt has left no vote. Ends the relays, too. */
static void check_given_back(client *c, dlock_claim *claim, relay *relays)
{
	delay_all(relays, 0);
	set_timeouts(c, READ_TIMEOUT);
	client_settle(c);
	check(acquire(c, claim, 60000) == DLOCK_OK && let_go(c, claim), "and its votes were released");
	client_free(c);
	for (int i = 0; i < SERVERS; i++) {
		relay_end(&relays[i]);
	}
}

/* A wait is resumed after its deadline. */
static void test_slow_votes(void)
{
	relay relays[SERVERS];
	client c = client_by_relays(servers, SERVERS, relays, 0, SERVERS, "");
	dlock_claim *claim = claim_on(&c, "votes", 60000);
	dlock_wait over = { .deadline = 1 };

	check(warm_all(&c), "warm");
	set_timeouts(&c, 1500 * DLOCK_MS);
	delay_all(relays, 800);
	claim->waited = true;
	check(dlock_claim_acquire(claim, &over, &c.error) != DLOCK_OK,
		"the votes and the agreement on them share one answer's time");
	check_given_back(&c, claim, relays);
}

/* The deadline passes in the first attempt, which selects the database, asks for votes, and for the agreement on
 * them. */
static void test_slow_connections(void)
{
	relay relays[SERVERS];
	client warmed = client_quorum(servers, SERVERS, READ_TIMEOUT);

	check(warm_all(&warmed), "warm");
	client_free(&warmed);
	client c = client_by_relays(servers, SERVERS, relays, 0, SERVERS, "/5?connect_timeout=2&read_timeout=2");
	dlock_claim *claim = claim_on(&c, "votes", 60000);
	delay_all(relays, 1400);
	check(acquire(&c, claim, 1) != DLOCK_OK, "an attempt has the time to connect, and for one answer");
	check(((const quorum_claim *) claim)->attempts == 1, "and it is the last one then");
	check_given_back(&c, claim, relays);
}

int main(int argc, char **argv)
{
	static const tap_test tests[] = {
		TEST(straggler), TEST(straggler_asked_again), TEST(straggler_behind_leave), TEST(unconnected_straggler),
		TEST(extension_not_repeated), TEST(straggler_behind_extension), TEST(shorter_time_comes_late),
		TEST(shorter_time_after_renewal), TEST(checked_straggler), TEST(shorter_time_in_front),
		TEST(release_repeated), TEST(late_without_script), TEST(never_heard_in_time),
		TEST(straggler_of_none), TEST(late_tickets), TEST(slow_votes), TEST(slow_connections),
	};

	return tap_main(argc, argv, tests, sizeof tests / sizeof *tests, &quorum_servers);
}
