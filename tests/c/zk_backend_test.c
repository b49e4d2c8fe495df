/* The ZooKeeper back end on a real server: zk_backend_test HOST:PORT [word in the names of the tests to run].
 * Prints TAP. Best with a short tick (200 ms). */

#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "../../src/zookeeper/lock/claim.h"
#include "../../src/zookeeper/session/op.h"
#include "../../src/zookeeper/session/pool.h"
#include "../../src/zookeeper/session/response.h"
#include "helpers.h"
#include "tap.h"
#include "zk_client.h"

static void test_basic(void)
{
	client c = client_new(), other = client_new();
	dlock_claim *first = claim_on(&c, "basic"), *second = claim_on(&other, "basic");
	dlock_nanos remaining;
	bool locked;

	check(dlock_zk_pool_sessions_opened(c.pool) == 0, "nothing is opened before the first use");
	check(c.backend->ops->locked(c.backend, "basic", 5, &locked, &c.error) == DLOCK_OK && !locked, "not locked");
	check(acquire(&c, first, -1) == DLOCK_OK && look(first) == DLOCK_CLAIM_HELD, "acquired");
	check(dlock_claim_refresh(first, &remaining) == DLOCK_CLAIM_HELD && remaining > 0 && remaining < zk_session_timeout,
		"time is left");
	check(c.backend->ops->locked(c.backend, "basic", 5, &locked, &c.error) == DLOCK_OK && locked, "locked");
	check(children("basic") == 1, "one node holds it");
	check(dlock_claim_extend(first, 0, &c.error) == DLOCK_OK, "extended");
	check(acquire(&other, second, 0) == DLOCK_TIMEOUT, "another client's attempt fails");
	check(settles_at("basic", 1), "the attempt leaves no node");
	int64_t token = first->fencing_token;
	check(release(&c, first) == DLOCK_OK, "released");
	check(settles_at("basic", 0), "the node is gone");
	check(acquire(&other, second, 0) == DLOCK_OK && second->fencing_token > token,
		"another client's attempt succeeds, the token rises");
	dlock_claim_abandon(second);
	dlock_zk_pool_drain(other.pool, dlock_now() + 30 * DLOCK_SECOND);
	check(settles_at("basic", 0), "abandoned and drained: the node is gone");
	dlock_claim_free(second);
	check(dlock_zk_pool_sessions_opened(c.pool) == 1, "one session");
	client_free(&c);
	client_free(&other);
}

/* ---- strands: each begins while the last one is suspended; the last of all checks the order of the bells ---- */

enum { NESTED = 4 };

static struct {
	dlock_claim *claims[NESTED];
	const dlock_wakeup *bells[NESTED];
	int begun, rung;
	bool in_order, got[NESTED];
} nest;

static void begin_next(void);

static void watch_bells(void)
{
	int set = epoll_create1(0);
	struct epoll_event event = { .events = EPOLLIN | EPOLLET };

	for (int i = 0; i < NESTED; i++) {
		event.data.u32 = (uint32_t) i;
		epoll_ctl(set, EPOLL_CTL_ADD, nest.bells[i]->read_fd, &event);
	}
	nest.in_order = true;
	for (int got = 1; nest.rung < NESTED && got != 0;) { /* -1: a signal, or the process stood still */
		got = epoll_wait(set, &event, 1, 60000);
		nest.in_order &= got <= 0 || event.data.u32 == (uint32_t) nest.rung++;
	}
	close(set);
}

static dlock_suspension suspend_nested(void *context, const dlock_wakeup *bell, int fd, dlock_nanos until)
{
	struct pollfd one = { .fd = fd, .events = POLLIN };
	int mine = (int) (intptr_t) context;

	(void) until;
	if (nest.bells[mine]) {
		poll(&one, 1, 10);
		return DLOCK_SUSPENDED;
	}
	nest.bells[mine] = bell;
	if (nest.begun < NESTED) {
		begin_next();
	} else {
		watch_bells();
	}
	return DLOCK_SUSPENDED;
}

static void begin_next(void)
{
	int mine = nest.begun++;
	dlock_wait wait = { .deadline = dlock_now() + 60 * DLOCK_SECOND, .suspend = suspend_nested,
		.context = (void *) (intptr_t) mine };
	dlock_error error;

	nest.got[mine] = dlock_claim_acquire(nest.claims[mine], &wait, &error) == DLOCK_OK;
}

/* Event loops resume strands in the order in which descriptors become readable. So the bells ring in queue order. */
static void test_strands_are_woken_in_order(void)
{
	client c = client_new();
	char name[] = "strand-0";

	for (int i = 0; i < NESTED; i++, name[sizeof name - 2]++) {
		nest.claims[i] = claim_on(&c, name);
	}
	begin_next();
	check(nest.begun == NESTED && nest.rung == NESTED, "all strands wait for the session, and are woken");
	check(nest.in_order, "they are woken in the order in which they came");
	for (int i = 0; i < NESTED; i++) {
		check(nest.got[i], "acquired");
		dlock_claim_abandon(nest.claims[i]);
		dlock_claim_free(nest.claims[i]);
	}
	client_free(&c);
}

static void test_contention(void)
{
	enum { PROCESSES = 8, ROUNDS = 50 };
	volatile long *shared = shared_memory(2 * sizeof *shared);
	pid_t pids[PROCESSES];
	int bad = 0;

	zk_unobserve();

	for (int p = 0; p < PROCESSES; p++) {
		if ((pids[p] = fork_calmly()) == 0) {
			client c = client_new();
			for (int i = 0; i < ROUNDS; i++) {
				dlock_claim *claim = claim_on(&c, "contention");
				if (acquire(&c, claim, -1) != DLOCK_OK) {
					_exit(1);
				}
				if (claim->fencing_token <= shared[1]) {
					_exit(3);
				}
				shared[1] = claim->fencing_token;
				long before = shared[0];
				sched_yield();
				shared[0] = before + 1;
				if (release(&c, claim) != DLOCK_OK) {
					_exit(2);
				}
			}
			client_free(&c);
			_exit(0);
		}
	}
	zk_observe();
	for (int p = 0; p < PROCESSES; p++) {
		int status = exit_of(pids[p]);
		bad = status ? status : bad;
	}
	check(bad == 0, "all sections succeed, tokens rise (%d)", bad);
	check(shared[0] == PROCESSES * ROUNDS, "no update was lost (%ld)", shared[0]);
	check(settles_at("contention", 0), "no node is left");
}

static void test_order(void)
{
	client c = client_new();
	int line[2];
	char order[4] = "";
	pid_t pids[3];

	check(pipe(line) == 0, "pipe");
	dlock_claim *claim = claim_on(&c, "order");
	check(acquire(&c, claim, -1) == DLOCK_OK, "held");
	for (int p = 0; p < 3; p++) {
		if ((pids[p] = fork_calmly()) == 0) {
			client own = client_new();
			dlock_claim *waiter = claim_on(&own, "order");
			char me = (char) ('a' + p);
			bool good = acquire(&own, waiter, -1) == DLOCK_OK && write(line[1], &me, 1) == 1
				&& release(&own, waiter) == DLOCK_OK;
			client_free(&own);
			_exit(!good);
		}
		check(settles_at("order", p + 2), "waiter %d is in the queue", p);
	}
	release(&c, claim);
	for (int p = 0; p < 3; p++) {
		check(read(line[0], order + p, 1) == 1 && exit_of(pids[p]) == 0, "a waiter has its turn");
	}
	check(strcmp(order, "abc") == 0, "first come, first served (%s)", order);
	close(line[0]);
	close(line[1]);
	client_free(&c);
}

static void test_timeout(void)
{
	client c = client_new(), other = client_new();
	dlock_claim *held = claim_on(&c, "timeout"), *waiter = claim_on(&other, "timeout");

	acquire(&c, held, -1);
	dlock_nanos start = dlock_now();
	check(acquire(&other, waiter, 300) == DLOCK_TIMEOUT, "timed out");
	check(dlock_now() - start >= 300 * DLOCK_MS, "not before the timeout");
	check(settles_at("timeout", 1), "no node is left");
	check(acquire(&other, waiter, 0) == DLOCK_TIMEOUT && acquire(&other, waiter, 0) == DLOCK_TIMEOUT,
		"the same claim times out again");
	release(&c, held);
	check(acquire(&other, waiter, 0) == DLOCK_OK, "the same claim can be tried again");
	check(children("timeout") == 1, "one node");
	check(release(&other, waiter) == DLOCK_OK, "released");
	client_free(&c);
	client_free(&other);
}

static void test_interruption(void)
{
	client c = client_new(), other = client_new();
	dlock_claim *held = claim_on(&c, "interruption"), *waiter = claim_on(&other, "interruption");
	dlock_wait wait = { .deadline = DLOCK_FOREVER, .interrupted = interrupted };

	interrupt_on(SIGALRM);
	acquire(&c, held, -1);
	for (int i = 0; i < 2; i++) {
		bool is_queued = false, is_interrupted = true;
		for (int tries = 0; tries < 50 && !is_queued;
			 tries++) { /* the first signals may come before the waiter is in the queue */
			interrupt_clear();
			ualarm(200000, 0);
			is_interrupted &= dlock_claim_acquire(waiter, &wait, &other.error) == DLOCK_INTERRUPTED;
			is_queued = waiter->state == DLOCK_CLAIM_WAITING && children("interruption") == 2;
		}
		check(is_interrupted, "a signal ends the wait");
		check(is_queued, "the waiter stays in the queue");
	}
	interrupt_clear();
	release(&c, held);
	check(dlock_claim_acquire(waiter, &wait, &other.error) == DLOCK_OK, "the resumed wait acquires the lock");
	check(children("interruption") == 1, "one node is left");
	dlock_claim *third = claim_on(&c, "interruption");
	interrupt_now();
	check(dlock_claim_acquire(third, &wait, &c.error) == DLOCK_INTERRUPTED, "a signal before the wait interrupts it");
	dlock_claim_abandon(third);
	dlock_zk_pool_drain(c.pool, dlock_now() + 30 * DLOCK_SECOND);
	check(settles_at("interruption", 1), "a claim abandoned during its creation leaves no node");
	dlock_claim_free(third);
	interrupt_clear();
	third = claim_on(&c, "interruption");
	ualarm(200000, 0);
	check(dlock_claim_acquire(third, &wait, &c.error) == DLOCK_INTERRUPTED, "a signal interrupts a wait in the queue");
	dlock_claim_abandon(third);
	dlock_claim_free(third);
	dlock_zk_pool_drain(c.pool, dlock_now() + 30 * DLOCK_SECOND);
	check(children("interruption") == 1, "a claim abandoned in the queue leaves no node");
	release(&other, waiter);
	client_free(&c);
	client_free(&other);
}

static void test_fork(void)
{
	client c = client_new();
	dlock_claim *claim = claim_on(&c, "fork");

	acquire(&c, claim, -1);
	for (int plain = 0; plain < 2; plain++) {
		pid_t pid = fork_calmly();
		if (pid == 0) {
			dlock_claim *own = claim_on(&c, "fork-child"), *denied = claim_on(&c, "fork");
			int bad = (look(claim) != DLOCK_CLAIM_LOST) + 2 * (dlock_claim_release(claim, &c.error) != DLOCK_LOST)
				+ 4 * (acquire(&c, own, 60000) != DLOCK_OK) + 8 * (acquire(&c, denied, 0) != DLOCK_TIMEOUT)
				+ 16 * (release(&c, own) != DLOCK_OK);
			dlock_claim_abandon(claim);
			dlock_claim_free(claim);
			dlock_claim_free(denied);
			client_free(&c);
			plain ? _exit(bad) : exit(bad);
		}
		int bad = exit_of(pid);
		check(bad == 0, "a child leaves the lock alone, acquires its own, and ends (%d)", bad);
		sleep_ms(1500);
		check(look(claim) == DLOCK_CLAIM_HELD && children("fork") == 1, "the parent still holds it");
	}
	check(dlock_zk_pool_sessions_opened(c.pool) == 1 && release(&c, claim) == DLOCK_OK,
		"the parent releases it in the same session");
	client_free(&c);
}

static void test_names(void)
{
	char longest[1024];
	const char *names[] = { "a/b", "..", ".", "...", "zookeeper", "\xc3\xa9t\xc3\xa9", "a%2Fb", " ", "%", "x\x01\x7f",
		longest };
	client c = client_new(), bare = client_at(zk_hosts, "/", NULL);
	int bad = 0;

	memset(longest, 0xfe, sizeof longest - 1);
	longest[sizeof longest - 1] = '\0';
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		dlock_claim *claim = claim_on(&c, names[i]), *second = claim_on(&c, names[i]);
		bad += acquire(&c, claim, 0) != DLOCK_OK || acquire(&c, second, 0) != DLOCK_TIMEOUT;
		bad += release(&c, claim) != DLOCK_OK;
		dlock_claim_free(second);
	}
	check(bad == 0, "odd names");
	dlock_claim *claim = claim_on(&bare, "zookeeper");
	check(acquire(&bare, claim, 0) == DLOCK_OK && release(&bare, claim) == DLOCK_OK,
		"a resource \"zookeeper\" below the top");
	zoo_delete(zk_observer, "/%7Aookeeper", -1);
	client_free(&c);
	client_free(&bare);
}

static void test_auth(void)
{
	client a = client_at(zk_hosts, zk_root, "digest:ann:secret"),
		   a2 = client_at(zk_hosts, zk_root, "digest:ann:secret");
	client z = client_at(zk_hosts, zk_root, "digest:zoe:other"), c = client_new();
	dlock_claim *claim = claim_on(&a, "auth"), *same = claim_on(&a2, "auth"), *other = claim_on(&z, "auth");

	check(acquire(&a, claim, -1) == DLOCK_OK, "a user acquires a lock with credentials");
	check(acquire(&a2, same, 0) == DLOCK_TIMEOUT, "another process of the same user waits in the queue");
	check(acquire(&z, other, 0) == DLOCK_CONNECTION && strstr(z.error.message, "no right"),
		"the error tells another user the reason");
	check(!strstr(z.error.message, "other"), "it does not contain the password");
	check(children("auth") == -1, "a client without credentials sees nothing");
	check(release(&a, claim) == DLOCK_OK && acquire(&a2, same, 0) == DLOCK_OK,
		"the other process acquires the released lock");
	release(&a2, same);
	dlock_claim_free(other);
	/* Below an open node, users may have nodes that other users cannot read. */
	dlock_claim *open = claim_on(&c, "open");
	acquire(&c, open, -1);
	claim = claim_on(&a, "open");
	dlock_wait wait = { .deadline = dlock_now() + 200 * DLOCK_MS };
	check(dlock_claim_acquire(claim, &wait, &a.error) == DLOCK_TIMEOUT, "a user waits behind an open node");
	release(&c, open);
	check(acquire(&a, claim, 60000) == DLOCK_OK, "the user acquires the lock");
	other = claim_on(&z, "open");
	check(acquire(&z, other, 300) == DLOCK_TIMEOUT, "another user waits behind a node that it cannot read");
	check(settles_at("open", 1), "it leaves the queue");
	pid_t pid = fork_calmly();
	if (pid == 0) {
		client own = client_at(zk_hosts, zk_root, "digest:zoe:other");
		dlock_claim *waiter = claim_on(&own, "open");
		bool good = acquire(&own, waiter, 60000) == DLOCK_OK && release(&own, waiter) == DLOCK_OK;
		client_free(&own);
		_exit(!good);
	}
	check(settles_at("open", 2), "a process of that user waits");
	check(release(&a, claim) == DLOCK_OK, "released");
	int bad = exit_of(pid);
	check(bad == 0, "it is woken when the lock is released (%d)", bad);
	dlock_claim_free(other);
	client_free(&a), client_free(&a2), client_free(&z), client_free(&c);
}

static void test_chroot(void)
{
	char hosts[128];

	snprintf(hosts, sizeof hosts, "%s%s/deep/er", zk_hosts, zk_root);
	client c = client_at(hosts, "/locks/mine", NULL), top = client_at(hosts, "/", NULL);
	dlock_claim *claim = claim_on(&c, "c"), *second = claim_on(&top, "c");
	check(acquire(&c, claim, -1) == DLOCK_OK, "a chroot that does not exist is created");
	check(children("deep/er/locks/mine/c") == 1, "the node is below the chroot");
	pid_t pid = fork_calmly();
	if (pid == 0) {
		client own = client_at(hosts, "/locks/mine", NULL);
		dlock_claim *waiter = claim_on(&own, "c");
		bool good = acquire(&own, waiter, 60000) == DLOCK_OK && release(&own, waiter) == DLOCK_OK;
		client_free(&own);
		_exit(!good);
	}
	settles_at("deep/er/locks/mine/c", 2);
	check(release(&c, claim) == DLOCK_OK, "released");
	check(exit_of(pid) == 0, "watches work below a chroot");
	check(
		acquire(&top, second, 0) == DLOCK_OK && release(&top, second) == DLOCK_OK, "the root may be the chroot itself");
	client_free(&c);
	client_free(&top);
}

static void test_container(void)
{
	client c = client_new();

	for (int i = 0; i < 2; i++) {
		dlock_claim *claim = claim_on(&c, "container");
		check(acquire(&c, claim, -1) == DLOCK_OK && release(&c, claim) == DLOCK_OK, "locked and released");
		check(settles_at("container", -1), "its parent is a container, which the server removes");
	}
	client_free(&c);
}

static void test_foreign(void)
{
	client c = client_new();
	char path[160], made[192];
	dlock_claim *claim = claim_on(&c, "foreign"), *second = claim_on(&c, "foreign");

	acquire(&c, claim, -1);
	snprintf(path, sizeof path, "%s/foreign/lease", zk_root);
	zoo_create(zk_observer, path, "", 0, &ZOO_OPEN_ACL_UNSAFE, ZOO_EPHEMERAL, NULL, 0);
	snprintf(path, sizeof path, "%s/foreign/ab12__lock__", zk_root);
	check(zoo_create(zk_observer, path, "", 0, &ZOO_OPEN_ACL_UNSAFE, ZOO_EPHEMERAL | ZOO_SEQUENCE, made, sizeof made)
			== ZOK,
		"kazoo queues behind it");
	release(&c, claim);
	check(acquire(&c, second, 0) == DLOCK_TIMEOUT, "kazoo's node holds after the release");
	zoo_delete(zk_observer, made, -1);
	check(acquire(&c, second, 0) == DLOCK_OK, "a node without a number does not count");
	check(release(&c, second) == DLOCK_OK, "released");
	client_free(&c);
}

static void test_deleted_by_hand(void)
{
	client c = client_new();
	struct String_vector names;
	char path[160], node[320];
	dlock_claim *claim = claim_on(&c, "deleted");

	acquire(&c, claim, -1);
	snprintf(path, sizeof path, "%s/deleted", zk_root);
	check(zoo_get_children(zk_observer, path, 0, &names) == ZOK && names.count == 1, "one node");
	snprintf(node, sizeof node, "%s/%s", path, names.data[0]);
	zoo_delete(zk_observer, node, -1);
	deallocate_String_vector(&names);
	check(dlock_claim_release(claim, &c.error) == DLOCK_LOST && look(claim) == DLOCK_CLAIM_LOST,
		"a release reports the loss");
	dlock_claim_free(claim);
	client_free(&c);
}

static bool is_closed(void *session)
{
	return dlock_zk_session_view(session).ended;
}

static bool is_dead(dlock_zk_op *op)
{
	bool dead = op && op->done && dlock_zk_is_dead(op->rc);

	dlock_zk_op_release(op);
	return dead;
}

/* A strand discards a session while another strand waits for an answer in it, and then asks for more. */
static void test_discarded_session(void)
{
	client c = client_new();
	dlock_claim *claim = claim_on(&c, "discarded");

	check(acquire(&c, claim, -1) == DLOCK_OK, "acquired");
	dlock_zk_session *session = ((dlock_zk_claim *) claim)->session;
	dlock_zk_pool_discard(c.pool, session);
	check(eventually(is_closed, session), "the discarded session is closed");
	check(is_dead(dlock_zk_ask(session, DLOCK_ZK_LIST, "/")), "a question in it is answered as dead");
	check(is_dead(dlock_zk_create(session, &(char *){ "/x" }, 1, "", &ZOO_OPEN_ACL_UNSAFE, ZOO_EPHEMERAL)),
		"so is a creation");
	dlock_claim_free(claim);
	client_free(&c);
}

int main(int argc, char **argv)
{
	static const tap_test tests[] = {
		{ "contention", test_contention },
		{ "basic", test_basic },
		{ "order", test_order },
		{ "strands", test_strands_are_woken_in_order },
		{ "timeout", test_timeout },
		{ "interruption", test_interruption },
		{ "fork", test_fork },
		{ "discarded_session", test_discarded_session },
		{ "names", test_names },
		{ "auth", test_auth },
		{ "chroot", test_chroot },
		{ "container", test_container },
		{ "foreign", test_foreign },
		{ "deleted by hand", test_deleted_by_hand },
	};

	zk_begin(argc, argv);
	tap_run(tests, sizeof tests / sizeof *tests, argc > 2 ? argv[2] : NULL, zk_reset);
	zk_end();
	return tap_end();
}
