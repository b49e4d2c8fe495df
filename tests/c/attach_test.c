/* Attaching to a lease by its token, on one server and on several. It succeeds once. After a failure a caller can try
 * again. Prints TAP. */

#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "helpers.h"
#include "quorum_servers.h"

#define VOID_HANDLE "is no longer valid: it was already attached, or its lease was released or has expired"

/* ms; a busy machine takes no half of it */
enum { LEFT = 600000, MUCH = LEFT / 2, SURE = LEFT - LEFT / 100 - 2 };

static const char old_token[] = "0123456789abcdef0123456789abcdef";

/* Creates the lease of old_token, as its holder leaves it. */
static void leave_lease(int count, const char *resource, int ms)
{
	for (int i = 0; i < count; i++) {
		server_do(&servers[i], "SET " PREFIX "%s %s PX %d", resource, old_token, ms);
	}
}

static bool has_old(test_server *server, const char *resource)
{
	return !strcmp(server_text(server, "GET " PREFIX "%s", resource), old_token);
}

static int with_old(const char *resource)
{
	int count = 0;

	for (int i = 0; i < SERVERS; i++) {
		count += has_old(&servers[i], resource);
	}
	return count;
}

static bool has_old_on_first(void *resource)
{
	return has_old(&servers[0], resource);
}

static bool has_old_everywhere(void *resource)
{
	return with_old(resource) == SERVERS;
}

static bool is_held_everywhere(void *claim)
{
	return holding(claim) == SERVERS;
}

/* If it fails, the claim is freed and NULL. */
static dlock_status attach(client *c, const char *resource, const char *token, dlock_claim **claim)
{
	*claim = claim_on(c, resource, 60000);
	c->error.message[0] = '\0';
	dlock_status status = dlock_claim_attach(*claim, token, &c->error);

	if (status != DLOCK_OK) {
		dlock_claim_free(*claim);
		*claim = NULL;
	}
	return status;
}

/* Can a client attach to the lease, with at least `least_ms` left, and release it? It tries for some seconds, because a
 * rollback may be on its way. */
static bool is_usable(client *c, const char *resource, const char *token, int least_ms)
{
	dlock_claim *claim;

	for (int i = 0; i < 500; i++) {
		dlock_status status = attach(c, resource, token, &claim);
		if (status == DLOCK_OK) {
			bool good = left_ms(claim) >= least_ms;
			return let_go(c, claim) && good;
		}
		sleep_ms(10);
	}
	note("%s", c->error.message);
	return false;
}

static void know_exchange(void)
{
	for (int i = 0; i < SERVERS; i++) {
		server_do(&servers[i], "SCRIPT LOAD %s", dlock_scripts[DLOCK_SCRIPT_EXCHANGE].source);
	}
}

/* ---- one server ---- */

static void test_once(void)
{
	client c = client_of(&servers[0], READ_TIMEOUT), other = client_of(&servers[0], READ_TIMEOUT);
	dlock_claim *old = claim_on(&c, "once", 60000), *claim, *second;

	check(acquire(&c, old, 0) == DLOCK_OK, "held");
	dlock_nanos start = dlock_now();
	server_do(&servers[0], "PEXPIRE " PREFIX "once %d", LEFT);
	check(attach(&other, "once", old->token, &claim) == DLOCK_OK && look(claim) == DLOCK_CLAIM_HELD, "attached: %s",
		other.error.message);
	check(has(&servers[0], claim) && strcmp(claim->token, old->token), "the server has the new token");
	check(claim->fencing_token > old->fencing_token
			&& strtoll(server_text(&servers[0], "GET " DLOCK_FENCE_KEY), NULL, 10) == claim->fencing_token,
		"and a greater fencing token");
	long long pttl = server_integer(&servers[0], "PTTL " PREFIX "once");
	long left = left_ms(claim), spent = (long) ((dlock_now() - start) / DLOCK_MS) + 1;
	check(pttl <= LEFT && pttl >= LEFT - spent - 100, "for the lease time that was left (%lld)", pttl);
	check(left <= SURE && left > SURE - spent - 100, "less 1 %% and 2 ms (%ld)", left);
	check(attach(&c, "once", old->token, &second) == DLOCK_LOST && strstr(c.error.message, VOID_HANDLE),
		"not a second time: %s", c.error.message);
	check(extend(&c, old, 1000) == DLOCK_LOST && has(&servers[0], claim)
			&& server_integer(&servers[0], "PTTL " PREFIX "once") > MUCH,
		"a request with the old token has no effect");
	dlock_claim_abandon(old);
	old->state = DLOCK_CLAIM_HELD;
	check(release(&c, old) == DLOCK_LOST && has(&servers[0], claim), "the old token releases nothing");
	check(extend(&other, claim, 60000) == DLOCK_OK && let_go(&other, claim) && has_nobody(&servers[0], "once"),
		"the new claim extends and releases");
	check(attach(&c, "once", old->token, &second) == DLOCK_LOST && has_nobody(&servers[0], "once"),
		"after that no claim can attach");
	dlock_claim_free(old);
	client_free(&c);
	client_free(&other);
}

/* Keys that are no lease of the token. */
static void test_none(void)
{
	client c = client_of(&servers[0], READ_TIMEOUT);
	dlock_claim *claim;

	check(attach(&c, "none", old_token, &claim) == DLOCK_LOST && server_integer(&servers[0], "DBSIZE") == 0,
		"no key: nothing is written");
	server_do(&servers[0], "SET " PREFIX "none somebody PX 60000");
	check(attach(&c, "none", old_token, &claim) == DLOCK_LOST
			&& !strcmp(server_text(&servers[0], "GET " PREFIX "none"), "somebody"),
		"another process holds it");
	server_do(&servers[0], "SET " PREFIX "none %s", old_token);
	check(attach(&c, "none", old_token, &claim) == DLOCK_LOST && has_old(&servers[0], "none"),
		"a key without a lease time is no lease");
	server_do(&servers[0], "DEL " PREFIX "none");
	server_do(&servers[0], "LPUSH " PREFIX "none %s", old_token);
	check(attach(&c, "none", old_token, &claim) == DLOCK_CONNECTION
			&& explains(&c, client_conn(&c, 0)->server->label, "WRONGTYPE"),
		"a list");
	check(server_integer(&servers[0], "EXISTS " DLOCK_FENCE_KEY) == 0, "none of these used up a fencing token");
	client_free(&c);
}

/* If the user lacks a right, nothing is changed. */
static void test_rights(void)
{
	static const char *rights[] = { "~" PREFIX "* +@all", "~* +@all -getset", "~* +@all -time -pexpiretime",
		"~* +@all -set", "~* +@all -get", "~* +@all -pttl" };
	client all = client_of(&servers[0], READ_TIMEOUT);
	dlock_claim *claim;
	char dsn[80];

	snprintf(dsn, sizeof dsn, "redis://half:" SECRET "@127.0.0.1:%d", servers[0].port);
	leave_lease(1, "rights", LEFT);
	for (size_t i = 0; i < sizeof rights / sizeof *rights; i++) {
		char command[160];
		snprintf(command, sizeof command, "ACL SETUSER half reset on >" SECRET " %s", rights[i]);
		server_do(&servers[0], command);
		client c = client_at(dsn);
		dlock_status status = attach(&c, "rights", old_token, &claim);
		client_settle(&c);
		check(status == DLOCK_CONNECTION && has_old(&servers[0], "rights"), "%s: %s", rights[i], c.error.message);
		client_free(&c);
	}
	check(is_usable(&all, "rights", old_token, MUCH), "the handle still works");
	client_free(&all);
	server_do(&servers[0], "ACL DELUSER half");
}

/* The answer is lost with the connection. The client sends the request again, which finds its own token. */
static void test_repeated(void)
{
	client c = client_of(&servers[0], READ_TIMEOUT);
	relay relay;

	know_exchange();
	leave_lease(1, "repeated", LEFT);
	const char *dsn = dsn_by_relay(&relay, &servers[0], "");
	atomic_store(&relay.swallow, dlock_scripts[DLOCK_SCRIPT_EXCHANGE].sha1);
	pid_t pid = fork_child();
	if (pid == 0) {
		client own = client_at(dsn);
		dlock_claim *claim;
		warm(&own);
		dlock_status status = attach(&own, "repeated", old_token, &claim);
		_exit(status != DLOCK_OK || left_ms(claim) < MUCH || left_ms(claim) > SURE || !has(&servers[0], claim));
	}
	check(eventually(has_swallowed, &relay), "the answer is lost");
	check(!has_old(&servers[0], "repeated"), "to a request that was executed");
	atomic_store(&relay.swallowed, 0);
	check(exit_of(pid) == 0, "its repetition finds the new token");
	client_free(&c);
	relay_end(&relay);
}

/* If no answer comes in time, the client sends a rollback after the request. A caller can then try again. */
static void test_no_answer(void)
{
	client c = client_of(&servers[0], READ_TIMEOUT);
	relay relay;
	dlock_claim *claim;

	know_exchange();
	leave_lease(1, "unanswered", LEFT);
	client slow = client_at(dsn_by_relay(&relay, &servers[0], ""));
	warm(&slow);
	client_hurry(&slow, 200);
	atomic_store(&relay.swallow, dlock_scripts[DLOCK_SCRIPT_EXCHANGE].sha1);
	check(attach(&slow, "unanswered", old_token, &claim) == DLOCK_CONNECTION && has_swallowed(&relay),
		"the answer is lost: %s", slow.error.message);
	check(eventually(has_old_on_first, "unanswered"), "the old token is restored");
	check(server_integer(&servers[0], "PTTL " PREFIX "unanswered") > MUCH, "with the lease time that was left");
	check(is_usable(&c, "unanswered", old_token, MUCH), "the handle works again");
	client_free(&slow);
	relay_end(&relay);
	client_free(&c);
}

/* A stopped server executes both when it continues: first the request, then the rollback. */
static void test_frozen(void)
{
	client c = client_of(&servers[0], READ_TIMEOUT), slow = client_of(&servers[0], READ_TIMEOUT);
	dlock_claim *claim;

	for (int knows = 0; knows < 2; knows++) {
		check(warm(&slow), "connected");
		server_do(&servers[0], "SCRIPT FLUSH");
		if (knows) {
			know_exchange();
		}
		leave_lease(1, "frozen", LEFT);
		server_freeze(&servers[0]);
		client_hurry(&slow, 200);
		check(attach(&slow, "frozen", old_token, &claim) == DLOCK_CONNECTION, "no answer: %s", slow.error.message);
		client_hurry(&slow, 0);
		server_thaw(&servers[0]);
		client_settle(&slow);
		check(eventually(has_old_on_first, "frozen"), "%s: rolled back",
			knows ? "a script that it knows" : "a script that it does not know");
		check(is_usable(&slow, "frozen", old_token, MUCH), "the handle works");
	}
	client_free(&slow);
	client_free(&c);
}

/* The answer comes after the lease has expired. */
static void test_too_late(void)
{
	relay relay;
	dlock_claim *claim;
	client c = client_at(dsn_by_relay(&relay, &servers[0], ""));

	check(warm(&c), "connected");
	know_exchange();
	leave_lease(1, "late", 300);
	atomic_store(&relay.delay_ms, 400);
	check(attach(&c, "late", old_token, &claim) == DLOCK_LOST && strstr(c.error.message, VOID_HANDLE), "late: %s",
		c.error.message);
	client_free(&c);
	relay_end(&relay);
}

/* A process is killed between the request and its answer. It leaves only the lock, which expires after its lease
 * time. */
static void test_killed(void)
{
	client c = client_of(&servers[0], READ_TIMEOUT);
	dlock_claim *claim;
	relay relay;

	know_exchange();
	leave_lease(1, "killed", LEFT);
	const char *dsn = dsn_by_relay(&relay, &servers[0], "");
	atomic_store(&relay.swallow, dlock_scripts[DLOCK_SCRIPT_EXCHANGE].sha1);
	pid_t pid = fork_child();
	if (pid == 0) {
		client own = client_at(dsn);
		attach(&own, "killed", old_token, &claim);
		_exit(0);
	}
	check(eventually(has_swallowed, &relay), "attached, but no answer reaches the process");
	kill(pid, SIGKILL);
	check(exit_of(pid) == 1000 + SIGKILL, "killed");
	check(attach(&c, "killed", old_token, &claim) == DLOCK_LOST, "the handle was used");
	long long pttl = server_integer(&servers[0], "PTTL " PREFIX "killed");
	check(pttl > 0 && pttl <= LEFT, "the lease time runs on (%lld)", pttl);
	server_do(&servers[0], "PEXPIRE " PREFIX "killed 100");
	check(passes(&c, "killed", 60000), "and ends");
	check(server_integer(&servers[0], "DBSIZE") - server_integer(&servers[0], "EXISTS dlock:seen") == 1,
		"only the fence is left, and for a while dlock:seen");
	relay_end(&relay);
	client_free(&c);
}

/* ---- several servers ---- */

/* The lease lasts for a different time on each server. */
static void test_deadline(void)
{
	static const unsigned alive[] = { 7, 28, 21, 31 };
	static const int expected[] = { 100000, 300000, 100000, 300000 }; /* with all five: at most the third longest */
	dlock_claim *claim;

	for (int i = 0; i < 20; i++) {
		int some = i < 3 ? i : 3;
		for (int k = 0; k < SERVERS; k++) {
			server_do(&servers[k], "SET " PREFIX "deadline %s PX %d", old_token, 100000 * (k + 1));
		}
		client few = client_of_some(SERVERS, alive[some]);
		check(attach(&few, "deadline", old_token, &claim) == DLOCK_OK, "attached: %s", few.error.message);
		long most = expected[some] - expected[some] / 100 - 2;
		/* If all five answer, the first three answers decide. */
		check(left_ms(claim) <= most && left_ms(claim) > (some < 3 ? most - 20000 : 90000),
			"for as long as a majority of the keys lasts (%ld)", left_ms(claim));
		check(let_go(&few, claim), "released");
		client_free(&few);
		quorum_servers_reset();
	}
}

static void test_by_all(void)
{
	client c = client_quorum(servers, SERVERS, READ_TIMEOUT), other = client_quorum(servers, SERVERS, READ_TIMEOUT);
	dlock_claim *old = claim_on(&c, "all", LEFT), *claim, *second;

	check(
		warm_all(&c) && warm_all(&other) && acquire(&c, old, 0) == DLOCK_OK && is_everywhere("all"), "held everywhere");
	check(attach(&other, "all", old->token, &claim) == DLOCK_OK && eventually(is_held_everywhere, claim),
		"attached everywhere: %s", other.error.message);
	check(claim->fencing_token > old->fencing_token, "with a greater fencing token");
	check(attach(&c, "all", old->token, &second) == DLOCK_LOST && strstr(c.error.message, VOID_HANDLE),
		"not a second time: %s", c.error.message);
	check(extend(&c, old, 1000) == DLOCK_LOST && holding(claim) == SERVERS, "the old token extends nothing");
	client_settle(&c);
	check(holding(claim) == SERVERS && dlock_claim_check(claim, &other.error) == DLOCK_OK && left_ms(claim) > MUCH,
		"nor does it shorten anything");
	check(let_go(&other, claim), "released");
	client_settle(&other);
	check(taken("all") == 0, "everywhere");
	dlock_claim_free(old);
	client_free(&c);
	client_free(&other);
}

/* The servers' fencing tokens differ. A majority stores the lease's token before the lease counts. */
static void test_fencing(void)
{
	client c = client_quorum(servers, SERVERS, READ_TIMEOUT);
	dlock_claim *claim;
	const int64_t ahead = INT64_C(1) << 51;
	int raised = 0;

	leave_lease(SERVERS, "fenced", LEFT);
	server_freeze(&servers[4]);
	server_freeze(&servers[3]);
	server_do(&servers[1], "SET " DLOCK_FENCE_KEY " %lld", (long long) ahead);
	check(attach(&c, "fenced", old_token, &claim) == DLOCK_OK && claim->fencing_token == ahead + 1,
		"the largest one counts: %s", c.error.message);
	for (int i = 0; i < MAJORITY; i++) {
		raised += strtoll(server_text(&servers[i], "GET " DLOCK_FENCE_KEY), NULL, 10) == ahead + 1;
	}
	check(raised == MAJORITY, "and a majority stores it (%d)", raised);
	server_thaw(&servers[3]);
	server_thaw(&servers[4]);
	check(let_go(&c, claim), "released");
	client_free(&c);
}

/* A minority that is dead or stopped delays nothing. A stopped server stores the new token when it continues. */
static void test_minority_missing(void)
{
	static const char *ends[] = { "held", "released", "released by a process that ends" };
	dlock_claim *claim;

	for (int way = 0; way < 3; way++) {
		client c = client_quorum(servers, SERVERS, 60 * DLOCK_SECOND);
		check(warm_all(&c), "warm");
		leave_lease(SERVERS, "minority", LEFT);
		server_do(&servers[3], "SCRIPT FLUSH"); /* perhaps no process is left to read that it lacks the script */
		server_do(&servers[3], "SCRIPT LOAD %s", dlock_scripts[DLOCK_SCRIPT_RELEASE].source);
		server_freeze(&servers[3]);
		dlock_nanos start = dlock_now();
		check(attach(&c, "minority", old_token, &claim) == DLOCK_OK && dlock_now() - start < SOON,
			"attached without the straggler");
		if (way > 0) {
			check(let_go(&c, claim), "released");
		}
		if (way == 2) {
			client_free(&c);
		}
		server_thaw(&servers[3]);
		if (way == 0) {
			client_settle(&c);
			check(eventually(is_held_everywhere, claim) && let_go(&c, claim), "the straggler has the new token later");
		}
		check(eventually_nowhere("minority"), "%s: nothing is left", ends[way]);
		if (way != 2) {
			client_free(&c);
		}
	}
	client some = client_of_some(SERVERS, 21);
	leave_lease(SERVERS, "minority", LEFT);
	check(attach(&some, "minority", old_token, &claim) == DLOCK_OK && holding(claim) == 3 && let_go(&some, claim),
		"two are dead: %s", some.error.message);
	client_free(&some);
}

/* The client has not logged in to the straggler when it releases the lease. */
static void test_unconnected_straggler(void)
{
	char text[SERVERS][80];
	const char *dsns[SERVERS];
	dlock_claim *claim;

	for (int i = 0; i < SERVERS; i++) {
		snprintf(text[i], sizeof text[i], "redis://:" SECRET "@127.0.0.1:%d", servers[i].port);
		dsns[i] = text[i];
		server_do(&servers[i], "CONFIG SET requirepass " SECRET);
	}
	leave_lease(SERVERS, "straggler", LEFT);
	server_freeze(&servers[3]);
	client c = client_quorum_at(dsns, SERVERS);
	check(attach(&c, "straggler", old_token, &claim) == DLOCK_OK && let_go(&c, claim),
		"attached and released without it: %s", c.error.message);
	server_thaw(&servers[3]);
	client_settle(&c);
	check(eventually_nowhere("straggler"), "nothing is left");
	client_free(&c);
	for (int i = 0; i < SERVERS; i++) {
		server_do(&servers[i], "CONFIG SET requirepass %s", "");
	}
}

static void test_lost_answer(void)
{
	client all = client_quorum(servers, SERVERS, READ_TIMEOUT);
	dlock_claim *claim;
	relay relays[MAJORITY];

	know_exchange();
	client c = client_by_relays(servers, SERVERS, relays, 0, MAJORITY, "");
	check(warm_all(&c), "warm");
	leave_lease(SERVERS, "dropped", LEFT);
	atomic_store(&relays[0].swallow, "GETSET"); /* in the script's text */
	check(attach(&c, "dropped", old_token, &claim) == DLOCK_OK, "one lost answer: %s", c.error.message);
	check(eventually(is_held_everywhere, claim), "all servers have the new token");
	dlock_claim_abandon(claim);
	dlock_claim_free(claim);
	check(eventually_nowhere("dropped"), "until the claim is abandoned");

	atomic_store(&relays[0].cut, 1);
	check(warm_all(&c), "warm");
	leave_lease(SERVERS, "dropped", LEFT);
	for (int i = 0; i < MAJORITY; i++) {
		atomic_store(&relays[i].swallow, "GETSET");
	}
	client_hurry(&c, 300);
	check(attach(&c, "dropped", old_token, &claim) == DLOCK_QUORUM, "three lost answers: %s", c.error.message);
	check(eventually(has_old_everywhere, "dropped"), "servers with and without an answer restore the old token");
	check(is_usable(&all, "dropped", old_token, MUCH), "the handle works");
	client_free(&c);
	client_free(&all);
	for (int i = 0; i < MAJORITY; i++) {
		relay_end(&relays[i]);
	}
}

static bool has_old_on_two(void *client)
{
	client_drain(client);
	return has_old(&servers[0], "missing") && has_old(&servers[1], "missing");
}

/* A majority does not answer. The client rolls back the exchange on the other servers. */
static void test_majority_missing(void)
{
	client c = client_quorum(servers, SERVERS, READ_TIMEOUT);
	dlock_claim *claim;

	for (int dead = 0; dead < 2; dead++) {
		client some = client_of_some(SERVERS, 3);
		client *asking = dead ? &some : &c;
		check(dead || warm_all(&c), "warm");
		leave_lease(SERVERS, "missing", LEFT);
		for (int i = 2; !dead && i < SERVERS; i++) {
			server_freeze(&servers[i]);
		}
		client_hurry(asking, dead ? 0 : 250);
		check(attach(asking, "missing", old_token, &claim) == DLOCK_QUORUM, "three %s: %s", dead ? "dead" : "stopped",
			asking->error.message);
		client_hurry(asking, 0);
		check(eventually(has_old_on_two, asking), "the other servers have the old token again");
		for (int i = 2; !dead && i < SERVERS; i++) {
			server_thaw(&servers[i]);
		}
		client_settle(asking);
		check(eventually(has_old_everywhere, "missing"), "all have the old token in the end");
		check(is_usable(&c, "missing", old_token, MUCH), "the handle works");
		client_free(&some);
	}
	client_free(&c);
}

/* A majority refuses. A minority accepts, because it missed that the handle was used. The client rolls that back. */
static void test_majority_refuses(void)
{
	client c = client_quorum(servers, SERVERS, READ_TIMEOUT);
	dlock_claim *claim;

	check(warm_all(&c), "warm");
	leave_lease(2, "refused", LEFT);
	check(attach(&c, "refused", old_token, &claim) == DLOCK_LOST && strstr(c.error.message, VOID_HANDLE), "lost: %s",
		c.error.message);
	client_settle(&c);
	check(with_old("refused") == 2 && taken("refused") == 2, "only the two have a key, with the old token");
	check(server_integer(&servers[0], "PTTL " PREFIX "refused") > MUCH, "for the time that was left");
	client_free(&c);
}

/* ---- together ---- */

typedef struct {
	_Atomic int there, winners, others;
	char lease_of_winner[DLOCK_TOKEN_MAX + 1];
} race;

static int contend(client *c, race *race, const char *token)
{
	dlock_claim *claim;

	atomic_fetch_add(&race->there, 1);
	while (atomic_load(&race->there) < 2) {
		sched_yield(); /* the other process may need this processor */
	}
	dlock_status status = attach(c, "race", token, &claim);
	if (status == DLOCK_OK) {
		atomic_fetch_add(&race->winners, look(claim) == DLOCK_CLAIM_HELD);
		strcpy(race->lease_of_winner, claim->token);
	} else if (status != DLOCK_LOST && status != DLOCK_QUORUM) {
		atomic_fetch_add(&race->others, 1);
	}
	client_settle(c);
	return 0; /* the lease stays, because the parent attaches to it */
}

/* Two processes attach to one lease at the same instant. */
static void run_race(const char *text, client (*make)(void), int rounds, int least_won)
{
	client c = make();
	race *race = shared_memory(sizeof *race);
	int won = 0, twice = 0, odd = 0, unusable = 0;

	for (int round = 0; round < rounds; round++) {
		pid_t pids[2];
		memset(race, 0, sizeof *race);
		leave_lease(SERVERS, "race", LEFT);
		for (int i = 0; i < 2; i++) {
			pids[i] = fork_child();
			if (pids[i] == 0) {
				client own = make();
				bool locked;
				own.backend->ops->locked(own.backend, "race", 4, &locked, &own.error); /* connects */
				_exit(contend(&own, race, old_token));
			}
		}
		odd += exit_of(pids[0]) + exit_of(pids[1]) + race->others;
		won += race->winners == 1;
		twice += race->winners > 1;
		unusable += !is_usable(&c, "race", race->winners ? race->lease_of_winner : old_token, MUCH);
	}
	check(twice == 0 && odd == 0, "%s: never both processes (%d, %d)", text, twice, odd);
	check(won >= least_won, "%s: one process in %d of %d rounds", text, won, rounds);
	check(unusable == 0, "%s: the winner's lease works, or the handle if no process won (%d)", text, unusable);
	client_free(&c);
}

static client one_server(void)
{
	return client_of(&servers[0], READ_TIMEOUT);
}

static client all_servers(void)
{
	return client_quorum(servers, SERVERS, READ_TIMEOUT);
}

static client four_servers(void)
{
	return client_of_some(SERVERS, 15);
}

static client three_servers(void)
{
	return client_of_some(SERVERS, 7);
}

static void test_race(void)
{
	run_race("one server", one_server, 40, 40);
	run_race("five servers", all_servers, 30, 25);
	run_race("five servers, one is dead", four_servers, 30, 22);
	run_race("five servers, two are dead", three_servers, 30, 22);
}

int main(int argc, char **argv)
{
	static const tap_test tests[] = {
		TEST(once), TEST(none), TEST(rights), TEST(repeated), TEST(no_answer), TEST(frozen), TEST(too_late),
		TEST(killed), TEST(deadline), TEST(by_all), TEST(fencing), TEST(minority_missing), TEST(unconnected_straggler),
		TEST(lost_answer), TEST(majority_missing), TEST(majority_refuses), TEST(race),
	};

	return tap_main(argc, argv, tests, sizeof tests / sizeof *tests, &quorum_servers);
}
