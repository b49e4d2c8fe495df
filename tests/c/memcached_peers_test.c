/* How the memcached back end treats servers that refuse, or that are not memcached, and a fork. Prints TAP.
 * memcached_peers_test [word in the names of the tests to run] */

#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "helpers.h"
#include "memcached_server.h"
#include "servers.h"
#include "tap.h"

static memcached_server server;

/* ---- odd peers ---- */

/* Precedes the answers to an acquire: the key of the clock exists, and is read twice. */
#define CLOCK "NS\r\nHD c1 t100\r\nHD c1 t100\r\n"

static const struct {
	const char *text, *first, *next, *word;
} peers[] = {
	{ "an old version", "VERSION 1.5.22\r\n", "ERROR\r\n", "1.6 or later" },
	{ "no version", "ERROR\r\n", "", "not memcached's" },
	{ "Redis", "-ERR unknown command 'version'\r\n", "", "unexpected form" },
	{ "a server that says nothing", "", "", "within 0.2 s" },
	{ "a line without end",
		"VERSION 1.6.18 ............................................................"
		".........................................................",
		"", "within 0.2 s" },
	{ "no memory", "VERSION 1.6.18\r\n", CLOCK "SERVER_ERROR out of memory storing object\r\n", "out of memory" },
	{ "half of an answer", "VERSION 1.6.18\r\n", CLOCK "HD c", "memcached at" },
	{ "more answers than requests", "VERSION 1.6.18\r\n", CLOCK "NS\r\nVA 1\r\n5\r\nHD\r\nHD\r\n", "" },
	{ "a value that is too long", "VERSION 1.6.18\r\n", CLOCK "HD c1\r\nVA 2\r\n123\r\n", "longer than its length" },
	{ "a NUL", "VERSION 1.6.18\r\n", CLOCK "HD c1\r\nVA 2\r\n12\rx", "longer than its length" },
	{ "a CAS that is no number", "VERSION 1.6.18\r\n", CLOCK "HD cx\r\nVA 2\r\n12\r\n", "unexpected form" },
	{ "no CAS", "VERSION 1.6.18\r\n", CLOCK "HD c0\r\nVA 2\r\n12\r\n", "without -C" },
	{ "an answer to something else", "VERSION 1.6.18\r\n", CLOCK "VA 1 c5\r\nx\r\nVA 2\r\n12\r\n", "does not belong" },
	{ "a fencing token of 0", "VERSION 1.6.18\r\n", CLOCK "HD c5\r\nVA 1\r\n0\r\n", "dlock:fence" },
};

static void test_odd_peers(void)
{
	for (size_t i = 0; i < sizeof peers / sizeof *peers; i++) {
		int port;
		pid_t pid = memcached_peer(&port, peers[i].first, peers[i].next);
		bool says_enough = !*peers[i].word || !strstr("within 0.2 s, memcached at", peers[i].word);
		memcached_client c = memcached_client_at(port, says_enough ? 60000 : 200);
		dlock_claim *claim = memcached_claim_on(&c, "odd", 30000);
		dlock_nanos start = dlock_now();
		dlock_status status = memcached_acquire(&c, claim, 0);
		check(status == (*peers[i].word ? DLOCK_CONNECTION : DLOCK_TIMEOUT) && strstr(c.error.message, peers[i].word),
			"%s: %s", peers[i].text, c.error.message);
		check(dlock_now() - start < SOON, "reported at once");
		dlock_claim_free(claim);
		memcached_client_free(&c);
		kill(pid, SIGKILL);
		exit_of(pid);
	}
}

/* After an answer without a request, no answer counts for another request. */
static void test_extra_answer(void)
{
	int port;
	pid_t pid = memcached_peer(&port, "VERSION 1.6.18\r\n", CLOCK "NS\r\nVA 1\r\n5\r\nHD c7\r\n");
	memcached_client c = memcached_client_new(port);
	dlock_claim *claim = memcached_claim_on(&c, "extra", 30000);

	check(memcached_acquire(&c, claim, 0) == DLOCK_TIMEOUT, "refused");
	sleep_ms(20);
	check(memcached_acquire(&c, claim, 0) == DLOCK_TIMEOUT, "the extra answer does not count for the next request");
	dlock_claim_free(claim);
	memcached_client_free(&c);
	kill(pid, SIGKILL);
	exit_of(pid);
}

static void test_without_cas(void)
{
	static const char *const options[] = { "-C", NULL };
	memcached_server bare;

	memcached_start(&bare, options);
	memcached_client c = memcached_client_new(bare.port);
	dlock_claim *claim = memcached_claim_on(&c, "bare", 60000);
	check(memcached_acquire(&c, claim, 1000) == DLOCK_CONNECTION && strstr(c.error.message, "without -C"),
		"no lock: %s", c.error.message);
	dlock_claim_abandon(claim);
	claim->state = DLOCK_CLAIM_HELD;
	claim->deadline = dlock_now() + 60 * DLOCK_SECOND;
	check(dlock_claim_extend(claim, 60 * DLOCK_SECOND, &c.error) == DLOCK_CONNECTION, "nor an extension: %s",
		c.error.message);
	check(dlock_claim_release(claim, &c.error) == DLOCK_CONNECTION, "nor a release: %s", c.error.message);
	memcached_client_drain(&c);
	check(!c.pool->background, "the client does not try again and again to delete the key");
	dlock_claim_free(claim);
	memcached_client_free(&c);
	memcached_kill(&bare);
}

static void test_nobody_there(void)
{
	memcached_client c = memcached_client_new(closed_port());
	dlock_claim *claim = memcached_claim_on(&c, "nobody", 30000);
	bool locked;

	check(memcached_acquire(&c, claim, 5000) == DLOCK_CONNECTION && strstr(c.error.message, "refused"),
		"no server is there: %s", c.error.message);
	check(c.backend->ops->locked(c.backend, "nobody", 6, &locked, &c.error) == DLOCK_CONNECTION,
		"no server answers a question, either");
	check(!c.pool->background, "no key is to be discarded");
	dlock_claim_free(claim);
	memcached_client_free(&c);
}

/* The server has closed an idle connection. */
static void test_closed_idle(void)
{
	memcached_client c = memcached_client_new(server.port);
	unsigned long opened, reopened;

	check(memcached_passes(&c, "idle", 0), "connected");
	memcached_restart(&server);
	check(memcached_passes(&c, "idle", 0), "connected again: %s", c.error.message);
	dlock_net_pool_count(c.pool, &opened, &reopened);
	check(opened == 2 && reopened == 1, "over one new connection");
	memcached_client_free(&c);
}

/* ---- fork ---- */

static int child_of_holder(memcached_client *c, dlock_claim *claim)
{
	dlock_claim *own = memcached_claim_on(c, "child", 30000);
	dlock_nanos remaining;

	if (dlock_claim_refresh(claim, &remaining) != DLOCK_CLAIM_LOST
		|| dlock_claim_release(claim, &c->error) != DLOCK_LOST) {
		return 1;
	}
	dlock_claim_abandon(claim);
	memcached_client_drain(c);
	if (memcached_acquire(c, own, 0) != DLOCK_OK || dlock_claim_release(own, &c->error) != DLOCK_OK) {
		return 2;
	}
	dlock_claim_free(own);
	dlock_claim_free(claim);
	memcached_client_free(c);
	return 0;
}

static void test_fork(void)
{
	memcached_client c = memcached_client_new(server.port);
	dlock_claim *claim = memcached_claim_on(&c, "parent", 30000);
	unsigned long opened, reopened;

	check(memcached_acquire(&c, claim, 0) == DLOCK_OK, "held");
	pid_t pid = fork_child();
	if (pid == 0) {
		_exit(child_of_holder(&c, claim));
	}
	check(exit_of(pid) == 0, "a child does not hold the lock, and acquires its own");
	dlock_net_pool_count(c.pool, &opened, &reopened);
	check(dlock_claim_check(claim, &c.error) == DLOCK_OK && opened == 1,
		"the parent still holds it, over the same connection");
	check(dlock_claim_release(claim, &c.error) == DLOCK_OK, "and releases");
	dlock_claim_free(claim);
	memcached_client_free(&c);
}

/* A process forks while it discards a key. */
static void test_fork_discards(void)
{
	memcached_client c = memcached_client_new(server.port);
	dlock_claim *claim = memcached_claim_on(&c, "discards", 30000);

	check(memcached_acquire(&c, claim, 0) == DLOCK_OK, "held");
	memcached_freeze(&server);
	dlock_claim_abandon(claim);
	pid_t pid = fork_child();
	if (pid == 0) {
		memcached_client_drain(&c);
		_exit(c.pool->background != NULL);
	}
	check(exit_of(pid) == 0, "the child does not discard it");
	memcached_thaw(&server);
	memcached_client_drain(&c);
	check(!c.pool->background && memcached_left(&server, "Lock:discards") == -2, "the parent does");
	dlock_claim_free(claim);
	memcached_client_free(&c);
}

static dlock_suspension cancel(void *context, const dlock_wakeup *bell, int fd, dlock_nanos until)
{
	(void) context, (void) bell, (void) fd, (void) until;
	return DLOCK_SUSPENSION_CANCELLED;
}

/* A strand's wait is canceled while the connection is opened. The process then rests for longer than the lease. */
static void test_canceled_unsent(void)
{
	memcached_client c = memcached_client_new(server.port);
	dlock_claim *claim = memcached_claim_on(&c, "unsent", 30000);
	dlock_wait wait = { .deadline = DLOCK_FOREVER, .interrupted = interrupted, .suspend = cancel };

	memcached_freeze(&server);
	check(dlock_claim_acquire(claim, &wait, &c.error) == DLOCK_INTERRUPTED, "canceled");
	dlock_claim_abandon(claim);
	dlock_claim_free(claim);
	dlock_clock_travel(60 * DLOCK_SECOND);
	memcached_thaw(&server);
	check(memcached_passes(&c, "another", 60000), "another lock, over the same connection");
	memcached_client_drain(&c);
	check(memcached_left(&server, "Lock:unsent") == -2, "the lock whose wait was canceled is free");
	memcached_client_free(&c);
}

static void reset(void)
{
	memcached_ask(&server, "flush_all");
}

static void begin(void)
{
	memcached_start(&server, NULL);
}

int main(int argc, char **argv)
{
	static const tap_test tests[] = {
		TEST(odd_peers),
		TEST(extra_answer),
		TEST(without_cas),
		TEST(nobody_there),
		TEST(closed_idle),
		TEST(fork),
		TEST(fork_discards),
		TEST(canceled_unsent),
	};
	static const tap_setting setting = { begin, reset };

	return tap_main(argc, argv, tests, sizeof tests / sizeof *tests, &setting);
}
