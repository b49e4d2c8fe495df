/* src/lock/claim.c: the states of a claim, and until when its holder may rely on it. Prints TAP. */

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "../../src/lock/claim.h"
#include "helpers.h"
#include "tap.h"

static const dlock_backend_ops ops = { .name = "none", .claim_size = sizeof(dlock_claim) };
static dlock_backend backend = { .ops = &ops, .references = 1 };

static dlock_claim *new_claim(void)
{
	dlock_error error;
	dlock_claim *claim = dlock_claim_new(&backend, "a resource", 10, 10 * DLOCK_SECOND, NULL, &error);

	claim->deadline = dlock_now() + 60 * DLOCK_SECOND;
	return claim;
}

static bool is_final(dlock_claim_state state)
{
	return state == DLOCK_CLAIM_LOST || state == DLOCK_CLAIM_RELEASED;
}

/* Does an assertion end a process that makes the move? */
static bool ends_process(dlock_claim_state from, dlock_claim_state to)
{
	pid_t pid = fork_child();

	if (pid == 0) {
		dup2(open("/dev/null", O_WRONLY), STDERR_FILENO); /* the assertion's message */
		dlock_claim claim = { .state = from };
		dlock_claim_move(&claim, to);
		_exit(claim.state == to ? 0 : 1);
	}
	return exit_of(pid) == 1000 + SIGABRT;
}

static void test_moves(void)
{
	static const char *const names[] = { "new", "waiting", "held", "uncertain", "lost", "released" };

	for (dlock_claim_state from = DLOCK_CLAIM_NEW; from <= DLOCK_CLAIM_RELEASED; from++) {
		for (dlock_claim_state to = DLOCK_CLAIM_NEW; to <= DLOCK_CLAIM_RELEASED; to++) {
			bool before = from < DLOCK_CLAIM_HELD, holds = to == DLOCK_CLAIM_HELD || to == DLOCK_CLAIM_UNCERTAIN;
			bool legal = from == to
				|| (!is_final(from) && to == DLOCK_CLAIM_RELEASED)
				|| (before && to <= DLOCK_CLAIM_HELD)
				|| (!before && !is_final(from) && (holds || to == DLOCK_CLAIM_LOST));
			check(dlock_claim_may_move(from, to) == legal && ends_process(from, to) == !legal, "%s to %s: %s",
				names[from], names[to], legal ? "a move" : "no move, and found");
		}
	}
}

static void test_deadline(void)
{
	dlock_claim *claim = new_claim();
	dlock_nanos later = dlock_now() + 120 * DLOCK_SECOND;

	check(!dlock_claim_expire_if_due(claim), "the lease has not expired");
	check(dlock_claim_raise_deadline(claim, later) && claim->deadline == later, "raised");
	check(dlock_claim_raise_deadline(claim, later - 1) && claim->deadline == later, "never to an earlier time");
	check(dlock_claim_move_deadline(claim, later - 1) && claim->deadline == later - 1, "moved to an earlier time");
	check(dlock_claim_move_deadline(claim, dlock_now()) && dlock_claim_raise_deadline(claim, later)
			&& !dlock_claim_expire_if_due(claim),
		"a deadline that passed unnoticed may move");
	check(dlock_claim_move_deadline(claim, dlock_now()) && dlock_claim_expire_if_due(claim)
			&& claim->deadline == DLOCK_OVER,
		"the lease has expired");
	check(!dlock_claim_raise_deadline(claim, later) && !dlock_claim_move_deadline(claim, later)
			&& dlock_claim_expire_if_due(claim),
		"for good");
	free(claim);
}

static void test_guaranteed_ttl(void)
{
	dlock_claim *claim = new_claim();

	check(dlock_claim_guaranteed_ttl(claim, 5) == 5, "all of it");
	dlock_claim_add_unacknowledged_ttl(claim, 7);
	check(dlock_claim_guaranteed_ttl(claim, 5) == 5 && dlock_claim_guaranteed_ttl(claim, 9) == 7,
		"no more than an unanswered request may still set");
	dlock_claim_add_unacknowledged_ttl(claim, 8);
	check(claim->unacknowledged_ttl == 7, "the shortest counts");
	dlock_claim_add_unacknowledged_ttl(claim, 3);
	check(dlock_claim_guaranteed_ttl(claim, 5) == 3, "even if it comes later");
	free(claim);
}

int main(void)
{
	dlock_process_init();
	test_moves();
	test_deadline();
	test_guaranteed_ttl();
	return tap_end();
}
