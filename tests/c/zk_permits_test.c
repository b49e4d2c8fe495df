/* Semaphores, readers and writers on a real ZooKeeper server: zk_permits_test HOST:PORT [word in the names of the tests
 * to run]. Prints TAP. Best with a short tick (200 ms). */

#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "../../src/zookeeper/lock/rank.h"
#include "helpers.h"
#include "tap.h"
#include "zk_client.h"
#include "zk_proxy.h"

static client pool_at(const char *hosts, int64_t capacity, const char *auth)
{
	dlock_zk_options options = { hosts, zk_root, zk_session_timeout, auth };
	client c = { dlock_zk_pool_new(&zk_loop), NULL, { "" } };

	c.backend = dlock_zookeeper_new(c.pool, &options, "p:", 2, capacity);
	return c;
}

static client pool_of(int64_t capacity)
{
	return pool_at(zk_hosts, capacity, NULL);
}

static dlock_claim *permits_on(client *c, const char *name, int64_t permits)
{
	dlock_claim *claim = claim_on(c, name);

	claim->permits = permits;
	return claim;
}

static int64_t available(client *c, const char *name)
{
	int64_t permits;

	return c->backend->ops->available(c->backend, name, strlen(name), &permits, &c->error) == DLOCK_OK ? permits : -1;
}

/* A process that acquires permits. Then it writes its letter, and holds them until it reads a byte. */
typedef struct {
	pid_t pid;
	int hear[2];
} waiter;

static int line[2]; /* the pipe for their letters */

static waiter waiter_start(const char *hosts, const char *name, int64_t capacity, int64_t permits, char me)
{
	waiter w;

	if (pipe(w.hear) != 0) {
		abort();
	}
	if ((w.pid = fork_calmly()) == 0) {
		client own = pool_at(hosts, capacity, NULL);
		dlock_claim *claim = permits_on(&own, name, permits);
		char heard;
		bool good = acquire(&own, claim, -1) == DLOCK_OK && write(line[1], &me, 1) == 1
			&& read(w.hear[0], &heard, 1) == 1 && release(&own, claim) == DLOCK_OK;
		client_free(&own);
		_exit(!good);
	}
	return w;
}

/* Lets the waiter release its permits, and end. */
static bool waiter_end(waiter *w)
{
	bool good = write(w->hear[1], "x", 1) == 1 && exit_of(w->pid) == 0;

	close(w->hear[0]);
	close(w->hear[1]);
	return good;
}

/* Are exactly these waiters served next, in any order? */
static bool next_are(const char *expected)
{
	char got[16] = "";
	size_t count = strlen(expected);
	struct pollfd ready = { .fd = line[0], .events = POLLIN };

	for (size_t i = 0; i < count; i++) {
		if (poll(&ready, 1, 60000) != 1 || read(line[0], got + i, 1) != 1) {
			break;
		}
	}
	for (size_t i = 0; i < count; i++) {
		if (!strchr(got, expected[i])) {
			printf("# %s instead of %s\n", got, expected);
			return false;
		}
	}
	return poll(&ready, 1, 150) == 0;
}

static void test_semaphore(void)
{
	client c = pool_of(3);
	dlock_claim *claims[4];
	int64_t last = 0;
	bool rising = true, locked;

	check(available(&c, "s") == 3, "all are free");
	for (int i = 0; i < 4; i++) {
		claims[i] = permits_on(&c, "s", 1);
	}
	for (int i = 0; i < 3; i++) {
		check(acquire(&c, claims[i], 0) == DLOCK_OK && available(&c, "s") == 2 - i, "one more claim acquires a permit");
		rising &= claims[i]->fencing_token > last;
		last = claims[i]->fencing_token;
	}
	check(children("p:s") == 3, "their nodes are below the prefixed name");
	check(acquire(&c, claims[3], 0) == DLOCK_TIMEOUT && settles_at("p:s", 3),
		"a fourth claim is refused, and leaves no node");
	check(c.backend->ops->locked(c.backend, "s", 1, &locked, &c.error) == DLOCK_OK && locked, "in use");
	check(release(&c, claims[1]) == DLOCK_OK && available(&c, "s") == 1, "one claim releases its permit");
	check(acquire(&c, claims[3], 0) == DLOCK_OK && claims[3]->fencing_token > last && rising,
		"another claim acquires it; tokens rise");
	release(&c, claims[0]), release(&c, claims[2]), release(&c, claims[3]);
	check(available(&c, "s") == 3 && children("p:s") <= 0, "all are free again");
	client_free(&c);
}

/* Any holder's end makes room, not only that of the holder that is as many places ahead as there are permits. */
static void test_any_holder(void)
{
	client c = pool_of(3);
	dlock_claim *held[3];
	waiter w[2];

	for (int i = 0; i < 3; i++) {
		held[i] = permits_on(&c, "any", 1);
		acquire(&c, held[i], -1);
	}
	for (int i = 0; i < 2; i++) {
		w[i] = waiter_start(zk_hosts, "any", 3, 1, (char) ('a' + i));
		check(settles_at("p:any", 4 + i), "waiter %d is in the queue", i);
	}
	check(release(&c, held[2]) == DLOCK_OK && next_are("a"), "the last holder ends, and the first waiter is served");
	check(release(&c, held[1]) == DLOCK_OK && next_are("b"), "another holder ends, and the second waiter is served");
	check(waiter_end(&w[0]) && waiter_end(&w[1]) && release(&c, held[0]) == DLOCK_OK, "released");
	client_free(&c);
}

static void test_sizes(void)
{
	client c = pool_of(5);
	dlock_claim *first = permits_on(&c, "sizes", 3), *second = permits_on(&c, "sizes", 1);

	check(acquire(&c, first, -1) == DLOCK_OK && acquire(&c, second, -1) == DLOCK_OK && available(&c, "sizes") == 1,
		"3 and 1 of 5");
	waiter large = waiter_start(zk_hosts, "sizes", 5, 4, 'l');
	check(settles_at("p:sizes", 3), "a waiter wants 4");
	waiter small = waiter_start(zk_hosts, "sizes", 5, 1, 's');
	check(settles_at("p:sizes", 4) && next_are(""), "a waiter for 1, which is free, does not overtake it");
	check(available(&c, "sizes") == 1, "that permit is still free");
	check(release(&c, first) == DLOCK_OK && next_are("l"), "the large waiter acquires its 4");
	check(release(&c, second) == DLOCK_OK && next_are("s"), "the small waiter acquires a remaining permit");
	check(waiter_end(&large) && waiter_end(&small), "released");
	client_free(&c);
}

/* The first waiter leaves. Waiters behind it are served if they waited only for it. */
static void test_leaving(void)
{
	client c = pool_of(2), other = pool_of(2);
	dlock_claim *held = permits_on(&c, "leaving", 1), *large = permits_on(&other, "leaving", 2);
	dlock_wait wait = { .deadline = DLOCK_FOREVER, .interrupted = interrupted };

	acquire(&c, held, -1);
	interrupt_on(SIGALRM);
	dlock_status status;
	do { /* repeat if the signal came before the claim was in the queue */
		interrupt_clear();
		ualarm(200000, 0);
		status = dlock_claim_acquire(large, &wait, &other.error);
	} while (status == DLOCK_INTERRUPTED && children("p:leaving") < 2);
	check(status == DLOCK_INTERRUPTED && children("p:leaving") == 2, "a waiter for 2 is interrupted");
	interrupt_clear();
	waiter small = waiter_start(zk_hosts, "leaving", 2, 1, 's');
	check(settles_at("p:leaving", 3) && next_are(""), "a waiter for 1 is behind it");
	dlock_claim_abandon(large);
	check(next_are("s"), "it is served when the first waiter leaves");
	check(waiter_end(&small) && release(&c, held) == DLOCK_OK, "released");
	dlock_claim_free(large);
	client_free(&c);
	client_free(&other);
}

/* More holders than a waiter watches one by one. */
static void test_many(void)
{
	enum { MANY = 40 };
	client c = pool_of(MANY);
	dlock_claim *held[MANY];
	int good = 0;

	for (int i = 0; i < MANY; i++) {
		held[i] = permits_on(&c, "many", 1);
		good += acquire(&c, held[i], -1) == DLOCK_OK;
	}
	check(good == MANY && available(&c, "many") == 0, "%d claims hold", good);
	waiter w = waiter_start(zk_hosts, "many", MANY, 1, 'a');
	check(settles_at("p:many", MANY + 1), "a waiter wants 1");
	waiter large = waiter_start(zk_hosts, "many", MANY, MANY - 1, 'b');
	check(settles_at("p:many", MANY + 2), "another waiter wants nearly all");
	check(release(&c, held[3]) == DLOCK_OK && next_are("a"), "one holder releases, and the first waiter is served");
	for (int i = 0; i < MANY; i++) {
		good -= i != 3 && release(&c, held[i]) == DLOCK_OK;
	}
	check(good == 1 && next_are("b"), "all release, and the second waiter is served");
	check(waiter_end(&w) && waiter_end(&large), "released");
	client_free(&c);
}

static void test_readers_and_writers(void)
{
	client c = pool_of(DLOCK_PERMITS_ALL);
	dlock_claim *first = permits_on(&c, "rw", 1), *second = permits_on(&c, "rw", 1),
				*writer = permits_on(&c, "rw", DLOCK_PERMITS_ALL);

	check(acquire(&c, first, 0) == DLOCK_OK && acquire(&c, second, 0) == DLOCK_OK, "two readers");
	check(acquire(&c, writer, 0) == DLOCK_TIMEOUT, "no writer holds beside them");
	waiter w = waiter_start(zk_hosts, "rw", DLOCK_PERMITS_ALL, DLOCK_PERMITS_ALL, 'w');
	check(settles_at("p:rw", 3), "a writer waits");
	waiter r[3];
	for (int i = 0; i < 3; i++) {
		r[i] = waiter_start(zk_hosts, "rw", DLOCK_PERMITS_ALL, 1, (char) ('a' + i));
		check(settles_at("p:rw", 4 + i), "a reader waits behind it");
	}
	waiter v = waiter_start(zk_hosts, "rw", DLOCK_PERMITS_ALL, DLOCK_PERMITS_ALL, 'v');
	check(settles_at("p:rw", 7) && next_are(""), "another writer waits, and all of them wait");
	release(&c, first);
	check(next_are(""), "one reader releases: no waiter is served");
	release(&c, second);
	check(next_are("w"), "both readers have released: the writer holds alone");
	check(waiter_end(&w) && next_are("abc"), "all readers are served together after it");
	check(waiter_end(&r[1]) && next_are("") && waiter_end(&r[2]) && next_are("") && waiter_end(&r[0]) && next_are("v"),
		"the second writer is served after the last of them, in whatever order they release");
	check(acquire(&c, writer, 0) == DLOCK_TIMEOUT, "the second writer holds alone, too");
	check(waiter_end(&v) && acquire(&c, writer, 60000) == DLOCK_OK, "a third writer holds after it");
	release(&c, writer);
	client_free(&c);
}

/* Eight processes read, write and acquire permits of a semaphore in turn. */
static void test_contention(void)
{
	enum { PROCESSES = 8, ROUNDS = 40 };
	volatile long *shared = shared_memory(3 * sizeof *shared); /* readers and writers inside, sections */
	pid_t pids[PROCESSES];
	int bad = 0;

	zk_unobserve();
	for (int p = 0; p < PROCESSES; p++) {
		if ((pids[p] = fork_calmly()) == 0) {
			client c = pool_of(DLOCK_PERMITS_ALL), s = pool_of(3);
			for (int i = 0; i < ROUNDS; i++) {
				bool writes = (i + p) % 4 == 0;
				dlock_claim *claim = permits_on(&c, "crowd", writes ? DLOCK_PERMITS_ALL : 1),
							*permit = permits_on(&s, "crowd-s", 1 + (i + p) % 2);
				if (acquire(&c, claim, 60000) != DLOCK_OK) {
					_exit(1);
				}
				long inside = __sync_add_and_fetch(&shared[0], writes ? 1000 : 1);
				sched_yield();
				if (writes ? inside != 1000 : inside >= 1000) {
					_exit(2);
				}
				__sync_sub_and_fetch(&shared[0], writes ? 1000 : 1);
				if (release(&c, claim) != DLOCK_OK || acquire(&s, permit, 60000) != DLOCK_OK) {
					_exit(3);
				}
				int64_t permits = permit->permits;
				if (__sync_add_and_fetch(&shared[1], permits) > 3) {
					_exit(4);
				}
				sched_yield();
				__sync_sub_and_fetch(&shared[1], permits);
				__sync_add_and_fetch(&shared[2], 1);
				if (release(&s, permit) != DLOCK_OK) {
					_exit(5);
				}
			}
			client_free(&c);
			client_free(&s);
			_exit(0);
		}
	}
	for (int p = 0; p < PROCESSES; p++) {
		int status = exit_of(pids[p]);
		bad = status ? status : bad;
	}
	zk_observe();
	check(bad == 0 && shared[2] == PROCESSES * ROUNDS,
		"no more permits are held than exist, and all sections run (%d, %ld)", bad, shared[2]);
	check(settles_at("p:crowd", 0) && settles_at("p:crowd-s", 0), "no node is left");
}

/* Nodes with names of Curator and kazoo. */
static void test_foreign(void)
{
	static const struct {
		const char *name, *text;
		bool reads;
	} nodes[] = {
		{ "_c_0f8fad5b-d9cb-469f-a165-70867728950e-__WRIT__", "Curator's writer", false },
		{ "_c_0f8fad5b-d9cb-469f-a165-70867728950e-__READ__", "Curator's reader", true },
		{ "0f8fad5bd9cb469fa16570867728950e__lock__", "kazoo's writer", false },
		{ "0f8fad5bd9cb469fa16570867728950e__rlock__", "kazoo's reader", true },
		{ "_c_0f8fad5b-d9cb-469f-a165-70867728950e-lock-", "a lock", false },
	};
	client c = pool_of(DLOCK_PERMITS_ALL), s = pool_of(5);
	char path[256], made[320];

	for (size_t i = 0; i < sizeof nodes / sizeof *nodes; i++) {
		dlock_claim *reader = permits_on(&c, "f", 1), *writer = permits_on(&c, "f", DLOCK_PERMITS_ALL),
					*permit = permits_on(&s, "f", 1);
		/* Held until another node is there, because the server may delete a resource without nodes at any time. */
		check(acquire(&c, reader, -1) == DLOCK_OK, "the resource exists");
		snprintf(path, sizeof path, "%s/p:f/%s", zk_root, nodes[i].name);
		int created = zoo_create(
			zk_observer, path, "", 0, &ZOO_OPEN_ACL_UNSAFE, ZOO_EPHEMERAL | ZOO_SEQUENCE, made, sizeof made);
		check(created == ZOK && release(&c, reader) == DLOCK_OK, "%s (%d)", nodes[i].text, created);
		reader = permits_on(&c, "f", 1);
		check(acquire(&c, reader, 0) == (nodes[i].reads ? DLOCK_OK : DLOCK_TIMEOUT),
			"a reader holds only beside a reader");
		check(acquire(&c, writer, 0) == DLOCK_TIMEOUT, "a writer is refused");
		if (nodes[i].reads) {
			dlock_claim_release(reader, &c.error);
		}
		check(acquire(&s, permit, 0) == DLOCK_TIMEOUT && available(&s, "f") == 0, "a semaphore has no permit left");
		zoo_delete(zk_observer, made, -1);
		check(acquire(&s, permit, 60000) == DLOCK_OK && release(&s, permit) == DLOCK_OK,
			"a semaphore is granted permits when the node is gone");
		dlock_claim_free(reader);
		dlock_claim_free(writer);
	}
	client_free(&c);
	client_free(&s);
}

static void proxied(proxy *p, char *hosts, size_t size)
{
	proxy_start(p, zk_port);
	snprintf(hosts, size, "127.0.0.1:%d", p->port);
}

static void test_lost_replies(void)
{
	char hosts[32];
	proxy p;

	proxied(&p, hosts, sizeof hosts);
	client c = pool_at(hosts, 3, NULL);
	dlock_claim *held = permits_on(&c, "lost", 1), *claim = permits_on(&c, "lost", 2);
	check(acquire(&c, held, -1) == DLOCK_OK, "held");
	p.op = OP_CREATE2;
	p.mode = PROXY_LOSE_REPLY;
	check(acquire(&c, claim, 60000) == DLOCK_OK && p.cuts == 1, "acquired although the reply was lost");
	check(children("p:lost") == 2 && available(&c, "lost") == 0, "one node was created");
	p.op = OP_DELETE;
	p.mode = PROXY_LOSE_REPLY;
	check(release(&c, claim) == DLOCK_OK && available(&c, "lost") == 2, "released once although the reply was lost");
	/* The connection breaks while a process waits. */
	claim = permits_on(&c, "lost", 2);
	check(acquire(&c, claim, -1) == DLOCK_OK, "all are held");
	waiter w = waiter_start(hosts, "lost", 3, 1, 'a');
	check(settles_at("p:lost", 3) && next_are(""), "a process waits");
	int before = p.cuts;
	p.mode = PROXY_CUT;
	while (p.cuts < before + 2) {
		sleep_ms(1);
	}
	p.mode = PROXY_PASS;
	check(eventually_in_state(held, DLOCK_CLAIM_HELD) && next_are(""), "it waits while the connection breaks");
	check(release(&c, held) == DLOCK_OK && next_are("a") && waiter_end(&w), "it is woken after that");
	check(release(&c, claim) == DLOCK_OK && settles_at("p:lost", 0), "no node is left");
	client_free(&c);
	proxy_stop(&p);
}

static void test_expiry(void)
{
	char hosts[32];
	proxy p;

	zk_session_timeout = 4 * DLOCK_SECOND;
	proxied(&p, hosts, sizeof hosts);
	client c = pool_at(hosts, 2, NULL);
	zk_session_timeout = 30 * DLOCK_SECOND;
	client other = pool_of(2);
	dlock_claim *lost = permits_on(&c, "expiry", 1), *held = permits_on(&other, "expiry", 1),
				*next = permits_on(&other, "expiry", 1);
	check(acquire(&other, held, -1) == DLOCK_OK && acquire(&c, lost, -1) == DLOCK_OK, "both are held");
	p.mode = PROXY_HOLD;
	check(eventually_in_state(lost, DLOCK_CLAIM_LOST), "without an answer the permit is lost");
	check(acquire(&other, next, 60000) == DLOCK_OK && look(held) == DLOCK_CLAIM_HELD,
		"the next claim acquires it when the session expires");
	p.mode = PROXY_PASS;
	check(release(&c, lost) == DLOCK_LOST && available(&other, "expiry") == 0, "the lost claim releases nothing");
	release(&other, held), release(&other, next);
	client_free(&c);
	client_free(&other);
	proxy_stop(&p);
	zk_session_timeout = 30 * DLOCK_SECOND;
}

/* Below an open node, users may have nodes that other users cannot read. Then a waiter watches the list. */
static void test_auth(void)
{
	client c = pool_of(2);
	dlock_claim *open = permits_on(&c, "auth", 1);

	acquire(&c, open, -1);
	client a = pool_at(zk_hosts, 2, "digest:ann:secret");
	dlock_claim *closed = permits_on(&a, "auth", 1);
	check(acquire(&a, closed, 0) == DLOCK_OK, "another user holds a permit");
	waiter w = waiter_start(zk_hosts, "auth", 2, 1, 'a');
	check(settles_at("p:auth", 3) && next_are(""), "a process waits that cannot read that node");
	check(release(&a, closed) == DLOCK_OK && next_are("a") && waiter_end(&w), "it is woken by the release");
	release(&c, open);
	client_free(&a);
	client_free(&c);
}

int main(int argc, char **argv)
{
	static const tap_test tests[] = {
		{ "contention", test_contention },
		{ "semaphore", test_semaphore },
		{ "any holder", test_any_holder },
		{ "sizes", test_sizes },
		{ "leaving", test_leaving },
		{ "many", test_many },
		{ "readers and writers", test_readers_and_writers },
		{ "foreign", test_foreign },
		{ "lost replies", test_lost_replies },
		{ "expiry", test_expiry },
		{ "auth", test_auth },
	};

	zk_begin(argc, argv);
	if (pipe(line) != 0) {
		return 2;
	}
	tap_run(tests, sizeof tests / sizeof *tests, argc > 2 ? argv[2] : NULL, zk_reset);
	zk_end();
	return tap_end();
}
