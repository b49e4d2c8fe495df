/* src/lock/renewal_list.c: the states of a lease that the renewal thread looks after. Prints TAP. */

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "../../src/lock/renewal_list.h"
#include "helpers.h"
#include "tap.h"

static const char *const names[] = { "idle", "checking", "extending", "kept", "ended" };

/* Does a process that makes the move end at once? */
static bool ends_process(dlock_renewal_state from, dlock_renewal_state to)
{
	pid_t pid = fork_child();

	if (pid == 0) {
		dup2(open("/dev/null", O_WRONLY), STDERR_FILENO); /* the assertion's message */
		dlock_renewal renewal = { .state = from };
		dlock_renewal_move(&renewal, to);
		_exit(renewal.state == to ? 0 : 1);
	}
	return exit_of(pid) == 1000 + SIGABRT;
}

static void test_moves(void)
{
	static const dlock_renewal_state legal[][2] = {
		{ DLOCK_RENEWAL_IDLE, DLOCK_RENEWAL_CHECKING }, { DLOCK_RENEWAL_IDLE, DLOCK_RENEWAL_EXTENDING },
		{ DLOCK_RENEWAL_IDLE, DLOCK_RENEWAL_ENDED },
		{ DLOCK_RENEWAL_CHECKING, DLOCK_RENEWAL_IDLE }, { DLOCK_RENEWAL_CHECKING, DLOCK_RENEWAL_KEPT },
		{ DLOCK_RENEWAL_CHECKING, DLOCK_RENEWAL_ENDED },
		{ DLOCK_RENEWAL_EXTENDING, DLOCK_RENEWAL_IDLE }, { DLOCK_RENEWAL_EXTENDING, DLOCK_RENEWAL_KEPT },
		{ DLOCK_RENEWAL_EXTENDING, DLOCK_RENEWAL_ENDED },
		{ DLOCK_RENEWAL_KEPT, DLOCK_RENEWAL_IDLE }, { DLOCK_RENEWAL_KEPT, DLOCK_RENEWAL_CHECKING },
		{ DLOCK_RENEWAL_KEPT, DLOCK_RENEWAL_EXTENDING }, { DLOCK_RENEWAL_KEPT, DLOCK_RENEWAL_ENDED },
	};

	for (dlock_renewal_state from = DLOCK_RENEWAL_IDLE; from <= DLOCK_RENEWAL_ENDED; from++) {
		for (dlock_renewal_state to = DLOCK_RENEWAL_IDLE; to <= DLOCK_RENEWAL_ENDED; to++) {
			bool good = false;
			for (size_t i = 0; i < sizeof legal / sizeof *legal; i++) {
				good |= legal[i][0] == from && legal[i][1] == to;
			}
			check(dlock_renewal_may_move(from, to) == good && ends_process(from, to) == !good, "%s to %s: %s",
				names[from], names[to], good ? "a move" : "no move, the process ends");
		}
	}
}

static void test_discard_answer(void)
{
	for (dlock_renewal_state state = DLOCK_RENEWAL_IDLE; state <= DLOCK_RENEWAL_ENDED; state++) {
		bool asking = state == DLOCK_RENEWAL_CHECKING || state == DLOCK_RENEWAL_EXTENDING;
		dlock_renewal renewal = { .state = state };
		check(dlock_renewal_is_asking(&renewal) == asking, "%s: %s", names[state], asking ? "asking" : "not asking");
		dlock_renewal_discard_answer(&renewal);
		check(renewal.state == (asking ? DLOCK_RENEWAL_IDLE : state), "a discarded answer makes it %s",
			names[renewal.state]);
	}
}

#define MINUTE (60 * DLOCK_SECOND)

/* Returns the lease time that the thread requests for a lease that is due now, in minutes. `full`: the end of a short
 * lease's full time, in minutes from now; 0: it is not short. `until`: the end of its renewal; 0: it is not renewed. */
static double asked_for(int ttl, int full, int until)
{
	static const dlock_backend_ops ops = { .name = "none" };
	dlock_backend backend = { .ops = &ops };
	dlock_nanos now = dlock_now(), wake;
	dlock_claim claim = { .backend = &backend,
		.process = dlock_process_current(),
		.state = DLOCK_CLAIM_HELD,
		.deadline = now + MINUTE,
		.short_lease = full > 0 };
	dlock_renewal renewal = { .claim = &claim, .process = claim.process, .ttl = ttl * MINUTE, .due = now,
		.full = full > 0 ? now + full * MINUTE : 0, 
		.renew = until != 0, .until = now + until * MINUTE };
	dlock_renewal_list list = { 0 };

	dlock_renewal_list_add(&list, &renewal);
	bool sends = dlock_renewal_list_scan(&list, claim.process, &wake) == &renewal && renewal.todo == DLOCK_SEND_EXTEND;
	return sends ? (double) renewal.asked_ttl / MINUTE : 0;
}

static bool is_about(double minutes, double expected)
{
	return minutes <= expected && minutes > expected - 0.5;
}

static void test_asked_ttl(void)
{
	check(is_about(asked_for(60, 0, 100), 60), "renewed: the lease time");
	check(asked_for(60, 0, 0) == 0, "not renewed: nothing");
	check(is_about(asked_for(60, 58, 0), 58), "a short lease that is not renewed: the rest of its lease time");
	check(is_about(asked_for(60, 58, 100), 60), "a short lease that is renewed: the lease time");
	check(
		is_about(asked_for(5, 58, 0), 5), "no more than a lease time that the holder has requested without an answer");
	check(
		is_about(asked_for(60, 58, -1), 58), "a short lease whose renewal has ended: the rest of its first lease time");
}

/* An upkeep that begins while a server may still set a shorter lease time. */
static void test_unacknowledged(void)
{
	dlock_claim claim = { .ttl = 60 * DLOCK_SECOND, .unacknowledged_ttl = 5 * DLOCK_SECOND };
	dlock_renewal *renewal = dlock_renewal_new(&claim);

	check(renewal && renewal->ttl == 5 * DLOCK_SECOND, "a new upkeep requests no more than that, either");
	dlock_renewal_free(renewal);
}

/* Its holder has found the lease expired meanwhile. */
static void test_over(void)
{
	dlock_claim claim = { .deadline = DLOCK_OVER, .short_lease = true, .incomplete = false };
	dlock_renewal renewal = {
		.claim = &claim, .ttl = DLOCK_SECOND, .full = dlock_now() + DLOCK_SECOND, .incomplete = true
	};
	dlock_nanos now = dlock_now(), look = dlock_renewal_next_wake(&renewal, now);

	check(look > now && look <= now + DLOCK_SECOND, "an expired lease: the thread looks again soon");
}

int main(void)
{
	dlock_process_init();
	test_moves();
	test_discard_answer();
	test_asked_ttl();
	test_unacknowledged();
	test_over();
	return tap_end();
}
