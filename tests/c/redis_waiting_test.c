/* Waiting at a single server: for how long, in which order, beside older code. Prints TAP. */

#include <signal.h>
#include <unistd.h>

#include "helpers.h"
#include "one_server.h"

/* ---- waiting ---- */

static void test_timeouts(void)
{
	client c = client_of(&server, READ_TIMEOUT);
	dlock_claim *claim = claim_on(&c, "timeouts", 60000), *waiter = claim_on(&c, "timeouts", 60000);

	acquire(&c, claim, 0);
	server_do(&server, "CONFIG RESETSTAT");
	check(acquire(&c, waiter, 0) == DLOCK_TIMEOUT, "a timeout of 0 ends the wait");
	check(server_info(&server, "commandstats", "cmdstat_evalsha:calls") == 1, "a timeout of 0 makes one attempt");
	dlock_wait past = { .deadline = 0 };
	check(dlock_claim_acquire(waiter, &past, &c.error) == DLOCK_TIMEOUT
			&& server_info(&server, "commandstats", "cmdstat_evalsha:calls") == 2,
		"a deadline in the past makes one attempt, too");
	dlock_nanos start = dlock_now();
	check(acquire(&c, waiter, 300) == DLOCK_TIMEOUT, "a wait of 300 ms times out");
	check(dlock_now() - start >= 300 * DLOCK_MS && dlock_now() - start < SOON, "it lasts at least 300 ms");
	check(server_info(&server, "commandstats", "cmdstat_evalsha:calls") < 60, "it makes few attempts");
	check(has(&server, claim) && let_go(&c, claim), "the holder keeps the lock");
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
		check(dlock_now() - start < SOON, "it ends soon");
		exit_of(pid);
	}
	interrupt_clear();
	check(let_go(&c, claim) && dlock_claim_acquire(waiter, &wait, &c.error) == DLOCK_OK,
		"the resumed wait acquires the lock");
	dlock_claim *third = claim_on(&c, "interruption", 60000);
	interrupt_now();
	check(dlock_claim_acquire(third, &wait, &c.error) == DLOCK_INTERRUPTED, "a signal before the wait interrupts it");
	dlock_claim_abandon(third);
	dlock_claim_free(third);
	interrupt_clear();
	client_settle(&c);
	check(has(&server, waiter) && let_go(&c, waiter) && has_nobody(&server, "interruption"),
		"an abandoned waiter leaves nothing");
	client_free(&c);
}

static bool is_queued(void *context)
{
	(void) context;
	return server_integer(&server, "ZCARD dlock:queue:{" PREFIX "over}") == 1;
}

/* The exit status of a waiter that was not granted the lock. */
enum { NOT_GRANTED = 2 };

static int wait_and_extend(client *c, dlock_claim *waiter, int64_t before)
{
	if (acquire(c, waiter, -1) != DLOCK_OK || !waiter->waited || waiter->fencing_token <= before) {
		return 1;
	}
	/* A grant is short. Until the waiter has requested more, it may rely on the grant only. */
	bool is_granted = waiter->received && atomic_load(&waiter->short_lease);
	if (is_granted && left_ms(waiter) > 3000) {
		return 3;
	}
	dlock_status status = extend(c, waiter, 120000);
	/* it expired if the process stood still */
	if (status == DLOCK_OK && (atomic_load(&waiter->short_lease) || left_ms(waiter) < 60000)) {
		return 4;
	}
	return let_go(c, waiter) && status == DLOCK_OK && is_granted ? 0 : NOT_GRANTED;
}

static void test_handed_over(void)
{
	client c = client_of(&server, READ_TIMEOUT);
	dlock_claim *claim = claim_on(&c, "over", 60000);
	int handed_over = 0;

	acquire(&c, claim, 0);
	for (int tries = 0; handed_over < 5 && tries < 50; tries++) {
		dlock_nanos start = dlock_now();
		pid_t pid = fork_child();
		if (pid == 0) {
			client own = client_of(&server, READ_TIMEOUT);
			_exit(wait_and_extend(&own, claim_on(&own, "over", 60000), claim->fencing_token));
		}
		check(eventually(is_queued, NULL), "a process waits");
		check(let_go(&c, claim), "released");
		int status = exit_of(pid);
		bool in_time = dlock_now() - start < GRANTED_IN_TIME;
		check(status == 0 || (status == NOT_GRANTED && !in_time), "the release hands the lock over to the waiter (%d)",
			status);
		handed_over += in_time;
		claim = claim_on(&c, "over", 60000);
		check(acquire(&c, claim, 0) == DLOCK_OK, "the first client acquires it again");
	}
	check(handed_over == 5, "in time");
	check(let_go(&c, claim), "released");
	client_free(&c);
}

/* ---- how long a wait may outlast its deadline ---- */

static void test_longest_attempt(void)
{
	static const struct {
		dlock_nanos deadline, over_since; /* in s, like the next three */
		bool waited;
		dlock_nanos connecting, answer, until;
		const char *text;
	} cases[] = {
		{ 10, 0, false, 5, 2, 17, "an attempt before the deadline: a connection and an answer" },
		{ 10, 0, true, 1, 2, 14, "or two answers" },
		{ 10, 10, false, 5, 2, 17, "the only attempt: the same" },
		{ 0, 10, false, 5, 2, 17, "the only attempt counts from its start" },
		{ 10, 10, true, 5, 2, 12, "the last attempt: one answer" },
		{ 10, 16, true, 5, 2, 17, "after a slow attempt: the time that it had left" },
		{ 10, 17, true, 5, 2, 19, "after the process was stopped: an answer" },
	};
	dlock_nanos s = DLOCK_SECOND;

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		check(dlock_longest_attempt(cases[i].deadline * s, cases[i].over_since * s, cases[i].waited,
				  cases[i].connecting * s, cases[i].answer * s) == cases[i].until * s, "%s", cases[i].text);
	}
	check(dlock_longest_attempt(DLOCK_FOREVER, 0, true, s, s) == DLOCK_FOREVER, "without a time limit: no end");
}

/* ---- when a waiter looks again ---- */

static void test_next_look(void)
{
	static const struct {
		int64_t pttl, position;
		int ttl_ms, least_ms, most_ms;
	} cases[] = {
		/* nothing is known: the sign of life, well within the 3 s after which a waiter counts as dead */
		{ -1, 0, 60000, 1590, 2300 },
		{ 60000, 3, 60000, 1590, 2300 },
		{ 10, 0, 60000, 10, 20 },   /* the first waiter looks when the holder's lease expires */
		{ 10, 5, 60000, 20, 30 },   /* waiters behind it look later, one after the other */
		{ 1000, 5, 500, 500, 520 }, /* all look when an earlier waiter's lease should have expired */
		{ 60000, 50, 500, 600, 620 },
		{ 60000, 0, 3, 200, 210 }, /* a very short lease counts as 200 ms */
		{ INT64_MAX, 0, 60000, 1590, 2300 },
		{ 10, INT64_MAX / 2, 60000, 1590, 2300 },
		{ -1, 0, INT32_MAX, 1590, 2300 },
	};
	int bad = 0;

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		dlock_response refusal = { .pttl = cases[i].pttl, .position = cases[i].position };
		for (int k = 0; k < 200; k++) {
			dlock_nanos before = dlock_now(), look = dlock_next_look(&refusal, cases[i].ttl_ms * DLOCK_MS, before);
			bad += look - before < cases[i].least_ms * DLOCK_MS || look - dlock_now() > cases[i].most_ms * DLOCK_MS;
		}
	}
	check(bad == 0, "a waiter looks again within its bounds");
}

/* Beside older code, which notifies no waiter of a release. */
static void test_next_look_legacy(void)
{
	static const struct {
		int64_t pttl, position;
		int least_ms, most_ms;
	} cases[] = {
		{ -1, 0, 80, 120 },
		{ -1, -1, 80, 120 },
		{ -1, 4, 400, 600 },
		{ -1, 50, 1590, 2300 },
		{ -1, INT64_MAX / 2, 1590, 2300 },
		{ 60000, 0, 1590, 2300 },
		{ 10, 0, 10, 20 },
	};
	int bad = 0;

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		dlock_response refusal = { .pttl = cases[i].pttl, .position = cases[i].position };
		for (int k = 0; k < 200; k++) {
			dlock_nanos before = dlock_now(), look = dlock_next_look_legacy(&refusal, DLOCK_TTL_MAX, before);
			bad += look - before < cases[i].least_ms * DLOCK_MS || look - dlock_now() > cases[i].most_ms * DLOCK_MS;
		}
	}
	check(bad == 0, "a waiter looks again within its bounds (%d)", bad);
}

/* ---- timestamps of older code ---- */

static void test_legacy(void)
{
	client c = client_of(&server, READ_TIMEOUT), plain = client_of(&server, READ_TIMEOUT);
	c.backend->legacy = true;
	dlock_claim *claim = claim_on(&c, "legacy", 60000), *waiter = claim_on(&c, "legacy", 60000),
				*other = claim_on(&plain, "legacy", 60000);

	server_do(&server, "SET " PREFIX "legacy 1500000000");
	check(acquire(&plain, other, 0) == DLOCK_TIMEOUT, "an ordinary claim does not replace a timestamp");
	check(acquire(&c, claim, 0) == DLOCK_OK && has(&server, claim), "a legacy claim replaces a timestamp in the past");
	check(strlen(claim->token) == DLOCK_TOKEN_MAX && server_integer(&server, "PTTL " PREFIX "legacy") > 50000,
		"its key has a lease time");
	check(acquire(&c, waiter, 50) == DLOCK_TIMEOUT && has(&server, claim), "another legacy claim does not replace it");
	check(
		dlock_claim_check(claim, &c.error) == DLOCK_OK && extend(&c, claim, 50000) == DLOCK_OK, "checked and extended");
	check(dlock_claim_release(claim, &c.error) == DLOCK_OK && has_nobody(&server, "legacy"), "released");
	server_do(&server, "SET " PREFIX "legacy 9999999998");
	claim->state = DLOCK_CLAIM_NEW;
	check(acquire(&c, claim, 300) == DLOCK_TIMEOUT, "a legacy claim waits for a timestamp in the future");
	check(!strcmp(server_text(&server, "GET " PREFIX "legacy"), "9999999998")
			&& server_integer(&server, "EXISTS dlock:queue:{" PREFIX "legacy}") == 0,
		"it leaves the timestamp alone, and no queue");
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

/* Tokens of both lengths wait in one queue, each in its own process. */
static void test_legacy_handed_over(void)
{
	client c = client_of(&server, READ_TIMEOUT);
	c.backend->legacy = true;
	dlock_claim *claim = claim_on(&c, "legacy-queue", 60000);

	check(acquire(&c, claim, 0) == DLOCK_OK, "held");
	for (int legacy = 0, tries = 0; legacy < 2 && tries < 20; tries++) {
		dlock_nanos start = dlock_now();
		pid_t pid = fork_child();
		if (pid == 0) {
			client own = client_of(&server, READ_TIMEOUT);
			own.backend->legacy = legacy;
			dlock_claim *waiter = claim_on(&own, "legacy-queue", 60000);
			bool acquired = acquire(&own, waiter, -1) == DLOCK_OK, received = waiter->received;
			_exit(!acquired ? 1 : release(&own, waiter) == DLOCK_OK && received ? 0 : NOT_GRANTED);
		}
		check(eventually(somebody_waits, NULL), "a process waits");
		check(release(&c, claim) == DLOCK_OK, "released");
		int status = exit_of(pid);
		bool in_time = dlock_now() - start < GRANTED_IN_TIME;
		check(status == 0 || (status == NOT_GRANTED && !in_time), "handed over to a token %s a prefix (%d)",
			legacy ? "with" : "without", status);
		legacy += in_time;
		claim->state = DLOCK_CLAIM_NEW;
		check(acquire(&c, claim, 60000) == DLOCK_OK, "the first client acquires it again");
	}
	check(let_go(&c, claim), "released");
	client_free(&c);
}

int main(int argc, char **argv)
{
	static const tap_test tests[] = {
		TEST(timeouts), TEST(interruption), TEST(handed_over), TEST(longest_attempt),
		TEST(next_look), TEST(next_look_legacy), TEST(legacy), TEST(legacy_handed_over),
	};

	return tap_main(argc, argv, tests, sizeof tests / sizeof *tests, &one_server);
}
