/* The single-server back end against a real server. Prints TAP.
 * redis_single_test [word in the names of the tests to run] */

#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "arena.h"
#include "helpers.h"
#include "redis_client.h"
#include "tap.h"

static test_server server;

/* ---- the life of a lock ---- */

static void test_life(void)
{
	client c = client_of(&server, READ_TIMEOUT), other = client_of(&server, READ_TIMEOUT);
	dlock_claim *claim = claim_on(&c, "life", 10000), *second = claim_on(&other, "life", 10000);
	bool locked = true;

	check(c.backend->ops->locked(c.backend, "life", 4, &locked, &c.error) == DLOCK_OK && !locked, "nobody has it");
	dlock_nanos start = dlock_now();
	check(acquire(&c, claim, 0) == DLOCK_OK && claim->state == DLOCK_CLAIM_HELD, "acquired");
	check(!claim->waited, "without waiting");
	check(has(&server, claim), "the key is prefix and resource, its value the token");
	long long pttl = server_integer(&server, "PTTL " PREFIX "life");
	long spent = (long) ((dlock_now() - start) / DLOCK_MS) + 1;
	check(pttl <= 10000 && pttl >= 10000 - spent, "with the lease time asked for (%lld)", pttl);
	check(claim->deadline >= start + 9898 * DLOCK_MS && claim->deadline <= dlock_now() + 9898 * DLOCK_MS,
		"the deadline is the sending and the lease time without 1 %% and 2 ms");
	check(left_ms(claim) <= 9898 && left_ms(claim) >= 9898 - spent, "and what remains, what is left of it");
	check(claim->fencing_token > INT64_C(1700000000000000) && claim->fencing_token < INT64_C(1) << 53, "a fencing token");
	check(other.backend->ops->locked(other.backend, "life", 4, &locked, &c.error) == DLOCK_OK && locked, "somebody has it");
	check(acquire(&other, second, 0) == DLOCK_TIMEOUT && look(second) != DLOCK_CLAIM_HELD, "nobody else gets it");
	check(release(&other, second) == DLOCK_LOST && has(&server, claim), "nor gives it back");
	check(extend(&c, claim, 20000) == DLOCK_OK && claim->ttl == 20000 * DLOCK_MS, "extended");
	pttl = server_integer(&server, "PTTL " PREFIX "life");
	check(pttl > 15000 && pttl <= 20000 && left_ms(claim) > 15000 && left_ms(claim) <= 19798, "here and there (%lld)", pttl);
	check(extend(&c, claim, 5000) == DLOCK_OK && left_ms(claim) <= 4948, "a lease can be made shorter");
	server_do(&server, "PEXPIRE " PREFIX "life 3000");
	check(dlock_claim_check(claim, &c.error) == DLOCK_OK && left_ms(claim) <= 2968 && left_ms(claim) > 1000,
		"a check believes the server");
	check(release(&c, claim) == DLOCK_OK && claim->state == DLOCK_CLAIM_RELEASED && left_ms(claim) == 0, "released");
	check(has_nobody(&server, "life"), "the key is gone");
	check(release(&c, claim) == DLOCK_LOST, "a second release is none");
	check(extend(&c, claim, 1000) == DLOCK_LOST && dlock_claim_check(claim, &c.error) == DLOCK_LOST, "nor is there more of it");
	check(acquire(&other, second, 0) == DLOCK_OK && let_go(&other, second), "the next one gets it");
	dlock_claim_free(claim);
	client_free(&c);
	client_free(&other);
}

/* Nothing of the lock's name is lost or interpreted on its way. */
static void test_names(void)
{
	static char longest[DLOCK_RESOURCE_MAX];
	static const struct {
		const char *name;
		size_t len;
	} names[] = {
		{ "a\0b", 3 }, { "\0", 1 }, { " ", 1 }, { "\r\n*1\r\n", 6 }, { "%s%b", 4 }, { "{a}b", 4 }, { "\xff\xfe", 2 },
		{ longest, sizeof longest },
	};
	client c = client_of(&server, READ_TIMEOUT);
	int bad = 0;

	memset(longest, '\xfe', sizeof longest);
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		dlock_claim *claim = dlock_claim_new(c.backend, names[i].name, names[i].len, DLOCK_SECOND, NULL, &c.error);
		bad += acquire(&c, claim, 0) != DLOCK_OK || !has(&server, claim) || !let_go(&c, claim);
	}
	check(bad == 0, "odd names (%d)", bad);
	client_free(&c);
}

static void test_key_space(void)
{
	client c = client_of(&server, READ_TIMEOUT);
	int bad = 0;

	for (int i = 0; i < 100; i++) {
		char name[32];
		snprintf(name, sizeof name, "space-%d", i);
		bad += !passes(&c, name, 0);
	}
	check(bad == 0 && server_integer(&server, "DBSIZE") == 1, "a hundred resources leave one key");
	check(dlock_pool_opened(c.pool) == 1, "over one connection");
	client_free(&c);
}

static void test_abandon(void)
{
	client c = client_of(&server, READ_TIMEOUT);
	dlock_claim *claim = claim_on(&c, "abandon", 60000), *fresh = claim_on(&c, "abandon", 60000);

	check(warm(&c) && acquire(&c, claim, 0) == DLOCK_OK, "held");
	dlock_claim_abandon(fresh);
	client_drain(&c);
	check(fresh->state == DLOCK_CLAIM_NEW && has(&server, claim), "what was never tried is nothing to abandon");
	dlock_claim_abandon(claim);
	check(look(claim) == DLOCK_CLAIM_RELEASED, "abandoned");
	check(acquire(&c, fresh, 0) == DLOCK_OK, "whatever is asked later finds it free");
	dlock_claim_abandon(claim);
	client_drain(&c);
	check(has(&server, fresh), "abandoned once only");
	dlock_claim_abandon(fresh);
	client_drain(&c);
	check(has_nobody(&server, "abandon") && !dlock_conn_busy(c.pool->first), "drained");
	dlock_claim_free(claim);
	dlock_claim_free(fresh);
	client_free(&c);
}

/* A request's end: what is abandoned goes out even when the process ends without reading the answers, and also when the
 * server has not seen the script before, since nobody is there to send it then. */
static void test_abandon_and_end(void)
{
	for (int known = 1; known >= 0; known--) {
		pid_t pid = fork_child();
		if (pid == 0) {
			client c = client_of(&server, READ_TIMEOUT);
			dlock_claim *claim = claim_on(&c, "end", 60000);
			if ((known && !warm(&c)) || acquire(&c, claim, 0) != DLOCK_OK) {
				_exit(1);
			}
			dlock_claim_abandon(claim);
			_exit(0);
		}
		check(exit_of(pid) == 0 && eventually_nobody(&server, "end"), "abandoned by a process that ends at once, the script %s",
			known ? "known" : "unknown");
		server_reset(&server);
	}
}

/* The same without an end: a release whose script is not known must not fall behind what is asked later. */
static void test_abandon_unknown_script(void)
{
	client c = client_of(&server, READ_TIMEOUT);
	dlock_claim *claim = claim_on(&c, "unknown", 60000), *next = claim_on(&c, "unknown", 60000);

	check(acquire(&c, claim, 0) == DLOCK_OK, "held, no release script on the server");
	dlock_claim_abandon(claim);
	check(acquire(&c, next, 0) == DLOCK_OK, "what is asked behind the release finds it free");
	client_drain(&c);
	dlock_claim_free(claim);
	dlock_claim_free(next);
	client_free(&c);
}

/* ---- somebody else's ---- */

static void test_foreign_values(void)
{
	static const char *values[] = { "1699999999", "", "%sx", "x%s", "%.31s" };
	client c = client_of(&server, READ_TIMEOUT);

	for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
		dlock_claim *claim = claim_on(&c, "foreign", 10000);
		char value[64];
		acquire(&c, claim, 0);
		snprintf(value, sizeof value, values[i], claim->token);
		server_do(&server, "SET " PREFIX "foreign %s PX 5000", value);
		check(extend(&c, claim, 60000) == DLOCK_LOST && server_integer(&server, "PTTL " PREFIX "foreign") <= 5000,
			"\"%s\" is not extended", value);
		claim->state = DLOCK_CLAIM_HELD;
		check(dlock_claim_check(claim, &c.error) == DLOCK_LOST && left_ms(claim) == 0, "a check says lost");
		claim->state = DLOCK_CLAIM_HELD;
		check(release(&c, claim) == DLOCK_LOST, "a release says lost");
		claim->state = DLOCK_CLAIM_HELD;
		dlock_claim_abandon(claim);
		client_drain(&c);
		check(!strcmp(server_text(&server, "GET " PREFIX "foreign"), value), "and it is still there");
		claim->state = DLOCK_CLAIM_NEW;
		check(acquire(&c, claim, 0) == DLOCK_TIMEOUT, "and taken");
		server_do(&server, "DEL " PREFIX "foreign");
		dlock_claim_free(claim);
	}
	client_free(&c);
}

static void test_deleted_by_hand(void)
{
	client c = client_of(&server, READ_TIMEOUT);
	dlock_claim *claim = claim_on(&c, "deleted", 10000);

	acquire(&c, claim, 0);
	server_do(&server, "DEL " PREFIX "deleted");
	check(look(claim) == DLOCK_CLAIM_HELD && dlock_claim_check(claim, &c.error) == DLOCK_LOST, "a check finds out");
	check(look(claim) == DLOCK_CLAIM_LOST && extend(&c, claim, 1000) == DLOCK_LOST && has_nobody(&server, "deleted"),
		"and it is not set again");
	dlock_claim_free(claim);
	client_free(&c);
}

/* The token that a lost reply leaves on the server is found again, and is ours. */
static void test_repeated(void)
{
	client c = client_of(&server, READ_TIMEOUT);
	dlock_claim *claim = claim_on(&c, "repeated", 10000);

	server_do(&server, "SET " PREFIX "repeated %s PX 500", claim->token);
	check(acquire(&c, claim, 0) == DLOCK_OK && left_ms(claim) > 5000, "an acquire of its own token succeeds");
	check(server_integer(&server, "PTTL " PREFIX "repeated") > 5000, "with a lease time anew");
	int64_t token = claim->fencing_token;
	check(acquire(&c, claim, 0) == DLOCK_OK && claim->fencing_token > token, "and a higher fencing token");
	check(let_go(&c, claim), "released");
	client_free(&c);
}

static void test_expired(void)
{
	client c = client_of(&server, READ_TIMEOUT);
	dlock_claim *claim = claim_on(&c, "expired", 60), *next = claim_on(&c, "expired", 10000);

	check(acquire(&c, claim, 0) == DLOCK_OK && acquire(&c, next, 5000) == DLOCK_OK, "it goes on to the next when it expires");
	check(next->waited, "who waited");
	check(look(claim) == DLOCK_CLAIM_LOST, "the first knows it by the clock");
	check(extend(&c, claim, 10000) == DLOCK_LOST && has(&server, next), "and stays without it");
	check(release(&c, claim) == DLOCK_LOST && has(&server, next), "for ever");
	check(let_go(&c, next), "released");
	dlock_claim_free(claim);
	client_free(&c);
}

/* Lost by the clock stays lost, though the server still has the key: somebody may have been told. */
static void test_lost_by_clock(void)
{
	client c = client_of(&server, READ_TIMEOUT);
	dlock_claim *claim = claim_on(&c, "clock", 10000);

	acquire(&c, claim, 0);
	claim->deadline = dlock_now() - 1;
	check(look(claim) == DLOCK_CLAIM_LOST && extend(&c, claim, 10000) == DLOCK_LOST, "not extended");
	check(release(&c, claim) == DLOCK_LOST && has_nobody(&server, "clock"), "but given back");
	dlock_claim_free(claim);
	client_free(&c);
}

/* A lease shorter than the drift can never be relied upon. */
static void test_tiny_ttl(void)
{
	client c = client_of(&server, READ_TIMEOUT);
	dlock_claim *claim = claim_on(&c, "tiny", 1);

	server_do(&server, "CONFIG RESETSTAT");
	check(acquire(&c, claim, 300) == DLOCK_TIMEOUT && look(claim) != DLOCK_CLAIM_HELD, "a lease of 1 ms");
	long long attempts = server_info(&server, "commandstats", "cmdstat_evalsha:calls");
	check(attempts > 2 && attempts < 50, "is not tried for without a pause (%lld attempts)", attempts);
	dlock_claim_free(claim);
	claim = dlock_claim_new(c.backend, "tiny", 4, 1, NULL, &c.error);
	check(acquire(&c, claim, 0) == DLOCK_TIMEOUT, "a lease of 1 ns");
	dlock_claim_free(claim);
	client_drain(&c);
	check(has_nobody(&server, "tiny"), "leave nothing");
	client_free(&c);
}

/* ---- scripts ---- */

static void test_script_flush(void)
{
	enum { COUNT = 20 };
	client c = client_of(&server, READ_TIMEOUT);
	dlock_claim *claims[COUNT], *again = claim_on(&c, "flush-7", 10000);
	int bad = 0;

	for (int i = 0; i < COUNT; i++) {
		char name[32];
		snprintf(name, sizeof name, "flush-%d", i);
		claims[i] = claim_on(&c, name, 60000);
		server_do(&server, "SCRIPT FLUSH");
		bad += acquire(&c, claims[i], 0) != DLOCK_OK;
	}
	check(bad == 0, "acquired after SCRIPT FLUSH");
	server_do(&server, "SCRIPT FLUSH");
	check(extend(&c, claims[0], 60000) == DLOCK_OK && dlock_claim_check(claims[0], &c.error) == DLOCK_OK, "so are the others");
	dlock_claim_abandon(claims[0]);
	server_do(&server, "SCRIPT FLUSH");
	for (int i = 1; i < COUNT; i++) {
		dlock_claim_abandon(claims[i]);
	}
	check(acquire(&c, again, 0) == DLOCK_OK, "what is asked behind pipelined releases finds them done");
	client_drain(&c);
	for (int i = 0; i < COUNT; i++) {
		char name[32];
		snprintf(name, sizeof name, "flush-%d", i);
		bad += i != 7 && !has_nobody(&server, name);
		dlock_claim_free(claims[i]);
	}
	check(bad == 0 && has(&server, again), "pipelined releases all went through");
	check(let_go(&c, again) && dlock_pool_opened(c.pool) == 1, "over one connection");
	client_free(&c);
}

static void test_scripts_loaded_once(void)
{
	client c = client_of(&server, READ_TIMEOUT);
	int bad = 0;

	server_reset(&server);
	for (int i = 0; i < 50; i++) {
		bad += !passes(&c, "once", 0);
	}
	check(bad == 0 && server_info(&server, "commandstats", "cmdstat_eval:calls") == 2, "each script is sent in full once");
	check(server_info(&server, "commandstats", "cmdstat_evalsha:calls") == 100, "one round trip each");
	client_free(&c);
}

/* ---- waiting ---- */

static void test_timeouts(void)
{
	client c = client_of(&server, READ_TIMEOUT);
	dlock_claim *claim = claim_on(&c, "timeouts", 60000), *waiter = claim_on(&c, "timeouts", 60000);

	acquire(&c, claim, 0);
	server_do(&server, "CONFIG RESETSTAT");
	check(acquire(&c, waiter, 0) == DLOCK_TIMEOUT, "no time");
	check(server_info(&server, "commandstats", "cmdstat_evalsha:calls") == 1, "is one attempt");
	dlock_wait past = { .deadline = 0 };
	check(dlock_claim_acquire(waiter, &past, &c.error) == DLOCK_TIMEOUT
		&& server_info(&server, "commandstats", "cmdstat_evalsha:calls") == 2, "so is a deadline in the past");
	dlock_nanos start = dlock_now();
	check(acquire(&c, waiter, 300) == DLOCK_TIMEOUT, "300 ms");
	check(dlock_now() - start >= 300 * DLOCK_MS && dlock_now() - start < 3 * DLOCK_SECOND, "last that long");
	check(server_info(&server, "commandstats", "cmdstat_evalsha:calls") < 60, "without a storm of attempts");
	check(has(&server, claim) && let_go(&c, claim), "and leave the holder alone");
	check(acquire(&c, waiter, 0) == DLOCK_OK && let_go(&c, waiter), "the same claim can be tried again");
	client_free(&c);
}

static void test_interruption(void)
{
	client c = client_of(&server, READ_TIMEOUT);
	dlock_claim *claim = claim_on(&c, "interruption", 60000), *waiter = claim_on(&c, "interruption", 60000);
	dlock_wait wait = { .deadline = DLOCK_FOREVER, .interrupted = interrupted };

	interrupt_on(SIGUSR1);
	acquire(&c, claim, 0);
	for (int i = 0; i < 2; i++) {
		interrupt_clear();
		pid_t pid = signal_later(getpid(), SIGUSR1, 150);
		dlock_nanos start = dlock_now();
		check(dlock_claim_acquire(waiter, &wait, &c.error) == DLOCK_INTERRUPTED, "a signal ends the wait");
		check(dlock_now() - start < 2 * DLOCK_SECOND, "soon");
		exit_of(pid);
	}
	interrupt_clear();
	check(let_go(&c, claim) && dlock_claim_acquire(waiter, &wait, &c.error) == DLOCK_OK, "resumed, and acquired");
	dlock_claim *third = claim_on(&c, "interruption", 60000);
	interrupt_now();
	check(dlock_claim_acquire(third, &wait, &c.error) == DLOCK_INTERRUPTED, "interrupted from the start");
	dlock_claim_abandon(third);
	dlock_claim_free(third);
	interrupt_clear();
	client_drain(&c);
	check(has(&server, waiter) && let_go(&c, waiter) && has_nobody(&server, "interruption"), "abandoned without a trace");
	client_free(&c);
}

static void test_handed_over(void)
{
	client c = client_of(&server, READ_TIMEOUT);
	dlock_claim *claim = claim_on(&c, "over", 60000);
	int line[2];
	char byte;

	acquire(&c, claim, 0);
	check(pipe(line) == 0, "pipe");
	for (int i = 0; i < 5; i++) {
		pid_t pid = fork_child();
		if (pid == 0) {
			client own = client_of(&server, READ_TIMEOUT);
			dlock_claim *waiter = claim_on(&own, "over", 60000);
			if (write(line[1], "x", 1) != 1 || acquire(&own, waiter, -1) != DLOCK_OK || !waiter->waited
				|| waiter->fencing_token <= claim->fencing_token) {
				_exit(1);
			}
			/* Until the answer to its extension is there, nothing longer is sure; then it is. */
			if (waiter->received && waiter->unacknowledged_ttl != waiter->ttl) {
				_exit(2);
			}
			if (extend(&own, waiter, 120000) != DLOCK_OK || waiter->unacknowledged_ttl != 0 || left_ms(waiter) < 100000) {
				_exit(3);
			}
			_exit(!let_go(&own, waiter));
		}
		check(read(line[0], &byte, 1) == 1, "a process waits");
		sleep_ms(50);
		dlock_nanos start = dlock_now();
		check(let_go(&c, claim) && exit_of(pid) == 0, "what is released goes to the waiter");
		check(dlock_now() - start < 2 * DLOCK_SECOND, "soon");
		claim = claim_on(&c, "over", 60000);
		check(acquire(&c, claim, 0) == DLOCK_OK, "and back");
	}
	check(let_go(&c, claim), "released");
	close(line[0]);
	close(line[1]);
	client_free(&c);
}

static client patient_client(void)
{
	return client_of(&server, 10 * DLOCK_SECOND);
}

static void test_contention(void)
{
	enum { PROCESSES = 8, SECTIONS = 50 };
	arena *arena = shared_memory(sizeof *arena);

	check(arena_run(arena, PROCESSES, SECTIONS, patient_client) == 0, "one at a time, with rising tokens");
	check(arena->counter == PROCESSES * SECTIONS, "no update was lost (%ld)", arena->counter);
}

/* ---- fork ---- */

static void test_fork(void)
{
	client c = client_of(&server, READ_TIMEOUT);
	dlock_claim *claim = claim_on(&c, "fork", 60000), *waiting = claim_on(&c, "fork", 60000);
	dlock_wait once = { .deadline = 0 };

	acquire(&c, claim, 0);
	for (int plain = 0; plain < 2; plain++) {
		pid_t pid = fork_child();
		if (pid == 0) {
			int bad = (look(claim) != DLOCK_CLAIM_LOST) + 2 * (release(&c, claim) != DLOCK_LOST)
				+ 4 * (extend(&c, claim, 1000) != DLOCK_LOST) + 8 * (dlock_claim_check(claim, &c.error) != DLOCK_LOST)
				+ 16 * (dlock_claim_acquire(waiting, &once, &c.error) != DLOCK_LOST);
			dlock_claim_abandon(claim);
			dlock_claim_free(claim);
			dlock_claim_free(waiting);
			client_drain(&c);
			client_free(&c);
			plain ? _exit(bad) : exit(bad);
		}
		int bad = exit_of(pid);
		check(bad == 0, "in a child the lock is lost, and it ends (%d)", bad);
		check(has(&server, claim) && look(claim) == DLOCK_CLAIM_HELD && dlock_claim_check(claim, &c.error) == DLOCK_OK,
			"the parent still holds it");
	}
	check(let_go(&c, claim) && dlock_pool_opened(c.pool) == 1, "over the same connection");
	dlock_claim_free(waiting);
	client_free(&c);
}

static int clients_named_evalsha(void)
{
	int count = 0;

	for (const char *at = server_text(&server, "CLIENT LIST TYPE normal"); (at = strstr(at, " cmd=eval")); at++) {
		count++;
	}
	return count;
}

/* Parent, child and grandchild use what they inherited, each by a connection of its own. */
static void test_fork_and_use(void)
{
	client c = client_of(&server, READ_TIMEOUT);
	dlock_claim *claim = claim_on(&c, "use", 60000);
	int go[2], done[2];
	char byte;

	check(pipe(go) == 0 && pipe(done) == 0, "pipes");
	acquire(&c, claim, 0);
	pid_t pid = fork_child();
	if (pid == 0) {
		dlock_claim *own = claim_on(&c, "use-child", 60000), *denied = claim_on(&c, "use", 60000);
		int bad = (acquire(&c, own, 0) != DLOCK_OK) + 2 * (acquire(&c, denied, 0) != DLOCK_TIMEOUT);
		pid_t grandchild = fork_child();
		if (grandchild == 0) {
			dlock_claim *third = claim_on(&c, "use-grandchild", 60000);
			bad += 4 * (acquire(&c, third, 0) != DLOCK_OK) + 8 * (look(own) != DLOCK_CLAIM_LOST);
			bad += 16 * (write(done[1], "x", 1) != 1 || read(go[0], &byte, 1) != 1);
			_exit(bad + 32 * !let_go(&c, third));
		}
		bad += exit_of(grandchild);
		bad += 64 * !let_go(&c, own);
		dlock_claim_free(denied);
		client_free(&c);
		_exit(bad);
	}
	check(read(done[0], &byte, 1) == 1, "child and grandchild have locks of their own");
	check(clients_named_evalsha() == 3, "over connections of their own (%d)", clients_named_evalsha());
	check(dlock_claim_check(claim, &c.error) == DLOCK_OK, "the parent works meanwhile");
	check(write(go[1], "x", 1) == 1, "go");
	int bad = exit_of(pid);
	check(bad == 0, "they end well (%d)", bad);
	check(extend(&c, claim, 60000) == DLOCK_OK && let_go(&c, claim) && dlock_pool_opened(c.pool) == 1,
		"the parent's connection still works");
	close(go[0]), close(go[1]), close(done[0]), close(done[1]);
	client_free(&c);
}

/* Answers to the parent's requests must not be read by the child. */
static void test_fork_under_way(void)
{
	client c = client_of(&server, READ_TIMEOUT);
	dlock_claim *claims[10];

	warm(&c);
	for (int i = 0; i < 10; i++) {
		char name[32];
		snprintf(name, sizeof name, "way-%d", i);
		claims[i] = claim_on(&c, name, 60000);
		acquire(&c, claims[i], 0);
	}
	server_freeze(&server);
	for (int i = 0; i < 10; i++) {
		dlock_claim_abandon(claims[i]);
		dlock_claim_free(claims[i]);
	}
	pid_t pid = fork_child();
	if (pid == 0) {
		client_drain(&c);
		int bad = dlock_conn_busy(client_conn(&c, 0)) + 2 * !passes(&c, "way-child", 0);
		client_free(&c);
		_exit(bad);
	}
	pid_t thaw = server_thaw_later(&server, 100);
	check(passes(&c, "way-3", 0), "the parent gets its answers");
	int bad = exit_of(pid);
	check(bad == 0, "the child its own (%d)", bad);
	check(dlock_pool_opened(c.pool) == 1 && server_integer(&server, "DBSIZE") == 1, "all is released");
	exit_of(thaw);
	client_free(&c);
}

/* ---- fencing tokens ---- */

static int64_t next_token(client *c, const char *resource)
{
	dlock_claim *claim = claim_on(c, resource, 60000);
	int64_t token = acquire(c, claim, 0) == DLOCK_OK ? claim->fencing_token : -1;

	return let_go(c, claim) ? token : -1;
}

static void test_fencing(void)
{
	static const char *changes[] = { "PING", "FLUSHALL", "DEL " DLOCK_FENCE_KEY, "SET " DLOCK_FENCE_KEY " 5", "SET " DLOCK_FENCE_KEY " 0",
		"SET " DLOCK_FENCE_KEY " -7", "SCRIPT FLUSH", "SET " DLOCK_FENCE_KEY " 4102444800000000", "PING", "PING", "SCRIPT FLUSH",
		"SET " DLOCK_FENCE_KEY " 9007199254740000", "PING", "PING" };
	client c = client_of(&server, READ_TIMEOUT);
	int64_t last = 0;

	for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
		server_do(&server, changes[i]);
		int64_t token = next_token(&c, i % 2 ? "fence-a" : "fence-b");
		check(token > last && token < INT64_C(1) << 53, "%s: the token rises (%lld)", changes[i], (long long) token);
		const char *stored = server_text(&server, "GET " DLOCK_FENCE_KEY);
		check(strspn(stored, "0123456789") == strlen(stored) && atoll(stored) == token, "and is kept as a whole number (%s)", stored);
		last = token;
	}
	server_do(&server, "SET " DLOCK_FENCE_KEY " 4102444800000000");
	check(next_token(&c, "fence") == INT64_C(4102444800000001), "one more than one in the future");
	check(server_integer(&server, "TTL " DLOCK_FENCE_KEY) == -1, "the last token does not expire");
	client_free(&c);
}

/* What the fence can only be where somebody has meddled with it: a script cannot count on from there. */
static void test_fencing_impossible(void)
{
	static const char *const fences[] = { "9007199254740991", "9007199254740992", "9223372036854775807", "1e300", "1e999", "inf" };
	client c = client_of(&server, READ_TIMEOUT);

	for (size_t i = 0; i < sizeof fences / sizeof *fences; i++) {
		server_do(&server, "SET " DLOCK_FENCE_KEY " %s", fences[i]);
		for (int again = 0; again < 2; again++) {
			dlock_claim *claim = claim_on(&c, "impossible", 60000);
			check(acquire(&c, claim, 0) == DLOCK_CONNECTION && explains(&c, "127.0.0.1", "fenc") && left_ms(claim) == 0,
				"a fence of %s: %s", fences[i], c.error.message);
			dlock_claim_free(claim);
			check(eventually_nobody(&server, "impossible"), "nothing is left of it");
		}
	}
	server_do(&server, "SET " DLOCK_FENCE_KEY " 9007199254740990");
	check(next_token(&c, "impossible") == INT64_C(9007199254740991), "the last one possible");
	client_free(&c);
}

/* A time to live that is no lease time of anybody's. */
static void test_endless_key(void)
{
	static const char *const times[] = { "9223370000000000000", "9223372036854", "9223372036855", "31536000001" };
	client c = client_of(&server, READ_TIMEOUT);
	dlock_claim *claim = claim_on(&c, "endless", 60000);

	check(acquire(&c, claim, 0) == DLOCK_OK, "held");
	for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
		server_do(&server, "PEXPIRE " PREFIX "endless %s", times[i]);
		check(dlock_claim_check(claim, &c.error) == DLOCK_OK && look(claim) == DLOCK_CLAIM_HELD, "%s ms: held (%s)", times[i], c.error.message);
		check(left_ms(claim) > 300LL * 24 * 3600 * 1000 && left_ms(claim) < 366LL * 24 * 3600 * 1000, "for not quite a year (%ld)", left_ms(claim));
	}
	check(let_go(&c, claim), "released");
	client_free(&c);
}

static void test_fencing_keeps_up(void)
{
	client c = client_of(&server, READ_TIMEOUT);
	int64_t last = 0;
	int bad = 0;

	for (int i = 0; i < 500; i++) {
		int64_t token = next_token(&c, "many");
		bad += token <= last;
		last = token;
	}
	check(bad == 0, "five hundred in a row rise");
	client_free(&c);
}

/* ---- when a waiter looks again ---- */

static void test_next_look(void)
{
	static const struct {
		int64_t pttl, place;
		int least_ms, most_ms;
	} cases[] = {
		{ -1, 0, 1590, 2300 },      /* nothing is known: the sign of life, well within the 3 s after which it is taken for dead */
		{ 60000, 3, 1590, 2300 },
		{ 10, 0, 10, 20 },          /* the first looks as soon as the holder's lease is over, */
		{ 10, 5, 110, 130 },        /* the others later, one after the other */
		{ INT64_MAX, 0, 1590, 2300 },
		{ 10, INT64_MAX / 2, 1590, 2300 },
	};
	int bad = 0;

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		dlock_answer answer = { .pttl = cases[i].pttl, .place = cases[i].place };
		for (int k = 0; k < 200; k++) {
			dlock_nanos look = dlock_next_look(&answer) - dlock_now();
			bad += look < (cases[i].least_ms - 5) * DLOCK_MS || look > cases[i].most_ms * DLOCK_MS;
		}
	}
	check(bad == 0, "a waiter looks again within its bounds");
}

/* Beside holders that tell nobody when they go. */
static void test_next_look_legacy(void)
{
	static const struct {
		int64_t pttl, place;
		int least_ms, most_ms;
	} cases[] = {
		{ -1, 0, 80, 120 }, { -1, -1, 80, 120 }, { -1, 4, 400, 600 }, { -1, 50, 1590, 2300 }, { -1, INT64_MAX / 2, 1590, 2300 },
		{ 60000, 0, 1590, 2300 }, { 10, 0, 10, 20 },
	};
	int bad = 0;

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		dlock_answer answer = { .pttl = cases[i].pttl, .place = cases[i].place };
		for (int k = 0; k < 200; k++) {
			dlock_nanos look = dlock_next_look_legacy(&answer) - dlock_now();
			bad += look < (cases[i].least_ms - 5) * DLOCK_MS || look > cases[i].most_ms * DLOCK_MS;
		}
	}
	check(bad == 0, "a waiter looks again within its bounds (%d)", bad);
}

/* ---- timestamps of older code ---- */

static void test_legacy(void)
{
	client c = client_of(&server, READ_TIMEOUT), plain = client_of(&server, READ_TIMEOUT);
	c.backend->legacy = true;
	dlock_claim *claim = claim_on(&c, "legacy", 60000), *waiter = claim_on(&c, "legacy", 60000), *other = claim_on(&plain, "legacy", 60000);

	server_do(&server, "SET " PREFIX "legacy 1500000000");
	check(acquire(&plain, other, 0) == DLOCK_TIMEOUT, "a timestamp is no business of an ordinary claim");
	check(acquire(&c, claim, 0) == DLOCK_OK && has(&server, claim), "an ended one is taken over");
	check(strlen(claim->token) == DLOCK_TOKEN_MAX && server_integer(&server, "PTTL " PREFIX "legacy") > 50000, "with a lease time");
	check(acquire(&c, waiter, 50) == DLOCK_TIMEOUT && has(&server, claim), "and kept");
	check(dlock_claim_check(claim, &c.error) == DLOCK_OK && extend(&c, claim, 50000) == DLOCK_OK, "checked and extended");
	check(dlock_claim_release(claim, &c.error) == DLOCK_OK && has_nobody(&server, "legacy"), "released");
	server_do(&server, "SET " PREFIX "legacy 9999999998");
	claim->state = DLOCK_CLAIM_NEW;
	check(acquire(&c, claim, 300) == DLOCK_TIMEOUT, "one in the future is waited for");
	check(!strcmp(server_text(&server, "GET " PREFIX "legacy"), "9999999998") && server_integer(&server, "EXISTS dlock:queue:{" PREFIX "legacy}") == 0,
		"and left alone, with no queue");
	server_do(&server, "DEL " PREFIX "legacy");
	dlock_claim_free(claim);
	dlock_claim_free(waiter);
	dlock_claim_free(other);
	client_free(&c);
	client_free(&plain);
}

static bool somebody_waits(void *context)
{
	(void) context;
	return server_integer(&server, "EXISTS dlock:queue:{" PREFIX "legacy-queue}") == 1;
}

/* Tokens of both lengths in one queue, each process with its own. */
static void test_legacy_handed_over(void)
{
	client c = client_of(&server, READ_TIMEOUT);
	c.backend->legacy = true;
	dlock_claim *claim = claim_on(&c, "legacy-queue", 60000);

	check(acquire(&c, claim, 0) == DLOCK_OK, "held");
	for (int legacy = 0; legacy < 2; legacy++) {
		pid_t pid = fork_child();
		if (pid == 0) {
			client own = client_of(&server, READ_TIMEOUT);
			own.backend->legacy = legacy;
			dlock_claim *waiter = claim_on(&own, "legacy-queue", 60000);
			_exit(acquire(&own, waiter, 20000) == DLOCK_OK && waiter->waited && has(&server, waiter)
				&& release(&own, waiter) == DLOCK_OK ? 0 : 1);
		}
		check(eventually(somebody_waits, NULL), "a process waits");
		sleep_ms(50);
		dlock_nanos start = dlock_now();
		check(release(&c, claim) == DLOCK_OK && exit_of(pid) == 0, "handed over to a token %s a prefix", legacy ? "with" : "without");
		check(dlock_now() - start < DLOCK_SECOND, "as soon as it was told, not when it looked again");
		claim->state = DLOCK_CLAIM_NEW;
		check(acquire(&c, claim, 5000) == DLOCK_OK, "and back");
	}
	check(let_go(&c, claim), "released");
	client_free(&c);
}

static void reset(void)
{
	server_reset(&server);
}

int main(int argc, char **argv)
{
	static const tap_test tests[] = {
		{ "life", test_life }, { "names", test_names }, { "key space", test_key_space }, { "abandon", test_abandon },
		{ "abandon and end", test_abandon_and_end }, { "abandon unknown script", test_abandon_unknown_script },
		{ "foreign values", test_foreign_values }, { "deleted by hand", test_deleted_by_hand }, { "repeated", test_repeated },
		{ "expired", test_expired }, { "lost by clock", test_lost_by_clock }, { "script flush", test_script_flush },
		{ "scripts loaded once", test_scripts_loaded_once }, { "tiny ttl", test_tiny_ttl }, { "timeouts", test_timeouts },
		{ "interruption", test_interruption }, { "handed over", test_handed_over }, { "contention", test_contention },
		{ "fork", test_fork }, { "fork and use", test_fork_and_use }, { "fork under way", test_fork_under_way },
		{ "fencing", test_fencing }, { "fencing impossible", test_fencing_impossible },
		{ "endless key", test_endless_key }, { "fencing keeps up", test_fencing_keeps_up }, { "next look", test_next_look },
		{ "next look, legacy", test_next_look_legacy }, { "legacy", test_legacy },
		{ "legacy handed over", test_legacy_handed_over },
	};

	signal(SIGPIPE, SIG_IGN); /* as PHP has it */
	dlock_process_init();
	server_start(&server, NULL);
	tap_run(tests, sizeof tests / sizeof *tests, argc > 1 ? argv[1] : NULL, reset);
	return tap_end();
}
