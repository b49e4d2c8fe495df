/* The ZooKeeper engine against a real server: zk_engine_test HOST:PORT [word in the name of the tests to run].
 * HOST must be 127.0.0.1 (the proxy goes there). Prints TAP. Best with a short tick (200 ms). */

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>

#define THREADED
#include <zookeeper/zookeeper.h>

#include "../../src/engine/zookeeper.h"
#include "../../src/lease/claim.h"
#include "zk_proxy.h"

#define TIMEOUT session_timeout

static dlock_nanos session_timeout = DLOCK_SECOND;
static int count, failures;
static const char *server;
static int server_port;
static char root[64];
static zhandle_t *observer; /* sees what is on the server, by a session of its own */

static void ignore_log(const char *message)
{
	(void) message;
}

static bool check(bool good, const char *format, ...)
{
	va_list arguments;

	failures += !good;
	printf("%sok %d - ", good ? "" : "not ", ++count);
	va_start(arguments, format);
	vprintf(format, arguments);
	va_end(arguments);
	putchar('\n');
	fflush(stdout);
	return good;
}

static void sleep_ms(int ms)
{
	struct timespec time = { ms / 1000, ms % 1000 * 1000000L };

	while (nanosleep(&time, &time) < 0 && errno == EINTR) {
	}
}

/* A fork that meets a thread of the library in the midst of something can leave its locks locked in the child. That is
 * the C library's business (and ASAN's), not what is tested here. */
static pid_t calm_fork(void)
{
	sleep_ms(50);
	return fork();
}

/* What a test works with. */
typedef struct {
	dlock_zk_pool *pool;
	dlock_engine *engine;
	dlock_error error;
} bench;

static bench bench_at(const char *hosts, const char *under, const char *auth)
{
	dlock_zk_options options = { hosts, under, TIMEOUT, auth };
	bench b = { dlock_zk_pool_new(), NULL, { "" } };

	b.engine = dlock_zookeeper_new(b.pool, &options);
	return b;
}

static bench bench_new(void)
{
	return bench_at(server, root, NULL);
}

static void bench_free(bench *b)
{
	dlock_engine_release(b->engine);
	dlock_zk_pool_free(b->pool);
}

static dlock_claim *claim_on(bench *b, const char *name)
{
	return dlock_claim_new(b->engine, name, strlen(name), 0, NULL, &b->error);
}

static dlock_status acquire(bench *b, dlock_claim *claim, int ms)
{
	dlock_wait wait = { .deadline = ms < 0 ? DLOCK_FOREVER : dlock_now() + ms * DLOCK_MS };
	dlock_status status = dlock_claim_acquire(claim, &wait, &b->error);

	if (status == DLOCK_CONNECTION || status == DLOCK_FAILED) {
		printf("# %s\n", b->error.message);
		fflush(stdout);
	}
	return status;
}

static dlock_status release(bench *b, dlock_claim *claim)
{
	dlock_status status = dlock_claim_release(claim, &b->error);

	dlock_claim_free(claim);
	return status;
}

static dlock_claim_state look(dlock_claim *claim)
{
	dlock_nanos remaining;

	return dlock_claim_look(claim, &remaining);
}

/* How many nodes there are below the resource, -1: not even that. */
static int children(const char *name)
{
	struct String_vector names;
	char path[256];

	snprintf(path, sizeof path, "%s/%s", root, name);
	if (zoo_get_children(observer, path, 0, &names) != ZOK) {
		return -1;
	}
	int number = names.count;
	deallocate_String_vector(&names);
	return number;
}

/* Waits until there are `number` nodes, for ten seconds. Where none is left the server removes the container, which may be at once. */
static bool settles_at(const char *name, int number)
{
	int now = children(name);

	for (int i = 0; i < 1000 && now != number && !(number == 0 && now == -1); i++) {
		sleep_ms(10);
		now = children(name);
	}
	return now == number || (number == 0 && now == -1);
}

static bool becomes(dlock_claim *claim, dlock_claim_state state)
{
	for (int i = 0; i < 1000 && look(claim) != state; i++) {
		sleep_ms(10);
	}
	return look(claim) == state;
}

static int status_of(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void test_basic(void)
{
	bench b = bench_new(), other = bench_new();
	dlock_claim *first = claim_on(&b, "basic"), *second = claim_on(&other, "basic");
	dlock_nanos remaining;
	bool locked;

	check(dlock_zk_pool_sessions_opened(b.pool) == 0, "nothing is opened before the first use");
	check(b.engine->ops->locked(b.engine, "basic", 5, &locked, &b.error) == DLOCK_OK && !locked, "not locked");
	check(acquire(&b, first, -1) == DLOCK_OK && look(first) == DLOCK_CLAIM_HELD, "acquired");
	check(dlock_claim_look(first, &remaining) == DLOCK_CLAIM_HELD && remaining > 0 && remaining < TIMEOUT, "time is left");
	check(b.engine->ops->locked(b.engine, "basic", 5, &locked, &b.error) == DLOCK_OK && locked, "locked");
	check(dlock_claim_check(first, &b.error) == DLOCK_OK, "the server says so too");
	check(dlock_claim_extend(first, 0, &b.error) == DLOCK_OK, "extended");
	check(acquire(&other, second, 0) == DLOCK_TIMEOUT, "another's try fails");
	check(settles_at("basic", 1), "and leaves no node");
	int64_t token = first->fencing_token;
	check(release(&b, first) == DLOCK_OK, "released");
	check(children("basic") == 0, "the node is gone");
	check(acquire(&other, second, 0) == DLOCK_OK && second->fencing_token > token, "another's try succeeds, the token rises");
	dlock_claim *attached = dlock_claim_new(other.engine, "basic", 5, 0, second->token, &other.error);
	check(dlock_claim_check(attached, &other.error) == DLOCK_OK && attached->fencing_token == second->fencing_token,
		"found again by its token");
	dlock_claim_free(attached);
	attached = dlock_claim_new(b.engine, "basic", 5, 0, second->token, &b.error);
	check(dlock_claim_check(attached, &b.error) == DLOCK_LOST, "but not by another session");
	dlock_claim_free(attached);
	check(children("basic") == 1, "which leaves the node alone");
	dlock_claim_abandon(second);
	dlock_zk_pool_drain(other.pool, dlock_now() + 5 * DLOCK_SECOND);
	check(children("basic") == 0, "abandoned and drained: the node is gone");
	dlock_claim_free(second);
	check(dlock_zk_pool_sessions_opened(b.pool) == 1, "one session");
	bench_free(&b);
	bench_free(&other);
}

static void test_contention(void)
{
	enum { PROCESSES = 8, ROUNDS = 50 };
	volatile long *shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t pids[PROCESSES];
	int bad = 0;

	session_timeout = 4 * DLOCK_SECOND; /* all at once, on what may be a busy machine */
	zookeeper_close(observer);

	for (int p = 0; p < PROCESSES; p++) {
		if ((pids[p] = calm_fork()) == 0) {
			bench b = bench_new();
			for (int i = 0; i < ROUNDS; i++) {
				dlock_claim *claim = claim_on(&b, "contention");
				if (acquire(&b, claim, -1) != DLOCK_OK) {
					_exit(1);
				}
				if (claim->fencing_token <= shared[1]) {
					_exit(3);
				}
				shared[1] = claim->fencing_token;
				long before = shared[0];
				sched_yield();
				shared[0] = before + 1;
				if (release(&b, claim) != DLOCK_OK) {
					_exit(2);
				}
			}
			bench_free(&b);
			_exit(0);
		}
	}
	observer = zookeeper_init2(server, NULL, 4000, NULL, NULL, 0, ignore_log);
	for (int p = 0; p < PROCESSES; p++) {
		int status = status_of(pids[p]);
		bad = status ? status : bad;
	}
	session_timeout = DLOCK_SECOND;
	check(bad == 0, "all sections went well, tokens rose (%d)", bad);
	check(shared[0] == PROCESSES * ROUNDS, "no update was lost (%ld)", shared[0]);
	check(settles_at("contention", 0), "no node is left");
}

static void test_order(void)
{
	bench b = bench_new();
	int line[2];
	char order[4] = "";
	pid_t pids[3];

	check(pipe(line) == 0, "pipe");
	dlock_claim *claim = claim_on(&b, "order");
	check(acquire(&b, claim, -1) == DLOCK_OK, "held");
	for (int p = 0; p < 3; p++) {
		if ((pids[p] = calm_fork()) == 0) {
			bench own = bench_new();
			dlock_claim *waiter = claim_on(&own, "order");
			char me = (char) ('a' + p);
			bool good = acquire(&own, waiter, -1) == DLOCK_OK && write(line[1], &me, 1) == 1
				&& release(&own, waiter) == DLOCK_OK;
			bench_free(&own);
			_exit(!good);
		}
		check(settles_at("order", p + 2), "waiter %d is in line", p);
	}
	release(&b, claim);
	for (int p = 0; p < 3; p++) {
		check(read(line[0], order + p, 1) == 1 && status_of(pids[p]) == 0, "waiter had its turn");
	}
	check(strcmp(order, "abc") == 0, "first come, first served (%s)", order);
	close(line[0]);
	close(line[1]);
	bench_free(&b);
}

static void test_timeout(void)
{
	bench b = bench_new(), other = bench_new();
	dlock_claim *held = claim_on(&b, "timeout"), *waiter = claim_on(&other, "timeout");

	acquire(&b, held, -1);
	dlock_nanos start = dlock_now();
	check(acquire(&other, waiter, 300) == DLOCK_TIMEOUT, "timed out");
	check(dlock_now() - start >= 300 * DLOCK_MS, "not before its time");
	check(settles_at("timeout", 1), "no node is left");
	check(acquire(&other, waiter, 0) == DLOCK_TIMEOUT && acquire(&other, waiter, 0) == DLOCK_TIMEOUT, "again and again");
	release(&b, held);
	check(acquire(&other, waiter, 0) == DLOCK_OK, "the same claim can be tried again");
	check(children("timeout") == 1, "one node");
	check(release(&other, waiter) == DLOCK_OK, "released");
	bench_free(&b);
	bench_free(&other);
}

static bool flag_set(void *context)
{
	return *(volatile sig_atomic_t *) context != 0;
}

static volatile sig_atomic_t interrupted;

static void on_alarm(int number)
{
	(void) number;
	interrupted = 1;
}

static void test_interruption(void)
{
	bench b = bench_new(), other = bench_new();
	dlock_claim *held = claim_on(&b, "interruption"), *waiter = claim_on(&other, "interruption");
	dlock_wait wait = { .deadline = dlock_now() + 10 * DLOCK_SECOND, .interrupted = flag_set, .context = (void *) &interrupted };

	signal(SIGALRM, on_alarm);
	acquire(&b, held, -1);
	for (int i = 0; i < 2; i++) {
		interrupted = 0;
		ualarm(200000, 0);
		check(dlock_claim_acquire(waiter, &wait, &other.error) == DLOCK_INTERRUPTED
			&& waiter->state == DLOCK_CLAIM_WAITING, "a signal ends the wait");
		check(children("interruption") == 2, "it stays in line");
	}
	interrupted = 0;
	release(&b, held);
	check(dlock_claim_acquire(waiter, &wait, &other.error) == DLOCK_OK, "resumed, and its turn had come");
	check(children("interruption") == 1, "with one node");
	dlock_claim *third = claim_on(&b, "interruption");
	interrupted = 1;
	check(dlock_claim_acquire(third, &wait, &b.error) == DLOCK_INTERRUPTED, "interrupted from the start");
	dlock_claim_abandon(third);
	dlock_zk_pool_drain(b.pool, dlock_now() + 5 * DLOCK_SECOND);
	check(settles_at("interruption", 1), "abandoned in the midst of its creation: no node");
	dlock_claim_free(third);
	interrupted = 0;
	third = claim_on(&b, "interruption");
	ualarm(200000, 0);
	check(dlock_claim_acquire(third, &wait, &b.error) == DLOCK_INTERRUPTED, "interrupted in line");
	dlock_claim_abandon(third);
	dlock_claim_free(third);
	dlock_zk_pool_drain(b.pool, dlock_now() + 5 * DLOCK_SECOND);
	check(children("interruption") == 1, "abandoned in line: no node");
	release(&other, waiter);
	bench_free(&b);
	bench_free(&other);
}

static void proxied(proxy *p, bench *b)
{
	static char hosts[32];

	proxy_start(p, server_port);
	snprintf(hosts, sizeof hosts, "127.0.0.1:%d", p->port);
	*b = bench_at(hosts, root, NULL);
}

static void test_lost_replies(void)
{
	proxy p;
	bench b;

	proxied(&p, &b);
	dlock_claim *claim = claim_on(&b, "lost");
	check(acquire(&b, claim, -1) == DLOCK_OK && release(&b, claim) == DLOCK_OK, "warm");
	p.op = OP_CREATE2;
	for (int i = 0; i < 2; i++) {
		proxy_mode mode = i ? PROXY_LOSE : PROXY_LOSE_REPLY;
		claim = claim_on(&b, "lost");
		char token[sizeof claim->token];
		memcpy(token, claim->token, sizeof token);
		p.mode = mode;
		check(acquire(&b, claim, 5000) == DLOCK_OK, "acquired though the %s was lost", i ? "create" : "reply");
		check(p.cuts == i + 1 && p.mode == PROXY_PASS, "the connection was cut indeed (%d)", p.cuts);
		check(children("lost") == 1, "one node");
		check(i || strcmp(token, claim->token) == 0, "the node was found by its guid");
		check(dlock_claim_check(claim, &b.error) == DLOCK_OK, "and is ours");
		check(release(&b, claim) == DLOCK_OK && children("lost") == 0, "released");
	}
	claim = claim_on(&b, "lost");
	acquire(&b, claim, -1);
	p.op = OP_DELETE;
	p.mode = PROXY_LOSE_REPLY;
	check(release(&b, claim) == DLOCK_OK, "released though the reply was lost");
	claim = claim_on(&b, "lost");
	acquire(&b, claim, -1);
	p.mode = PROXY_LOSE;
	dlock_claim_abandon(claim);
	dlock_claim_free(claim);
	dlock_zk_pool_drain(b.pool, dlock_now() + 5 * DLOCK_SECOND);
	check(p.mode == PROXY_PASS && children("lost") == 0, "abandoned, deleted in the background though the delete was lost");
	/* The creation executed, its reply lost, and the waiter gone before it could find out. */
	claim = claim_on(&b, "lost");
	dlock_wait wait = { .deadline = dlock_now() + 5 * DLOCK_SECOND, .interrupted = flag_set, .context = (void *) &interrupted };
	p.op = OP_CREATE2;
	p.mode = PROXY_LOSE_REPLY;
	interrupted = 1;
	check(dlock_claim_acquire(claim, &wait, &b.error) == DLOCK_INTERRUPTED, "interrupted at once");
	dlock_claim_abandon(claim);
	dlock_claim_free(claim);
	interrupted = 0;
	dlock_zk_pool_drain(b.pool, dlock_now() + 5 * DLOCK_SECOND);
	check(p.mode == PROXY_PASS && children("lost") == 0, "no node is left of it (%d, %d)", p.mode, children("lost"));
	check(dlock_zk_pool_sessions_opened(b.pool) == 1, "all in one session");
	bench_free(&b);
	proxy_stop(&p);
}

/* The name of the created node is not what was asked for, or its number is none. */
static void test_odd_answers(void)
{
	static const struct {
		const char *word;
		size_t behind;
		unsigned char byte;
		const char *text;
	} answers[] = {
		{ "/dlock-test-", 0, '\0', "no path" }, { "/dlock-test-", 1, '\0', "a shorter path" }, { "/dlock-test-", 1, 'x', "another parent" },
		{ "/_c_", 0, 'x', "no node below it" }, { "/_c_", 1, '\0', "a node without a name" }, { "/_c_", 4, 'x', "another guid" },
		{ "-lock-", 15, 'x', "no number" }, { "-lock-", 6, '\0', "a number that is missing" }, { "-lock-", 16, 0x80, "a negative czxid" },
	};
	proxy p;
	bench b;

	proxied(&p, &b);
	dlock_claim *claim = claim_on(&b, "warm");
	check(acquire(&b, claim, -1) == DLOCK_OK && release(&b, claim) == DLOCK_OK, "warm");
	/* No container, which the server may remove: then the answer to its making would be the one that is altered. */
	char parent[256];
	snprintf(parent, sizeof parent, "%s/odd", root);
	check(zoo_create(observer, parent, "", 0, &ZOO_OPEN_ACL_UNSAFE, 0, NULL, 0) == ZOK, "a parent that stays");
	for (size_t i = 0; i < sizeof answers / sizeof *answers; i++) {
		p.word = answers[i].word;
		p.behind = answers[i].behind;
		p.byte = answers[i].byte;
		p.mode = PROXY_ALTER;
		claim = claim_on(&b, "odd");
		check(acquire(&b, claim, 2000) == DLOCK_CONNECTION && strstr(b.error.message, "unexpected form"), "%s: %s", answers[i].text,
			b.error.message);
		check(p.mode == PROXY_PASS && look(claim) != DLOCK_CLAIM_HELD, "the answer was altered indeed, and is none");
		dlock_claim_free(claim);
		check(settles_at("odd", 0), "the node is found by its guid, and deleted");
	}
	bench_free(&b);
	proxy_stop(&p);
}

static void test_expiry(void)
{
	proxy p;
	bench b, other = bench_new();

	proxied(&p, &b);
	dlock_claim *held = claim_on(&b, "expiry"), *waiter = claim_on(&other, "expiry"), *again = claim_on(&b, "expiry");
	check(acquire(&b, held, -1) == DLOCK_OK, "held");
	p.mode = PROXY_CUT;
	check(becomes(held, DLOCK_CLAIM_UNCERTAIN), "disconnected: uncertain");
	p.mode = PROXY_PASS;
	check(becomes(held, DLOCK_CLAIM_HELD), "reconnected: held");
	p.mode = PROXY_HOLD;
	check(becomes(held, DLOCK_CLAIM_LOST), "nothing heard: lost");
	check(acquire(&other, waiter, 0) == DLOCK_TIMEOUT, "the server still knew it: never optimistic");
	check(acquire(&other, waiter, 10000) == DLOCK_OK, "the next one got it on expiry");
	check(look(held) == DLOCK_CLAIM_LOST, "still lost");
	p.mode = PROXY_PASS;
	check(release(&b, held) == DLOCK_LOST, "release says lost");
	check(children("expiry") == 1, "and takes nobody else's node");
	check(acquire(&b, again, 0) == DLOCK_TIMEOUT, "the pool opens another session");
	check(dlock_zk_pool_sessions_opened(b.pool) == 2, "one more");
	check(release(&other, waiter) == DLOCK_OK, "released");
	check(acquire(&b, again, 5000) == DLOCK_OK && children("expiry") == 1, "and locks in it, without orphans");
	check(release(&b, again) == DLOCK_OK, "released");
	bench_free(&b);
	bench_free(&other);
	proxy_stop(&p);
}

static void test_silence_in_line(void)
{
	proxy p;
	bench b, other = bench_new();

	proxied(&p, &b);
	dlock_claim *held = claim_on(&other, "silence"), *waiter = claim_on(&b, "silence");
	dlock_claim *warm = claim_on(&b, "warm");
	acquire(&other, held, -1);
	check(acquire(&b, warm, -1) == DLOCK_OK && release(&b, warm) == DLOCK_OK, "warm");
	p.mode = PROXY_HOLD;
	dlock_nanos start = dlock_now();
	dlock_status status = acquire(&b, waiter, 100);
	check((status == DLOCK_CONNECTION || status == DLOCK_TIMEOUT) && dlock_now() - start < 4 * TIMEOUT,
		"a server that hangs is given up");
	p.mode = PROXY_PASS;
	check(settles_at("silence", 1), "and nothing is left");
	start = dlock_now();
	int before = p.requests;
	check(acquire(&b, waiter, 3000) == DLOCK_TIMEOUT, "waits in line");
	check(p.requests - before < 30, "quietly (%d requests in 3 s, at 1 s of session timeout)", p.requests - before);
	release(&other, held);
	dlock_claim_free(waiter);
	bench_free(&b);
	bench_free(&other);
	proxy_stop(&p);
}

static void test_stopped(void)
{
	int line[2], order[2];
	char state = 0, go = 'g';

	check(pipe(line) == 0 && pipe(order) == 0, "pipes");
	pid_t pid = calm_fork();
	if (pid == 0) {
		bench b = bench_new();
		dlock_claim *claim = claim_on(&b, "stopped");
		char is = (char) ('0' + acquire(&b, claim, -1));
		if (write(line[1], &is, 1) != 1 || read(order[0], &is, 1) != 1) {
			_exit(1);
		}
		is = (char) ('0' + look(claim)); /* the very first thing after the stop */
		_exit(write(line[1], &is, 1) != 1);
	}
	check(read(line[0], &state, 1) == 1 && state == '0' + DLOCK_OK, "a child holds the lock");
	kill(pid, SIGSTOP);
	check(settles_at("stopped", 0), "stopped until its session expired");
	check(write(order[1], &go, 1) == 1, "asked");
	kill(pid, SIGCONT);
	check(read(line[0], &state, 1) == 1 && state == '0' + DLOCK_CLAIM_LOST, "it knows at its first look");
	check(status_of(pid) == 0, "ended well");
	close(line[0]), close(line[1]), close(order[0]), close(order[1]);
}

/* The process is busy, but its session must be kept alive meanwhile. Machines that are busy themselves stand still for most
 * of a second: a session of one second would be lost rightly. */
static void test_busy(void)
{
	dlock_nanos usual = session_timeout;
	session_timeout = 4 * DLOCK_SECOND;
	bench b = bench_new();
	dlock_claim *claim = claim_on(&b, "busy");
	int other = 0;

	acquire(&b, claim, -1);
	for (dlock_nanos end = dlock_now() + 3 * TIMEOUT; dlock_now() < end;) {
		other += look(claim) != DLOCK_CLAIM_HELD;
	}
	check(other == 0, "held through a busy loop of three session timeouts");
	check(release(&b, claim) == DLOCK_OK, "released");
	bench_free(&b);
	session_timeout = usual;
}

static void test_fork(void)
{
	bench b = bench_new();
	dlock_claim *claim = claim_on(&b, "fork");

	acquire(&b, claim, -1);
	for (int plain = 0; plain < 2; plain++) {
		pid_t pid = calm_fork();
		if (pid == 0) {
			dlock_claim *own = claim_on(&b, "fork-child"), *denied = claim_on(&b, "fork");
			int bad = (look(claim) != DLOCK_CLAIM_LOST) + 2 * (dlock_claim_release(claim, &b.error) != DLOCK_LOST)
				+ 4 * (acquire(&b, own, 5000) != DLOCK_OK) + 8 * (acquire(&b, denied, 0) != DLOCK_TIMEOUT)
				+ 16 * (release(&b, own) != DLOCK_OK);
			dlock_claim_abandon(claim);
			dlock_claim_free(claim);
			dlock_claim_free(denied);
			bench_free(&b);
			plain ? _exit(bad) : exit(bad);
		}
		int bad = status_of(pid);
		check(bad == 0, "a child leaves the lock alone, locks by itself, and ends (%d)", bad);
		sleep_ms(1500);
		check(look(claim) == DLOCK_CLAIM_HELD && dlock_claim_check(claim, &b.error) == DLOCK_OK, "the parent still holds it");
	}
	check(dlock_zk_pool_sessions_opened(b.pool) == 1 && release(&b, claim) == DLOCK_OK, "in the same session");
	bench_free(&b);
}

static void test_names(void)
{
	char longest[1024];
	const char *names[] = { "a/b", "..", ".", "...", "zookeeper", "\xc3\xa9t\xc3\xa9", "a%2Fb", " ", "%", "x\x01\x7f", longest };
	bench b = bench_new(), bare = bench_at(server, "/", NULL);
	int bad = 0;

	memset(longest, 0xfe, sizeof longest - 1);
	longest[sizeof longest - 1] = '\0';
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		dlock_claim *claim = claim_on(&b, names[i]), *second = claim_on(&b, names[i]);
		bad += acquire(&b, claim, 0) != DLOCK_OK || acquire(&b, second, 0) != DLOCK_TIMEOUT;
		bad += release(&b, claim) != DLOCK_OK;
		dlock_claim_free(second);
	}
	check(bad == 0, "odd names");
	dlock_claim *claim = claim_on(&bare, "zookeeper");
	check(acquire(&bare, claim, 0) == DLOCK_OK && release(&bare, claim) == DLOCK_OK, "\"zookeeper\" at the top");
	zoo_delete(observer, "/%7Aookeeper", -1);
	bench_free(&b);
	bench_free(&bare);
}

static void test_auth(void)
{
	bench a = bench_at(server, root, "digest:ann:secret"), a2 = bench_at(server, root, "digest:ann:secret");
	bench z = bench_at(server, root, "digest:zoe:other"), b = bench_new();
	dlock_claim *claim = claim_on(&a, "auth"), *same = claim_on(&a2, "auth"), *other = claim_on(&z, "auth");

	check(acquire(&a, claim, -1) == DLOCK_OK, "locks with credentials");
	check(acquire(&a2, same, 0) == DLOCK_TIMEOUT, "another process of the same user stands in line");
	check(acquire(&z, other, 0) == DLOCK_CONNECTION && strstr(z.error.message, "no right"), "another user is told");
	check(!strstr(z.error.message, "other"), "without the password");
	check(children("auth") == -1, "an unknown one sees nothing");
	check(release(&a, claim) == DLOCK_OK && acquire(&a2, same, 0) == DLOCK_OK, "handed over");
	release(&a2, same);
	dlock_claim_free(other);
	/* Below an open node users may meet, who cannot read each other's nodes. */
	dlock_claim *open = claim_on(&b, "open");
	acquire(&b, open, -1);
	claim = claim_on(&a, "open");
	dlock_wait wait = { .deadline = dlock_now() + 200 * DLOCK_MS };
	check(dlock_claim_acquire(claim, &wait, &a.error) == DLOCK_TIMEOUT, "waits behind an open node");
	release(&b, open);
	check(acquire(&a, claim, 1000) == DLOCK_OK, "locks");
	other = claim_on(&z, "open");
	check(acquire(&z, other, 300) == DLOCK_TIMEOUT, "waits behind a node that it may not read");
	check(settles_at("open", 1), "and leaves");
	pid_t pid = calm_fork();
	if (pid == 0) {
		bench own = bench_at(server, root, "digest:zoe:other");
		dlock_claim *waiter = claim_on(&own, "open");
		bool good = acquire(&own, waiter, 10000) == DLOCK_OK && release(&own, waiter) == DLOCK_OK;
		bench_free(&own);
		_exit(!good);
	}
	check(settles_at("open", 2), "another waits");
	check(release(&a, claim) == DLOCK_OK, "released");
	int bad = status_of(pid);
	check(bad == 0, "and is woken when it goes (%d)", bad);
	dlock_claim_free(other);
	bench_free(&a), bench_free(&a2), bench_free(&z), bench_free(&b);
}

static void test_chroot(void)
{
	char hosts[128];

	snprintf(hosts, sizeof hosts, "%s%s/deep/er", server, root);
	bench b = bench_at(hosts, "/locks/mine", NULL), top = bench_at(hosts, "/", NULL);
	dlock_claim *claim = claim_on(&b, "c"), *second = claim_on(&top, "c");
	check(acquire(&b, claim, -1) == DLOCK_OK, "a chroot that did not exist");
	check(children("deep/er/locks/mine/c") == 1, "is where it should be");
	pid_t pid = calm_fork();
	if (pid == 0) {
		bench own = bench_at(hosts, "/locks/mine", NULL);
		dlock_claim *waiter = claim_on(&own, "c");
		bool good = acquire(&own, waiter, 10000) == DLOCK_OK && release(&own, waiter) == DLOCK_OK;
		bench_free(&own);
		_exit(!good);
	}
	settles_at("deep/er/locks/mine/c", 2);
	check(release(&b, claim) == DLOCK_OK, "released");
	check(status_of(pid) == 0, "watches work below a chroot");
	check(acquire(&top, second, 0) == DLOCK_OK && release(&top, second) == DLOCK_OK, "the root may be the chroot itself");
	bench_free(&b);
	bench_free(&top);
}

static void test_container(void)
{
	bench b = bench_new();

	for (int i = 0; i < 2; i++) {
		dlock_claim *claim = claim_on(&b, "container");
		check(acquire(&b, claim, -1) == DLOCK_OK && release(&b, claim) == DLOCK_OK, "locked and released");
		check(settles_at("container", -1), "its parent is a container, which the server removes");
	}
	bench_free(&b);
}

static void test_foreign(void)
{
	bench b = bench_new();
	char path[160], made[192];
	dlock_claim *claim = claim_on(&b, "foreign"), *second = claim_on(&b, "foreign");

	acquire(&b, claim, -1);
	snprintf(path, sizeof path, "%s/foreign/lease", root);
	zoo_create(observer, path, "", 0, &ZOO_OPEN_ACL_UNSAFE, ZOO_EPHEMERAL, NULL, 0);
	snprintf(path, sizeof path, "%s/foreign/ab12__lock__", root);
	check(zoo_create(observer, path, "", 0, &ZOO_OPEN_ACL_UNSAFE, ZOO_EPHEMERAL | ZOO_SEQUENCE, made, sizeof made) == ZOK,
		"kazoo stands behind");
	release(&b, claim);
	check(acquire(&b, second, 0) == DLOCK_TIMEOUT, "and then holds it");
	zoo_delete(observer, made, -1);
	check(acquire(&b, second, 0) == DLOCK_OK, "a node without a number does not count");
	check(release(&b, second) == DLOCK_OK, "released");
	bench_free(&b);
}

static void test_deleted_by_hand(void)
{
	bench b = bench_new();
	struct String_vector names;
	char path[160], node[320];
	dlock_claim *claim = claim_on(&b, "deleted");

	acquire(&b, claim, -1);
	snprintf(path, sizeof path, "%s/deleted", root);
	check(zoo_get_children(observer, path, 0, &names) == ZOK && names.count == 1, "one node");
	snprintf(node, sizeof node, "%s/%s", path, names.data[0]);
	zoo_delete(observer, node, -1);
	deallocate_String_vector(&names);
	check(dlock_claim_check(claim, &b.error) == DLOCK_LOST && look(claim) == DLOCK_CLAIM_LOST, "check tells");
	dlock_claim_free(claim);
	bench_free(&b);
}

static void test_no_server(void)
{
	proxy p;
	bench b;
	char hosts[32];
	int port, fd = proxy_listen(&port);
	bool locked;

	close(fd);
	snprintf(hosts, sizeof hosts, "127.0.0.1:%d", port);
	bench none = bench_at(hosts, root, "digest:u:secret");
	dlock_claim *claim = claim_on(&none, "none");
	dlock_nanos start = dlock_now();
	check(acquire(&none, claim, 0) == DLOCK_CONNECTION && strstr(none.error.message, "refused")
		&& strstr(none.error.message, hosts) && !strstr(none.error.message, "secret"), "nobody listens");
	check(dlock_now() - start < 5 * TIMEOUT, "within bounds");
	check(none.engine->ops->locked(none.engine, "none", 4, &locked, &none.error) == DLOCK_CONNECTION, "locked() says so too");
	dlock_claim_free(claim);
	bench_free(&none);
	proxied(&p, &b);
	p.mode = PROXY_CUT;
	claim = claim_on(&b, "none");
	check(acquire(&b, claim, -1) == DLOCK_CONNECTION && strstr(b.error.message, "maxClientCnxns"), "closed at once: hint");
	p.mode = PROXY_PASS;
	check(acquire(&b, claim, -1) == DLOCK_OK && dlock_zk_pool_sessions_opened(b.pool) == 1, "comes back by itself");
	check(release(&b, claim) == DLOCK_OK, "released");
	bench_free(&b);
	proxy_stop(&p);
	bench lost = bench_at("no.such.host.invalid:2181", root, NULL);
	claim = claim_on(&lost, "none");
	check(acquire(&lost, claim, 0) == DLOCK_CONNECTION && strstr(lost.error.message, "no.such.host"), "no such host");
	dlock_claim_free(claim);
	bench_free(&lost);
}

static void test_flapping(void)
{
	proxy p;
	bench b;
	int bad = 0;

	proxied(&p, &b);
	for (int i = 0; i < 40; i++) {
		dlock_claim *claim = claim_on(&b, "flapping");
		p.op = i % 2 ? OP_CREATE2 : OP_DELETE;
		p.mode = i % 3 ? PROXY_LOSE_REPLY : PROXY_LOSE;
		dlock_status status = acquire(&b, claim, i % 5 ? 5000 : 0);
		bad += status != DLOCK_OK || release(&b, claim) != DLOCK_OK;
		if (status != DLOCK_OK) {
			dlock_claim_free(claim);
		}
	}
	check(bad == 0, "a connection that breaks in every section (%d)", bad);
	dlock_zk_pool_drain(b.pool, dlock_now() + 5 * DLOCK_SECOND);
	check(settles_at("flapping", 0), "no node is left");
	bench_free(&b);
	proxy_stop(&p);
}

#if defined(__SANITIZE_ADDRESS__)
/* In a child of fork() the buffers of the library's threads have no owner any more. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
	return "leak:libzookeeper_mt";
}
#endif

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} tests[] = {
		{ "contention", test_contention }, { "basic", test_basic }, { "order", test_order }, { "timeout", test_timeout },
		{ "interruption", test_interruption }, { "lost", test_lost_replies }, { "odd", test_odd_answers }, { "expiry", test_expiry },
		{ "silence", test_silence_in_line }, { "stopped", test_stopped }, { "busy", test_busy }, { "fork", test_fork },
		{ "names", test_names }, { "auth", test_auth }, { "chroot", test_chroot }, { "container", test_container },
		{ "foreign", test_foreign }, { "deleted", test_deleted_by_hand }, { "no-server", test_no_server },
		{ "flapping", test_flapping },
	};

	if (argc < 2 || !strchr(argv[1], ':')) {
		fputs("usage: zk_engine_test 127.0.0.1:PORT [test]\n", stderr);
		return 2;
	}
	signal(SIGPIPE, SIG_IGN);
	dlock_process_init();
	server = argv[1];
	server_port = atoi(strchr(server, ':') + 1);
	snprintf(root, sizeof root, "/dlock-test-%d", (int) getpid());
	for (size_t i = 0; i < sizeof tests / sizeof *tests; i++) {
		if (argc > 2 && strcmp(argv[2], tests[i].name) != 0) {
			continue;
		}
		printf("# %s\n", tests[i].name);
		fflush(stdout);
		observer = zookeeper_init2(server, NULL, 4000, NULL, NULL, 0, ignore_log);
		tests[i].run();
		zookeeper_close(observer);
	}
	printf("1..%d\n", count);
	return failures != 0;
}
