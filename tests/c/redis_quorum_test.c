/* The quorum back end on real servers. Prints TAP. */

#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "helpers.h"
#include "quorum_servers.h"

/* ---- the life of a lock ---- */

static void test_life(void)
{
	enum { TTL = 60000, SURE = 59398, LONGER = 600000, SURE_LONGER = 593998 };
	client c = client_quorum(servers, SERVERS, READ_TIMEOUT), other = client_quorum(servers, SERVERS, READ_TIMEOUT);
	dlock_claim *claim = claim_on(&c, "life", TTL), *second = claim_on(&other, "life", TTL);
	bool locked = true;
	int bad = 0;

	check(warm_all(&c), "warm"); /* over a new connection a server may be too late for the lock */
	check(c.backend->ops->locked(c.backend, "life", 4, &locked, &c.error) == DLOCK_OK && !locked, "no client holds it");
	dlock_nanos start = dlock_now();
	check(acquire(&c, claim, 0) == DLOCK_OK && !claim->waited && holding(claim) >= MAJORITY, "acquired by a majority");
	check(is_everywhere("life") && holding(claim) == SERVERS, "soon by all servers");
	for (int i = 0; i < SERVERS; i++) {
		long long pttl = server_integer(&servers[i], "PTTL " PREFIX "life");
		bad += pttl > TTL || pttl < TTL - (dlock_now() - start) / DLOCK_MS - 1;
	}
	check(bad == 0, "the keys have the requested lease time");
	check(claim->deadline >= start + SURE * DLOCK_MS && claim->deadline <= dlock_now() + SURE * DLOCK_MS,
		"the deadline is the time of the first request plus the lease time without 1 %% and 2 ms");
	check(other.backend->ops->locked(other.backend, "life", 4, &locked, &c.error) == DLOCK_OK && locked,
		"a client holds it");
	check(acquire(&other, second, 0) == DLOCK_TIMEOUT, "no other client acquires it");
	client_settle(&other);
	check(holding(claim) == SERVERS, "the refused client leaves it alone");
	check(extend(&c, claim, LONGER) == DLOCK_OK && left_ms(claim) > LONGER / 2 && left_ms(claim) <= SURE_LONGER,
		"extended");
	check(dlock_claim_check(claim, &c.error) == DLOCK_OK && left_ms(claim) > LONGER / 2
			&& left_ms(claim) <= SURE_LONGER,
		"checked");
	check(release(&c, claim) == DLOCK_OK && claim->state == DLOCK_CLAIM_RELEASED, "released");
	check(eventually_nowhere("life"), "it is free on all servers");
	check(release(&c, claim) == DLOCK_LOST, "a second release finds nothing");
	dlock_claim_free(claim);
	check(acquire(&other, second, 0) == DLOCK_OK, "the next client acquires it");
	dlock_claim_abandon(second);
	dlock_claim_free(second);
	client_settle(&other);
	check(taken("life") == 0, "an abandoned lock is released");
	for (int i = 0; i < 30; i++) {
		char name[32];
		snprintf(name, sizeof name, "life-%d", i);
		bad += !passes(&c, name, 0);
	}
	client_settle(&c);
	for (int i = 0; i < SERVERS; i++) {
		bad += server_integer(&servers[i], "DBSIZE") != 1;
	}
	check(bad == 0 && dlock_pool_opened(c.pool) == SERVERS,
		"one key is left on each server, one connection was opened to each");
	client_free(&c);
	client_free(&other);
}

/* ---- majorities ---- */

static int count_bits(unsigned bits)
{
	return __builtin_popcount(bits);
}

static bool errors_are_of(const client *c, int count, unsigned alive)
{
	for (int i = 0; i < count; i++) {
		const char *error = dlock_quorum_server_error(c->backend, i);
		char label[32];
		snprintf(label, sizeof label, "127.0.0.1:%d", alive >> i & 1 ? servers[i].port : nobody);
		if (strcmp(dlock_quorum_server_label(c->backend, i), label) || (alive >> i & 1 ? error != NULL
				: !error || !strstr(error, "Connection refused") || strstr(error, label))) {
			note("server %d of %d: %s: %s", i, count, dlock_quorum_server_label(c->backend, i),
				error ? error : "(none)");
			return false;
		}
	}
	return dlock_quorum_servers(c->backend) == count;
}

static void test_majorities(void)
{
	for (int count = 1; count <= SERVERS; count++) {
		int quorum = count / 2 + 1, wrong = 0, errors = 0, left = 0;
		for (unsigned alive = 0; alive < 1u << count; alive++) {
			client c = client_of_some(count, alive);
			dlock_claim *claim = claim_on(&c, "majority", 60000);
			bool enough = count_bits(alive) >= quorum;
			dlock_status status = acquire(&c, claim, 0);
			wrong += status != (enough ? DLOCK_OK : DLOCK_QUORUM) || (look(claim) == DLOCK_CLAIM_HELD) != enough;
			if (!enough) {
				errors += !errors_are_of(&c, count, alive);
				wrong += !strstr(c.error.message, "(quorum ") || left_ms(claim) != 0;
			} else {
				wrong += holding(claim) < quorum || !left_ms(claim) || release(&c, claim) != DLOCK_OK;
			}
			client_settle(&c);
			left += taken("majority");
			dlock_claim_free(claim);
			client_free(&c);
		}
		check(wrong == 0, "of %d servers any %d suffice (%d)", count, quorum, wrong);
		check(errors == 0, "the error lists the other servers, each with its reason (%d)", errors);
		check(left == 0, "nothing is left (%d)", left);
	}
}

static void test_all_dead(void)
{
	client c = client_of_some(SERVERS, 0);
	dlock_claim *claim = claim_on(&c, "dead", 60000);
	bool locked = true;

	dlock_nanos start = dlock_now();
	check(acquire(&c, claim, 5000) == DLOCK_QUORUM && dlock_now() - start < SOON,
		"without a server the error comes at once: %s", c.error.message);
	check(errors_are_of(&c, SERVERS, 0), "it lists each server with its reason");
	check(explains(&c, "of 5 servers failed", "(quorum 3)"), "it names the quorum");
	check(c.backend->ops->locked(c.backend, "dead", 4, &locked, &c.error) == DLOCK_QUORUM && !locked,
		"locked() has no answer, either");
	dlock_claim_free(claim);
	client_free(&c);
}

/* ---- servers that refuse ---- */

static void test_lost_votes(void)
{
	char text[SERVERS][80], wrong[3][80];
	const char *dsns[SERVERS];
	client c;

	for (int i = 0; i < SERVERS; i++) {
		snprintf(text[i], sizeof text[i], "redis://127.0.0.1:%d", servers[i].port);
		dsns[i] = text[i];
	}
	snprintf(wrong[0], sizeof wrong[0], "redis://:" SECRET "@127.0.0.1:%d", servers[0].port);
	snprintf(wrong[1], sizeof wrong[1], "redis://127.0.0.1:%d/99", servers[1].port);
	dsns[0] = wrong[0];
	server_do(&servers[0], "CONFIG SET requirepass " SECRET "x");
	server_do(&servers[2], "REPLICAOF 127.0.0.1 1");
	c = client_quorum_at(dsns, SERVERS);
	dlock_claim *claim = claim_on(&c, "votes", 60000);
	check(acquire(&c, claim, 0) == DLOCK_OK && release(&c, claim) == DLOCK_OK,
		"a wrong password and a replica are lost votes (%s)", c.error.message);
	dlock_claim_free(claim);
	client_free(&c);
	dsns[1] = wrong[1];
	c = client_quorum_at(dsns, SERVERS);
	claim = claim_on(&c, "votes", 60000);
	check(acquire(&c, claim, 5000) == DLOCK_QUORUM, "a database that does not exist is a third lost vote: %s",
		c.error.message);
	static const char *words[] = { "WRONGPASS", "DB index", "replica" };
	for (int i = 0; i < SERVERS; i++) {
		const char *error = dlock_quorum_server_error(c.backend, i);
		check(i < 3 ? error && strstr(error, words[i]) && !strstr(error, SECRET) : !error, "server %d: %s", i,
			error ? error : "answered");
	}
	check(!strstr(c.error.message, SECRET), "no password is shown");
	dlock_claim_free(claim);
	client_settle(&c);
	client_free(&c);
	server_do(&servers[0], "CONFIG SET requirepass %s", "");
	server_do(&servers[2], "REPLICAOF NO ONE");
	check(eventually_nowhere("votes"), "nothing is left");
}

/* ---- held by other clients ---- */

static void test_foreign_minority(void)
{
	client c = client_quorum(servers, SERVERS, READ_TIMEOUT);
	dlock_claim *claim = claim_on(&c, "minority", 60000);

	check(warm_all(&c), "warm");
	server_do(&servers[0], "SET " PREFIX "minority other PX 600000");
	server_do(&servers[4], "SET " PREFIX "minority other PX 600000");
	check(acquire(&c, claim, 0) == DLOCK_OK && holding(claim) == MAJORITY,
		"another client's minority does not prevent an acquisition");
	check(extend(&c, claim, 60000) == DLOCK_OK && dlock_claim_check(claim, &c.error) == DLOCK_OK,
		"it does not prevent extensions and checks");
	check(release(&c, claim) == DLOCK_OK, "released");
	client_settle(&c);
	check(taken("minority") == 2 && !strcmp(server_text(&servers[4], "GET " PREFIX "minority"), "other"),
		"the other client's keys stay");
	dlock_claim_free(claim);
	server_do(&servers[2], "SET " PREFIX "minority other PX 600000");
	claim = claim_on(&c, "minority", 60000);
	check(acquire(&c, claim, 0) == DLOCK_TIMEOUT, "another client's majority does");
	client_settle(&c);
	check(holding(claim) == 0 && taken("minority") == 3, "the client cancels its votes");
	check(acquire(&c, claim, 100) == DLOCK_TIMEOUT, "each attempt is refused");
	client_settle(&c);
	check(taken("minority") == 3, "nothing is left");
	dlock_claim_free(claim);
	client_free(&c);
}

/* The votes are split, so that no client has a majority: none holds the lock, and the split lasts until they expire. */
static void test_split(void)
{
	client c = client_quorum(servers, SERVERS, READ_TIMEOUT);
	bool locked = true, waited = false;

	for (int tries = 0; tries < 10 && !waited; tries++) { /* on a busy machine they may expire before the wait */
		dlock_claim *claim = claim_on(&c, "split", 60000);
		for (int i = 0; i < SERVERS; i++) {
			server_do(&servers[i], "SET " PREFIX "split other%d", i / 2);
		}
		check(c.backend->ops->locked(c.backend, "split", 5, &locked, &c.error) == DLOCK_OK && !locked,
			"split votes do not lock the resource");
		check(acquire(&c, claim, 0) == DLOCK_TIMEOUT, "they prevent an acquisition");
		for (int i = 0; i < SERVERS; i++) {
			server_do(&servers[i], "PEXPIRE " PREFIX "split 300");
		}
		check(acquire(&c, claim, 60000) == DLOCK_OK, "after they expire it succeeds");
		waited = claim->waited;
		check(let_go(&c, claim), "released");
	}
	check(waited, "after a wait");
	server_do(&servers[0], "SET " PREFIX "split other PX 600000");
	server_do(&servers[1], "SET " PREFIX "split other PX 600000");
	server_do(&servers[2], "SET " PREFIX "split other PX 600000");
	check(c.backend->ops->locked(c.backend, "split", 5, &locked, &c.error) == DLOCK_OK && locked,
		"a majority for one client locks it");
	server_freeze(&servers[3]);
	check(c.backend->ops->locked(c.backend, "split", 5, &locked, &c.error) == DLOCK_OK && locked,
		"also if another server does not answer");
	server_thaw(&servers[3]);
	client_free(&c);
}

/* ---- while it is held ---- */

static void test_loss(void)
{
	client c = client_quorum(servers, SERVERS, READ_TIMEOUT);
	dlock_claim *claim = claim_on(&c, "loss", 60000);

	check(warm_all(&c) && acquire(&c, claim, 0) == DLOCK_OK && is_everywhere("loss"), "all servers have it");
	client_settle(&c);
	server_do(&servers[0], "DEL " PREFIX "loss");
	server_do(&servers[1], "SET " PREFIX "loss other PX 50000");
	check(extend(&c, claim, 90000) == DLOCK_OK, "the three servers that still have it extend it");
	client_settle(&c);
	check(holding(claim) >= MAJORITY && !strcmp(server_text(&servers[1], "GET " PREFIX "loss"), "other")
			&& server_integer(&servers[1], "PTTL " PREFIX "loss") <= 50000,
		"the other client's key is left alone");
	check(dlock_claim_check(claim, &c.error) == DLOCK_OK, "checked");
	server_do(&servers[0], "DEL " PREFIX "loss"); /* the extension may have set it again */
	server_do(&servers[2], "DEL " PREFIX "loss");
	check(extend(&c, claim, 90000) == DLOCK_LOST && look(claim) == DLOCK_CLAIM_LOST, "two votes are a loss");
	dlock_claim_free(claim);
	client_settle(&c);
	for (int i = 0; i < SERVERS; i++) {
		server_do(&servers[i], "DEL " PREFIX "loss");
	}
	claim = claim_on(&c, "loss", 60000);
	check(acquire(&c, claim, 0) == DLOCK_OK && is_everywhere("loss"), "held again");
	for (int i = 0; i < MAJORITY; i++) {
		server_do(&servers[i], "DEL " PREFIX "loss");
	}
	check(release(&c, claim) == DLOCK_LOST, "a release reports the loss, too");
	client_settle(&c);
	check(taken("loss") == 0, "it deletes the remaining keys");
	dlock_claim_free(claim);
	client_free(&c);
}

/* The claim has a bare majority. Servers that refused it are not asked again, and count as servers without it. */
static void test_loss_of_bare_majority(void)
{
	client c = client_quorum(servers, SERVERS, READ_TIMEOUT);

	check(warm_all(&c), "warm");
	for (int way = 0; way < 3; way++) {
		static const char *texts[] = { "extend", "check", "release" };
		dlock_claim *claim = claim_on(&c, "bare", 60000);
		server_do(&servers[0], "SET " PREFIX "bare other PX 600000");
		server_do(&servers[1], "SET " PREFIX "bare other PX 600000");
		check(acquire(&c, claim, 0) == DLOCK_OK && holding(claim) == MAJORITY, "three servers have it");
		server_do(&servers[2], "DEL " PREFIX "bare");
		dlock_status status = way == 0 ? extend(&c, claim, 60000)
			: way == 1                 ? dlock_claim_check(claim, &c.error)
									   : release(&c, claim);
		check(status == DLOCK_LOST, "%s: with one server less it is lost (status %d: %s)", texts[way], status,
			c.error.message);
		dlock_claim_abandon(claim);
		dlock_claim_free(claim);
		client_settle(&c);
		for (int i = 0; i < SERVERS; i++) {
			server_do(&servers[i], "DEL " PREFIX "bare");
		}
	}
	client_free(&c);
}

/* If a majority does not answer, the lease is uncertain, not lost. */
static void test_unknown(void)
{
	enum { TTL = 600000, SHORT = 60000, SURE = 59398 };
	client c = client_quorum(servers, SERVERS, READ_TIMEOUT);
	dlock_claim *claim = claim_on(&c, "unknown", TTL);

	check(warm_all(&c) && acquire(&c, claim, 0) == DLOCK_OK && is_everywhere("unknown"), "all servers have it");
	client_settle(&c);
	for (int i = 0; i < MAJORITY; i++) {
		server_freeze(&servers[i]);
	}
	client_hurry(&c, 200);
	check(extend(&c, claim, 2 * TTL) == DLOCK_QUORUM && look(claim) == DLOCK_CLAIM_UNCERTAIN && left_ms(claim) <= TTL,
		"without an answer it is not extended, but uncertain until its deadline: %s", c.error.message);
	check(extend(&c, claim, SHORT) == DLOCK_QUORUM && left_ms(claim) <= SURE,
		"if some servers may have shortened the lease, the shorter time counts");
	check(dlock_claim_check(claim, &c.error) == DLOCK_QUORUM && look(claim) == DLOCK_CLAIM_UNCERTAIN,
		"a check fails, too");
	client_hurry(&c, 0);
	for (int i = 0; i < MAJORITY; i++) {
		server_thaw(&servers[i]);
	}
	check(dlock_claim_check(claim, &c.error) == DLOCK_OK && look(claim) == DLOCK_CLAIM_HELD && let_go(&c, claim),
		"it succeeds when the servers answer again (%s)", c.error.message);
	client_settle(&c);
	check(eventually_nowhere("unknown"), "all servers release it");
	client_free(&c);
}

/* ---- waiting ---- */

static void test_waiting(void)
{
	client c = client_quorum(servers, SERVERS, READ_TIMEOUT), other = client_quorum(servers, SERVERS, READ_TIMEOUT);
	dlock_claim *claim = claim_on(&c, "waiting", 60000), *waiter = claim_on(&other, "waiting", 60000);
	dlock_wait wait = { .deadline = DLOCK_FOREVER, .interrupted = interrupted };

	interrupt_on(SIGUSR1);
	interrupt_clear();
	check(warm_all(&c) && warm_all(&other) && acquire(&c, claim, 0) == DLOCK_OK && is_everywhere("waiting"), "held");
	client_settle(&c);
	for (unsigned attempts = 1; attempts <= 3; attempts++) {
		dlock_claim *counted = claim_on(&other, "waiting", 60000);
		dlock_wait few = { .deadline = DLOCK_FOREVER, .attempts = attempts, .pause = 10 * DLOCK_MS };
		long long before = server_info(&servers[0], "commandstats", "cmdstat_evalsha:calls");
		check(dlock_claim_acquire(counted, &few, &other.error) == DLOCK_TIMEOUT, "%u attempts", attempts);
		client_settle(&other);
		check(server_info(&servers[0], "commandstats", "cmdstat_evalsha:calls") - before == attempts,
			"the server counts as many");
		dlock_claim_free(counted);
	}
	dlock_nanos start = dlock_now();
	check(acquire(&other, waiter, 300) == DLOCK_TIMEOUT, "a wait of 300 ms times out");
	check(dlock_now() - start >= 300 * DLOCK_MS && dlock_now() - start < SOON, "it lasts at least 300 ms");
	pid_t pid = signal_later(getpid(), SIGUSR1, 150);
	check(dlock_claim_acquire(waiter, &wait, &other.error) == DLOCK_INTERRUPTED, "a signal ends the wait");
	exit_of(pid);
	client_settle(&other);
	check(holding(claim) == SERVERS, "the holder keeps the lock");
	interrupt_clear();
	check(let_go(&c, claim), "released");
	check(dlock_claim_acquire(waiter, &wait, &other.error) == DLOCK_OK && let_go(&other, waiter),
		"the resumed wait acquires it");
	client_settle(&other);
	interrupt_now();
	claim = claim_on(&c, "waiting", 60000), waiter = claim_on(&other, "waiting", 60000);
	check(acquire(&c, claim, 0) == DLOCK_OK && dlock_claim_acquire(waiter, &wait, &other.error) == DLOCK_INTERRUPTED,
		"a signal before the wait interrupts it");
	dlock_claim_abandon(waiter);
	dlock_claim_free(waiter);
	client_settle(&other);
	check(let_go(&c, claim), "released");
	client_settle(&c);
	check(taken("waiting") == 0, "the abandoned waiter leaves nothing");
	client_free(&c);
	client_free(&other);
}

/* Connections opened so far, without those of inboxes. */
static unsigned long connections(const client *c)
{
	unsigned long opened = 0;

	for (const dlock_conn *conn = c->pool->first; conn; conn = conn->next) {
		opened += conn->generation;
	}
	return opened;
}

/* Counted attempts continue without a quorum, because servers may come back. */
static void test_attempts_without_quorum(void)
{
	client c = client_of_some(SERVERS, 3);
	dlock_claim *claim = claim_on(&c, "attempts", 60000);
	dlock_wait few = { .deadline = DLOCK_FOREVER, .attempts = 3, .pause = 10 * DLOCK_MS };

	unsigned long before = connections(&c);
	dlock_status status = dlock_claim_acquire(claim, &few, &c.error);
	check(status == DLOCK_QUORUM && connections(&c) - before == 2 + 3 * 3,
		"each of three attempts asks the dead servers (%lu)", connections(&c) - before);
	dlock_claim_free(claim);
	client_settle(&c);
	check(taken("attempts") == 0, "the attempts leave nothing");
	client_free(&c);
}

/* ---- fork ---- */

static bool is_held_everywhere(void *claim)
{
	return holding(claim) == SERVERS;
}

static void test_fork(void)
{
	client c = client_quorum(servers, SERVERS, READ_TIMEOUT);
	dlock_claim *claim = claim_on(&c, "fork", 60000);

	check(warm_all(&c), "warm");
	server_freeze(&servers[1]); /* so that a straggler and unread answers exist at the fork */
	check(acquire(&c, claim, 0) == DLOCK_OK, "held");
	pid_t pid = fork_child();
	if (pid == 0) {
		int bad = (look(claim) != DLOCK_CLAIM_LOST) + 2 * (release(&c, claim) != DLOCK_LOST)
			+ 4 * !passes(&c, "fork-child", 0);
		dlock_claim *denied = claim_on(&c, "fork", 60000);
		bad += 8 * (acquire(&c, denied, 0) != DLOCK_TIMEOUT);
		dlock_claim_free(denied);
		dlock_claim_abandon(claim);
		dlock_claim_free(claim);
		client_drain(&c);
		client_free(&c);
		exit(bad);
	}
	int bad = exit_of(pid);
	check(bad == 0, "a child leaves it alone and acquires its own locks (%d)", bad);
	server_thaw(&servers[1]);
	check(eventually(is_held_everywhere, claim) && look(claim) == DLOCK_CLAIM_HELD
			&& dlock_claim_check(claim, &c.error) == DLOCK_OK,
		"the parent still holds it");
	check(let_go(&c, claim), "it releases");
	client_settle(&c);
	check(taken("fork") == 0 && dlock_pool_opened(c.pool) == SERVERS, "it uses its own connections");
	client_free(&c);
}

int main(int argc, char **argv)
{
	static const tap_test tests[] = {
		TEST(life), TEST(majorities), TEST(all_dead), TEST(lost_votes), TEST(foreign_minority), TEST(split), TEST(loss),
		TEST(loss_of_bare_majority), TEST(unknown), TEST(waiting), TEST(attempts_without_quorum), TEST(fork),
	};

	return tap_main(argc, argv, tests, sizeof tests / sizeof *tests, &quorum_servers);
}
