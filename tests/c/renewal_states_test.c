/* src/lock/renewal_list.c: the states of a lease that is looked after. Prints TAP. */

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
			check(dlock_renewal_may_move(from, to) == good && ends_process(from, to) == !good, "%s to %s: %s", names[from], names[to],
				good ? "a move" : "no move, and found");
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
		check(renewal.state == (asking ? DLOCK_RENEWAL_IDLE : state), "and then %s", names[renewal.state]);
	}
}

int main(void)
{
	dlock_process_init();
	test_moves();
	test_discard_answer();
	return tap_end();
}
