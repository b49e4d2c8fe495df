/* The back end on one server across fork(). Prints TAP. */

#include <stdlib.h>
#include <unistd.h>

#include "helpers.h"
#include "one_server.h"

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
			client_settle(&c);
			client_free(&c);
			plain ? _exit(bad) : exit(bad);
		}
		int bad = exit_of(pid);
		check(bad == 0, "a child has lost the lock, and exits (%d)", bad);
		check(has(&server, claim) && look(claim) == DLOCK_CLAIM_HELD && dlock_claim_check(claim, &c.error) == DLOCK_OK,
			"the parent still holds it");
	}
	check(let_go(&c, claim) && dlock_pool_opened(c.pool) == 1, "it releases over the same connection");
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

/* Parent, child and grandchild use the same client, each with its own connection. */
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
	check(read(done[0], &byte, 1) == 1, "child and grandchild hold their own locks");
	check(clients_named_evalsha() == 3, "each has its own connection (%d)", clients_named_evalsha());
	check(dlock_claim_check(claim, &c.error) == DLOCK_OK, "the parent works meanwhile");
	check(write(go[1], "x", 1) == 1, "go");
	int bad = exit_of(pid);
	check(bad == 0, "all their calls succeed (%d)", bad);
	check(extend(&c, claim, 60000) == DLOCK_OK && let_go(&c, claim) && dlock_pool_opened(c.pool) == 1,
		"the parent's connection still works");
	close(go[0]), close(go[1]), close(done[0]), close(done[1]);
	client_free(&c);
}

/* The child must not read answers to the parent's requests. */
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
		client_settle(&c);
		int bad = dlock_conn_busy(client_conn(&c, 0)) + 2 * !passes(&c, "way-child", 0);
		client_free(&c);
		_exit(bad);
	}
	pid_t thaw = server_thaw_later(&server, 100);
	check(passes(&c, "way-3", 0), "the parent receives its answers");
	int bad = exit_of(pid);
	check(bad == 0, "the child receives its own (%d)", bad);
	check(dlock_pool_opened(c.pool) == 1 && server_integer(&server, "DBSIZE") == 1, "all is released");
	exit_of(thaw);
	client_free(&c);
}

int main(int argc, char **argv)
{
	static const tap_test tests[] = {
		TEST(fork), TEST(fork_and_use), TEST(fork_under_way),
	};

	return tap_main(argc, argv, tests, sizeof tests / sizeof *tests, &one_server);
}
