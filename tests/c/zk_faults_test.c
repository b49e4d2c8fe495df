/* The ZooKeeper back end on a real server, over connections that fail, and with stopped processes:
 * zk_faults_test HOST:PORT [word in the names of the tests to run]. Prints TAP. Best with a short tick (200 ms). */

#include <dlfcn.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/time.h>
#include <unistd.h>

#include "../../src/zookeeper/lock/claim.h"
#include "../../src/zookeeper/session/path.h"
#include "helpers.h"
#include "tap.h"
#include "zk_client.h"
#include "zk_proxy.h"

/* A client that waits for so long for connections and answers. The server grants it a session of this timeout. */
static void proxied_for(proxy *p, client *c, int asked_s, int granted_s)
{
	static char hosts[32];
	dlock_nanos usual = zk_session_timeout;

	proxy_start(p, zk_port);
	p->session_ms = granted_s * 1000;
	snprintf(hosts, sizeof hosts, "127.0.0.1:%d", p->port);
	zk_session_timeout = asked_s * DLOCK_SECOND;
	*c = client_at(hosts, zk_root, NULL);
	zk_session_timeout = usual;
}

static void proxied(proxy *p, client *c)
{
	proxied_for(p, c, 30, 30);
}

static void test_lost_replies(void)
{
	proxy p;
	client c;

	proxied(&p, &c);
	dlock_claim *claim = claim_on(&c, "lost");
	check(acquire(&c, claim, -1) == DLOCK_OK && release(&c, claim) == DLOCK_OK, "warm");
	p.op = OP_CREATE2;
	for (int i = 0; i < 2; i++) {
		proxy_mode mode = i ? PROXY_LOSE : PROXY_LOSE_REPLY;
		claim = claim_on(&c, "lost");
		char token[sizeof claim->token];
		memcpy(token, claim->token, sizeof token);
		int64_t made = made_at("lost");
		p.mode = mode;
		check(acquire(&c, claim, 30000) == DLOCK_OK, "acquired although the %s was lost", i ? "create" : "reply");
		check(p.cuts == i + 1 && p.mode == PROXY_PASS, "the proxy cut the connection (%d)", p.cuts);
		check(children("lost") == 1, "one node");
		check(
			i || strcmp(token, claim->token) == 0 || made != made_at("lost"), "the client found the node by its guid");
		check(release(&c, claim) == DLOCK_OK && settles_at("lost", 0), "released");
	}
	claim = claim_on(&c, "lost");
	acquire(&c, claim, -1);
	p.op = OP_DELETE;
	p.mode = PROXY_LOSE_REPLY;
	check(release(&c, claim) == DLOCK_OK, "released although the reply was lost");
	claim = claim_on(&c, "lost");
	acquire(&c, claim, -1);
	p.mode = PROXY_LOSE;
	dlock_claim_abandon(claim);
	dlock_claim_free(claim);
	dlock_zk_pool_drain(c.pool, dlock_now() + 30 * DLOCK_SECOND);
	check(p.mode == PROXY_PASS && settles_at("lost", 0),
		"an abandoned node is deleted in the background although the delete was lost");
	/* The creation is executed and its reply lost. The waiter abandons the claim before it learns of the node. */
	claim = claim_on(&c, "lost");
	dlock_wait wait = { .deadline = dlock_now() + 30 * DLOCK_SECOND, .interrupted = interrupted };
	p.op = OP_CREATE2;
	p.mode = PROXY_LOSE_REPLY;
	interrupt_now();
	check(dlock_claim_acquire(claim, &wait, &c.error) == DLOCK_INTERRUPTED, "a signal interrupts the wait at once");
	dlock_claim_abandon(claim);
	dlock_claim_free(claim);
	interrupt_clear();
	dlock_zk_pool_drain(c.pool, dlock_now() + 30 * DLOCK_SECOND);
	check(p.mode == PROXY_PASS && settles_at("lost", 0), "the abandoned claim leaves no node (%d, %d)", p.mode,
		children("lost"));
	check(dlock_zk_pool_sessions_opened(c.pool) == 1, "all of this uses one session");
	client_free(&c);
	proxy_stop(&p);
}

static struct {
	proxy *proxy;
	dlock_zk_session *session;
	char parent[128], node[192];
	atomic_int lists;
} between;

/* Waits until the library has lost the connection, and with it the sync, if that was not answered before. */
static void break_connection(void)
{
	int before = between.proxy->cuts;
	bool waits = true;

	between.proxy->mode = PROXY_CUT;
	while (waits) {
		usleep(1000);
		waits = between.proxy->cuts == before;
		pthread_mutex_lock(&between.session->mutex);
		for (const dlock_zk_op *op = between.session->ops; op; op = op->next) {
			waits |= !op->then; /* the list and the probe have one */
		}
		pthread_mutex_unlock(&between.session->mutex);
	}
	between.proxy->mode = PROXY_PASS;
}

/* Stands before the library's function. The connection breaks before the first list of the parent. Another server has
 * executed the creation by the second one. */
int zoo_aget_children(zhandle_t *handle, const char *path, int watch, strings_completion_t done, const void *data)
{
	int (*ask)(zhandle_t *, const char *, int, strings_completion_t, const void *) = dlsym(RTLD_NEXT, __func__);

	if (strcmp(path, between.parent) == 0) {
		if (between.lists == 0) {
			break_connection();
		} else if (between.lists == 1) {
			zoo_create(zk_observer, between.node, "", 0, &ZOO_OPEN_ACL_UNSAFE, 0, NULL, 0);
		}
		between.lists++;
	}
	return ask(handle, path, watch, done, data);
}

static bool is_listed_twice(void *unused)
{
	(void) unused;
	return between.lists >= 2;
}

/* A node without an owner may be created late, by a server that the client knew before its connection broke. A list
 * tells only behind a sync that was answered. */
static void test_lost_sync(void)
{
	proxy p;
	client c;
	char guid[DLOCK_TOKEN_LEN + 1];

	proxied(&p, &c);
	dlock_claim *claim = claim_on(&c, "warm");
	check(acquire(&c, claim, -1) == DLOCK_OK, "warm");
	snprintf(between.parent, sizeof between.parent, "%s/behind", zk_root);
	check(zoo_create(zk_observer, between.parent, "", 0, &ZOO_OPEN_ACL_UNSAFE, 0, NULL, 0) == ZOK, "a resource");
	check(dlock_token(guid), "a guid");
	char *node = dlock_zk_node_path(between.parent, guid, "lock-");
	snprintf(between.node, sizeof between.node, "%s0000000001", node);
	free(node);
	between.proxy = &p;
	between.session = ((dlock_zk_claim *) claim)->session;
	dlock_zk_discard_node(between.session, between.parent, guid);
	check(eventually(is_listed_twice, NULL), "the sync is lost: after the reconnection, the client asks again");
	dlock_zk_pool_drain(c.pool, dlock_now() + 30 * DLOCK_SECOND);
	check(settles_at("behind", 0), "it deletes the node that was created late");
	dlock_claim_free(claim);
	client_free(&c);
	proxy_stop(&p);
}

static bool has_nodes(int number)
{
	return settles_at("p", number) && settles_at("q", number) && settles_at("r", number);
}

/* The same for several locks. One transaction creates their nodes, and one deletes them. */
static void test_lost_replies_of_several(void)
{
	proxy p;
	client c;

	proxied(&p, &c);
	dlock_claim *claim = claim_on_several(&c, "pqr");
	check(acquire(&c, claim, -1) == DLOCK_OK && release(&c, claim) == DLOCK_OK, "warm");
	p.op = OP_MULTI;
	for (int i = 0; i < 2; i++) {
		proxy_mode mode = i ? PROXY_LOSE : PROXY_LOSE_REPLY;
		claim = claim_on_several(&c, "pqr");
		char token[sizeof claim->token];
		memcpy(token, claim->token, sizeof token);
		int64_t made[] = { made_at("p"), made_at("q"), made_at("r") };
		p.mode = mode;
		check(acquire(&c, claim, 30000) == DLOCK_OK, "acquired although the %s was lost", i ? "creation" : "reply");
		check(p.cuts == 2 * i + 1 && p.mode == PROXY_PASS, "the proxy cut the connection (%d)", p.cuts);
		check(has_nodes(1) && claim->fencing_token > 0, "each resource has one node");
		check(i || strcmp(token, claim->token) == 0 || made[0] != made_at("p") || made[1] != made_at("q")
				|| made[2] != made_at("r"),
			"the client found the nodes by their guid");
		p.mode = mode;
		check(release(&c, claim) == DLOCK_OK && has_nodes(0), "released although that was lost, too");
	}
	claim = claim_on_several(&c, "pqr");
	dlock_wait wait = { .deadline = dlock_now() + 30 * DLOCK_SECOND, .interrupted = interrupted };
	p.mode = PROXY_LOSE_REPLY;
	interrupt_now();
	check(dlock_claim_acquire(claim, &wait, &c.error) == DLOCK_INTERRUPTED, "a signal interrupts the wait at once");
	dlock_claim_abandon(claim);
	dlock_claim_free(claim);
	interrupt_clear();
	dlock_zk_pool_drain(c.pool, dlock_now() + 30 * DLOCK_SECOND);
	check(p.mode == PROXY_PASS && has_nodes(0), "the abandoned claim leaves no node");
	check(dlock_zk_pool_sessions_opened(c.pool) == 1, "all of this uses one session");
	client_free(&c);
	proxy_stop(&p);
}

/* One node of several is deleted by hand. The rest does not count as the whole claim. */
static void test_part_of_several(void)
{
	proxy p;
	client c;

	proxied(&p, &c);
	dlock_claim *claim = claim_on_several(&c, "pqr");
	check(acquire(&c, claim, -1) == DLOCK_OK, "acquired");
	dlock_zk_claim *own = (dlock_zk_claim *) claim;
	check(zoo_delete(zk_observer, own->parts[1].node, -1) == ZOK, "a part is deleted");
	p.op = OP_MULTI;
	p.mode = PROXY_LOSE_REPLY;
	dlock_status status = release(&c, claim);
	check(status == DLOCK_OK || status == DLOCK_LOST, "the reply to the release is lost (%d)", status);
	check(has_nodes(0), "no node is left");

	claim = claim_on_several(&c, "pqr");
	check(acquire(&c, claim, -1) == DLOCK_OK, "acquired");
	own = (dlock_zk_claim *) claim;
	check(zoo_delete(zk_observer, own->parts[2].node, -1) == ZOK, "a part is deleted");
	probe_now(claim);
	check(eventually_in_state(claim, DLOCK_CLAIM_LOST), "the claim is lost");
	check(has_nodes(0) && release(&c, claim) == DLOCK_LOST, "the other nodes are deleted");
	client_free(&c);
	proxy_stop(&p);
}

static bool is_gone(void *node)
{
	return dlock_zk_own_node_is_gone(node);
}

/* The session's thread finds a node gone before the client has handed it the other ones. */
static void test_part_of_several_at_once(void)
{
	client c = client_new();
	dlock_claim *claim = claim_on_several(&c, "pqr");

	check(acquire(&c, claim, -1) == DLOCK_OK, "acquired");
	dlock_zk_claim *own = (dlock_zk_claim *) claim;
	for (int i = 1; i < 3; i++) {
		dlock_zk_own_node_remove(own->parts[i].held);
		own->parts[i].held = NULL;
	}
	check(zoo_delete(zk_observer, own->parts[0].node, -1) == ZOK, "a part is deleted");
	probe_now(claim);
	check(eventually(is_gone, own->parts[0].held), "the thread finds it gone");
	for (int i = 1; i < 3; i++) {
		own->parts[i].held = dlock_zk_own_node_add(own->session, own->parts[i].node, claim);
	}
	check(look(claim) == DLOCK_CLAIM_LOST && has_nodes(0), "the claim is lost, and the client deletes the other nodes");
	check(release(&c, claim) == DLOCK_LOST, "a release reports the loss");
	client_free(&c);
}

/* The created node does not have the requested name, or has no valid number. */
static void test_odd_responses(void)
{
	static const struct {
		const char *word;
		size_t offset;
		unsigned char byte;
		const char *text;
	} responses[] = {
		{ "/dlock-test-", 0, '\0', "no path" },
		{ "/dlock-test-", 1, '\0', "a shorter path" },
		{ "/dlock-test-", 1, 'x', "another parent" },
		{ "/_c_", 0, 'x', "no node below the parent" },
		{ "/_c_", 1, '\0', "a node without a name" },
		{ "/_c_", 4, 'x', "another guid" },
		{ "-lock-", 15, 'x', "no number" },
		{ "-lock-", 6, '\0', "a number that is missing" },
		{ "-lock-", 16, 0x80, "a negative czxid" },
	};
	proxy p;
	client c;

	proxied(&p, &c);
	dlock_claim *claim = claim_on(&c, "warm");
	check(acquire(&c, claim, -1) == DLOCK_OK && release(&c, claim) == DLOCK_OK, "warm");
	/* Not a container, because the server may remove that. Then the proxy would alter the response to its creation. */
	char parent[256];
	snprintf(parent, sizeof parent, "%s/odd", zk_root);
	check(zoo_create(zk_observer, parent, "", 0, &ZOO_OPEN_ACL_UNSAFE, 0, NULL, 0) == ZOK, "a parent that stays");
	for (size_t i = 0; i < sizeof responses / sizeof *responses; i++) {
		p.word = responses[i].word;
		p.offset = responses[i].offset;
		p.byte = responses[i].byte;
		p.mode = PROXY_ALTER;
		claim = claim_on(&c, "odd");
		check(acquire(&c, claim, 60000) == DLOCK_CONNECTION && strstr(c.error.message, "unexpected form"), "%s: %s",
			responses[i].text, c.error.message);
		check(p.mode == PROXY_PASS && look(claim) != DLOCK_CLAIM_HELD, "the response was altered, and does not count");
		dlock_claim_free(claim);
		check(settles_at("odd", 0), "the client finds the node by its guid, and deletes it");
	}
	client_free(&c);
	proxy_stop(&p);
}

static void test_disconnection(void)
{
	proxy p;
	client c;

	proxied(&p, &c);
	dlock_claim *held = claim_on(&c, "disconnection");
	check(acquire(&c, held, -1) == DLOCK_OK, "held");
	p.mode = PROXY_CUT;
	check(eventually_in_state(held, DLOCK_CLAIM_UNCERTAIN), "disconnected: uncertain");
	p.mode = PROXY_PASS;
	check(eventually_in_state(held, DLOCK_CLAIM_HELD), "reconnected: held");
	check(release(&c, held) == DLOCK_OK, "released");
	client_free(&c);
	proxy_stop(&p);
}

/* Acquires the resource in a short session, and holds all that comes from the server back. */
static dlock_claim *begin_silence(proxy *p, client *c, const char *name)
{
	dlock_claim *claim = NULL;
	bool held = false;

	for (int i = 0; i < 10 && !held; i++) { /* the session may be over at once */
		p->mode = PROXY_PASS;
		if (claim) {
			release(c, claim);
		}
		claim = claim_on(c, name);
		acquire(c, claim, -1);
		p->mode = PROXY_HOLD;
		held = look(claim) == DLOCK_CLAIM_HELD;
	}
	check(held, "held");
	return claim;
}

static void test_expiry(void)
{
	proxy p;
	client c, other = client_new();

	proxied_for(&p, &c, 30, 4);
	dlock_claim *held = begin_silence(&p, &c, "expiry"), *waiter = claim_on(&other, "expiry"),
				*again = claim_on(&c, "expiry");
	dlock_nanos until = held->deadline;
	unsigned long opened = dlock_zk_pool_sessions_opened(c.pool);
	check(acquire(&other, waiter, 60000) == DLOCK_OK, "the next waiter acquires it when the session expires");
	check(dlock_now() > until, "the first holder did not rely on it any more");
	check(eventually_in_state(held, DLOCK_CLAIM_LOST), "without an answer it is lost");
	p.session_ms = 30000;
	p.mode = PROXY_PASS;
	check(look(held) == DLOCK_CLAIM_LOST && release(&c, held) == DLOCK_LOST, "a release reports the loss");
	check(children("expiry") == 1, "it deletes no other client's node");
	check(acquire(&c, again, 1000) == DLOCK_TIMEOUT, "another client holds it");
	check(dlock_zk_pool_sessions_opened(c.pool) == opened + 1, "the pool opened one more session");
	check(release(&other, waiter) == DLOCK_OK, "released");
	check(acquire(&c, again, 60000) == DLOCK_OK && children("expiry") == 1,
		"the client acquires a lock in it, without unowned nodes");
	check(release(&c, again) == DLOCK_OK, "released");
	client_free(&c);
	client_free(&other);
	proxy_stop(&p);
}

static void test_silence_in_queue(void)
{
	proxy p;
	client c, other = client_new();

	proxied_for(&p, &c, 4, 30);
	dlock_claim *held = claim_on(&other, "silence"), *waiter = claim_on(&c, "silence");
	acquire(&other, held, -1);
	check(passes(&c, "warm", -1), "warm");
	p.mode = PROXY_HOLD;
	dlock_nanos start = dlock_now();
	dlock_status status = acquire(&c, waiter, 100);
	check((status == DLOCK_CONNECTION || status == DLOCK_TIMEOUT) && dlock_now() - start < SOON,
		"the attempt leaves a server that hangs");
	p.mode = PROXY_PASS;
	check(settles_at("silence", 1), "the attempt leaves no node");
	int before, tries = 0;
	do { /* a server that stands still does not answer in time */
		before = p.requests;
		status = acquire(&c, waiter, 3000);
	} while (status == DLOCK_CONNECTION && tries++ < 10);
	check(status == DLOCK_TIMEOUT, "the claim waits in the queue");
	check(p.requests - before < 30, "it sends few requests (%d in 3 s)", p.requests - before);
	release(&other, held);
	dlock_claim_free(waiter);
	client_free(&c);
	client_free(&other);
	proxy_stop(&p);
}

static void test_stopped(void)
{
	int line[2], order[2];
	char state = 0, go = 'g';
	dlock_nanos usual = zk_session_timeout;

	zk_session_timeout = 2 * DLOCK_SECOND;
	check(pipe(line) == 0 && pipe(order) == 0, "pipes");
	pid_t pid = fork_calmly();
	if (pid == 0) {
		client c = client_new();
		dlock_claim *claim = claim_on(&c, "stopped");
		char is = (char) ('0' + acquire(&c, claim, -1));
		if (write(line[1], &is, 1) != 1 || read(order[0], &is, 1) != 1) {
			_exit(1);
		}
		is = (char) ('0' + look(claim)); /* the first call after the stop */
		_exit(write(line[1], &is, 1) != 1);
	}
	check(read(line[0], &state, 1) == 1 && state == '0' + DLOCK_OK, "a child holds the lock");
	kill(pid, SIGSTOP);
	check(settles_at("stopped", 0), "it is stopped until its session expires");
	check(write(order[1], &go, 1) == 1, "the parent asks for its state");
	kill(pid, SIGCONT);
	check(read(line[0], &state, 1) == 1 && state == '0' + DLOCK_CLAIM_LOST, "it knows the loss at its first look");
	check(exit_of(pid) == 0, "the child ends without an error");
	close(line[0]), close(line[1]), close(order[0]), close(order[1]);
	zk_session_timeout = usual;
}

/* The process is busy, but its session must stay alive. The server and the process may stand still for seconds. */
static void test_busy(void)
{
	dlock_nanos usual = zk_session_timeout;
	zk_session_timeout = 20 * DLOCK_SECOND;
	client c = client_new();
	dlock_claim *claim = claim_on(&c, "busy");
	int other = 0;

	acquire(&c, claim, -1);
	for (dlock_nanos end = dlock_now() + zk_session_timeout + 3 * DLOCK_SECOND; dlock_now() < end; usleep(1000)) {
		other += look(claim) != DLOCK_CLAIM_HELD;
	}
	check(other == 0, "held for longer than the session timeout");
	check(release(&c, claim) == DLOCK_OK, "released");
	client_free(&c);
	zk_session_timeout = usual;
}

static bool is_holding(void *proxied)
{
	return ((proxy *) proxied)->mode == PROXY_HOLD;
}

/* Probes that reach the server together prove the life of the session only once: see session.h. */
static void test_late_answer(void)
{
	enum { TIMEOUT = 4 };
	proxy p;
	client c;
	const dlock_nanos pause = TIMEOUT * DLOCK_SECOND / 4;

	proxied(&p, &c);
	dlock_claim *claim = claim_on(&c, "late");
	p.op = OP_SYNC;
	check(acquire(&c, claim, -1) == DLOCK_OK, "held");
	/* The client probes as in a short session. The library and the server do not end the long one. */
	dlock_zk_session *session = ((dlock_zk_claim *) claim)->session;
	pthread_mutex_lock(&session->mutex);
	session->timeout = TIMEOUT * DLOCK_SECOND;
	pthread_mutex_unlock(&session->mutex);
	p.mode = PROXY_HOLD_AFTER;
	probe_now(claim);
	check(eventually(is_holding, &p), "a probe reaches the server");
	for (dlock_nanos end = dlock_now() + pause; dlock_now() < end; usleep(1000)) {
	}
	dlock_nanos answered = dlock_now(); /* or later */
	p.mode = PROXY_HOLD_AFTER;
	check(eventually(is_holding, &p) && p.cuts == 0, "its answer is late, and the next probe follows");
	check(dlock_now() - answered >= pause, "a quarter of the session timeout lies between the two");
	p.mode = PROXY_PASS;
	check(eventually_in_state(claim, DLOCK_CLAIM_HELD) && release(&c, claim) == DLOCK_OK, "released");
	client_free(&c);
	proxy_stop(&p);
}

/* Is there an error with the hint? The reason is looked for while calls wait, and a later call has it at the latest. */
static bool has_hint(void *context)
{
	client *c = context;
	dlock_claim *claim = claim_on(c, "hint");
	bool hinted = acquire(c, claim, 0) == DLOCK_CONNECTION && strstr(c->error.message, "maxClientCnxns");

	dlock_claim_free(claim);
	return hinted;
}

static void test_no_server(void)
{
	proxy p;
	client c;
	char hosts[32];
	int port, fd = listen_anywhere(&port, 16);
	bool locked;

	close(fd);
	snprintf(hosts, sizeof hosts, "127.0.0.1:%d", port);
	dlock_nanos usual = zk_session_timeout;
	zk_session_timeout = 2 * DLOCK_SECOND;
	client none = client_at(hosts, zk_root, "digest:u:secret");
	zk_session_timeout = usual;
	dlock_claim *claim = claim_on(&none, "none");
	dlock_nanos start = dlock_now();
	check(acquire(&none, claim, 0) == DLOCK_CONNECTION && strstr(none.error.message, "refused")
			&& strstr(none.error.message, hosts) && !strstr(none.error.message, "secret"),
		"no server listens");
	check(dlock_now() - start < SOON, "the error comes in time");
	check(none.backend->ops->locked(none.backend, "none", 4, &locked, &none.error) == DLOCK_CONNECTION,
		"locked() fails, too");
	dlock_claim_free(claim);
	client_free(&none);
	proxied_for(&p, &c, 2, 30);
	p.mode = PROXY_CUT;
	claim = claim_on(&c, "none");
	check(acquire(&c, claim, -1) == DLOCK_CONNECTION && eventually(has_hint, &c),
		"if connections are closed at once, the error has a hint");
	p.mode = PROXY_PASS;
	check(passes(&c, "none", -1) && dlock_zk_pool_sessions_opened(c.pool) == 1, "the session recovers by itself");
	dlock_claim_free(claim);
	client_free(&c);
	proxy_stop(&p);
	client lost = client_at("no.such.host.invalid:2181", zk_root, NULL);
	claim = claim_on(&lost, "none");
	check(acquire(&lost, claim, 0) == DLOCK_CONNECTION && strstr(lost.error.message, "no.such.host"),
		"a host that does not exist");
	dlock_claim_free(claim);
	client_free(&lost);
}

/* The client relies on a session that is far shorter than the requested one. */
static void test_release_without_server(void)
{
	proxy p;
	client c;

	proxied_for(&p, &c, 60, 30);
	dlock_claim *claim = claim_on(&c, "unreleased");
	check(acquire(&c, claim, -1) == DLOCK_OK, "held");
	p.mode = PROXY_CUT;
	check(eventually_in_state(claim, DLOCK_CLAIM_UNCERTAIN), "disconnected");
	dlock_zk_session *session = ((dlock_zk_claim *) claim)->session;
	pthread_mutex_lock(&session->mutex);
	session->timeout = dlock_now() - session->lived + 5 * DLOCK_SECOND;
	dlock_nanos deadline = dlock_zk_session_deadline(session);
	pthread_mutex_unlock(&session->mutex);
	check(release(&c, claim) == DLOCK_CONNECTION && dlock_now() >= deadline, "the release waits for a connection");
	check(dlock_now() < deadline + 20 * DLOCK_SECOND, "only while the lock is held (%lld ms longer)",
		(long long) ((dlock_now() - deadline) / DLOCK_MS));
	p.mode = PROXY_PASS;
	check(settles_at("unreleased", 0), "the node is deleted later");
	client_free(&c);
	proxy_stop(&p);
}

static void test_flapping(void)
{
	proxy p;
	client c;
	int bad = 0;

	proxied(&p, &c);
	for (int i = 0; i < 30; i++) { /* all combinations of what follows */
		dlock_claim *claim = claim_on(&c, "flapping");
		p.op = i % 2 ? OP_CREATE2 : OP_DELETE;
		p.mode = i % 3 ? PROXY_LOSE_REPLY : PROXY_LOSE;
		dlock_status status = acquire(&c, claim, i % 5 ? 60000 : 0);
		bad += status != DLOCK_OK || release(&c, claim) != DLOCK_OK;
		if (status != DLOCK_OK) {
			dlock_claim_free(claim);
		}
	}
	check(bad == 0, "all sections succeed although a connection breaks in each (%d)", bad);
	dlock_zk_pool_drain(c.pool, dlock_now() + 30 * DLOCK_SECOND);
	check(settles_at("flapping", 0), "no node is left");
	client_free(&c);
	proxy_stop(&p);
}

/* Without a response the client does not know whether the lock is free. */
static void test_no_response(void)
{
	proxy p;
	client c;

	proxied_for(&p, &c, 4, 30);
	p.op = OP_CREATE2;
	p.mode = PROXY_LOSE_EACH;
	dlock_claim *claim = claim_on(&c, "unheard");
	dlock_nanos start = dlock_now();
	check(acquire(&c, claim, 0) == DLOCK_CONNECTION
			&& (strstr(c.error.message, "no answer within") || strstr(c.error.message, "no connection for")),
		"connections that break before any response: %s",
		c.error.message); /* the timeout may come with or without a connection */
	check(dlock_now() - start < SOON, "the error comes in time");
	p.mode = PROXY_PASS;
	dlock_claim_free(claim);
	check(passes(&c, "unheard", 60000), "it succeeds when a connection lasts");
	client_free(&c);
	proxy_stop(&p);
}

/* Signals do not extend the wait, however often they interrupt it. */
static void acquire_under_signals(client *c, dlock_claim *claim, dlock_nanos deadline)
{
	struct itimerval often = { { 0, 20000 }, { 0, 20000 } }, never = { { 0, 0 }, { 0, 0 } };
	dlock_wait wait = { .deadline = deadline, .interrupted = interrupted };
	dlock_nanos start = dlock_now();
	dlock_status status;
	int interruptions = 0;

	interrupt_on(SIGALRM);
	setitimer(ITIMER_REAL, &often, NULL);
	while ((status = dlock_claim_acquire(claim, &wait, &c->error)) == DLOCK_INTERRUPTED && dlock_now() - start < SOON) {
		interrupt_clear();
		interruptions++;
	}
	setitimer(ITIMER_REAL, &never, NULL);
	interrupt_clear();
	check(status == DLOCK_CONNECTION && interruptions > 2, "the wait ends in spite of interruptions (%d, %d)", status,
		interruptions);
}

static void test_no_response_to_the_interrupted(void)
{
	proxy p;
	client c;

	proxied_for(&p, &c, 4, 30);
	p.op = OP_CREATE2;
	p.mode = PROXY_LOSE_EACH;
	dlock_claim *claim = claim_on(&c, "interrupted");
	acquire_under_signals(&c, claim, dlock_now());
	dlock_claim_abandon(claim);
	dlock_claim_free(claim);
	client_free(&c);
	proxy_stop(&p);
}

static void test_no_server_for_the_interrupted(void)
{
	proxy p;
	client c;

	proxied_for(&p, &c, 4, 30);
	p.mode = PROXY_CUT;
	dlock_claim *claim = claim_on(&c, "interrupted");
	acquire_under_signals(&c, claim, DLOCK_FOREVER);
	check(eventually(has_hint, &c), "the error says why: %s", c.error.message);
	((dlock_zk_claim *) claim)->left = 1; /* as if a signal had come at the last moment */
	check(acquire(&c, claim, 0) == DLOCK_CONNECTION && strstr(c.error.message, "maxClientCnxns"),
		"the same if the time is over after a signal");
	dlock_claim_abandon(claim);
	dlock_claim_free(claim);
	client_free(&c);
	proxy_stop(&p);
}

/* Lists `count` servers. The live one is at `place`; the others refuse connections. */
static void list_hosts(char *hosts, size_t size, int live, int place, int count)
{
	size_t len = 0;

	for (int i = 0; i < count; i++) {
		int port = live, listener = i == place ? -1 : listen_anywhere(&port, 1);
		len += (size_t) snprintf(hosts + len, size - len, "%s127.0.0.1:%d", i ? "," : "", port);
		if (listener >= 0) {
			close(listener);
		}
	}
}

/* If the number of servers is even, the client library alone never tries half of them again. */
static void test_one_of_several(void)
{
	dlock_nanos usual = zk_session_timeout;

	zk_session_timeout = 10 * DLOCK_SECOND;
	for (int count = 2; count <= 4; count++) {
		for (int place = 0; place < count; place++) {
			char hosts[128];
			proxy p;
			proxy_start(&p, zk_port);
			list_hosts(hosts, sizeof hosts, p.port, place, count);
			client c = client_at(hosts, zk_root, NULL);
			check(passes(&c, "one of several", 1000), "%d of %d is found", place + 1, count);
			p.mode = PROXY_CUT;
			usleep(500000); /* so that the client tries all servers more than once */
			p.mode = PROXY_PASS;
			check(passes(&c, "one of several", 1000), "%d of %d is found again", place + 1, count);
			client_free(&c);
			proxy_stop(&p);
		}
	}
	zk_session_timeout = usual;
}

static bool is_refused_thrice(void *proxied)
{
	return ((proxy *) proxied)->refused >= 3;
}

/* If the number of servers is even, the client library alone does not rest between attempts, either. */
static void test_rests(void)
{
	char hosts[64];
	proxy p;
	dlock_nanos start = dlock_now(), usual = zk_session_timeout;

	zk_session_timeout = 2 * DLOCK_SECOND;
	proxy_start(&p, zk_port);
	p.mode = PROXY_CUT;
	snprintf(hosts, sizeof hosts, "127.0.0.1:%d,127.0.0.1:%d", p.port, p.port);
	client c = client_at(hosts, zk_root, NULL);
	dlock_claim *claim = claim_on(&c, "rests");
	check(acquire(&c, claim, 500) == DLOCK_CONNECTION, "no connection");
	check(eventually(is_refused_thrice, &p), "the client goes on");
	/* A round has three attempts, and a rest of a sixtieth of the timeout. Twice as many pass; a spin makes fifty times
	 * as many. */
	int refused = p.refused, most = 6 * (int) (3 + (dlock_now() - start) / (zk_session_timeout / 60));
	check(refused <= most, "%d attempts of at most %d", refused, most);
	dlock_claim_free(claim);
	client_free(&c);
	proxy_stop(&p);
	zk_session_timeout = usual;
}

int main(int argc, char **argv)
{
	static const tap_test tests[] = {
		{ "lost replies", test_lost_replies },
		{ "lost sync", test_lost_sync },
		{ "several lost replies", test_lost_replies_of_several },
		{ "several in part", test_part_of_several }, { "several in part at once", test_part_of_several_at_once },
		{ "odd responses", test_odd_responses },
		{ "disconnection", test_disconnection }, { "expiry", test_expiry },
		{ "silence in the queue", test_silence_in_queue }, { "stopped", test_stopped }, { "busy", test_busy },
		{ "late answer", test_late_answer },
		{ "no server", test_no_server }, { "release without a server", test_release_without_server },
		{ "flapping", test_flapping }, { "no response", test_no_response },
		{ "no response, and signals", test_no_response_to_the_interrupted },
		{ "no server, and signals", test_no_server_for_the_interrupted },
		{ "one of several", test_one_of_several }, { "rests", test_rests },
	};

	zk_begin(argc, argv);
	tap_run(tests, sizeof tests / sizeof *tests, argc > 2 ? argv[2] : NULL, zk_reset);
	zk_end();
	return tap_end();
}
