/* Forks while the renewal thread uses the table of the memory back end. Prints TAP.
 * memory_process_test [word in the names of the tests to run] */

#include <stdlib.h>
#include <unistd.h>

#include "../../src/lock/operations.h"
#include "../../src/memory/backend.h"
#include "helpers.h"
#include "tap.h"
#include "upkeep.h"

static dlock_error error;

/* Starts the thread, with its handlers of a fork, before the table is first used. The lease is one of another back
 * end. */
static void start_thread_first(void)
{
	static const dlock_backend_ops ops = { .name = "test", .claim_size = sizeof(dlock_claim) };
	static dlock_backend backend = { .ops = &ops, .references = 1 };
	static const dlock_upkeep upkeep = { 0 };
	dlock_claim *claim = dlock_claim_new(&backend, "x", 1, 10 * DLOCK_SECOND, NULL, &error);

	claim->deadline = dlock_now() + 10 * DLOCK_SECOND;
	check(dlock_renewal_begin(claim, &upkeep, &error) == DLOCK_OK, "there is a thread: %s", error.message);
	dlock_claim_free(claim);
}

static void test_forks(void)
{
	enum { LEASES = 300, FORKS = 300 };
	static dlock_claim *claims[LEASES];
	dlock_wait wait = { .deadline = 0 };
	int held = 0, good = 0;
	char resource[32];

	start_thread_first();
	dlock_backend *backend = dlock_memory_new("", "", 0, 1, false);
	for (int i = 0; i < LEASES; i++) {
		snprintf(resource, sizeof resource, "r%d", i);
		claims[i] = dlock_claim_new(backend, resource, strlen(resource), 60 * DLOCK_SECOND, NULL, &error);
		held += dlock_claim_acquire(claims[i], &wait, &error) == DLOCK_OK;
		held -= dlock_renewal_begin(claims[i], &RENEW, &error) != DLOCK_OK;
	}
	check(held == LEASES, "%d leases are renewed", held);
	for (int i = 0; i < FORKS; i++) {
		for (int j = 0; j < LEASES; j += 10) { /* keeps the thread busy */
			renew_now(claims[j]);
		}
		pid_t pid = fork_child();
		if (pid == 0) {
			bool locked;
			_exit(backend->ops->locked(backend, "r1", 2, &locked, &error) != DLOCK_OK || locked);
		}
		good += exit_of(pid) == 0;
	}
	check(good == FORKS, "forked %d times, and each child has a table of its own", good);
	for (int i = 0; i < LEASES; i++) {
		dlock_claim_abandon(claims[i]);
		dlock_claim_free(claims[i]);
	}
	dlock_backend_release(backend);
	dlock_renewal_shutdown();
}

int main(int argc, char **argv)
{
	static const tap_test tests[] = { TEST(forks) };
	static const tap_setting setting = { NULL };

	return tap_main(argc, argv, tests, sizeof tests / sizeof *tests, &setting);
}
