/* The connections of the back end on one server, and what it does when the server stops. Prints TAP. */

#include <dlfcn.h>
#include <errno.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "helpers.h"
#include "one_server.h"

/* ---- what the client sends ---- */

static int sends;
static dlock_nanos last_send; /* when its last bytes were sent */
static dlock_nanos slow;      /* each answer takes so long, by this process' clock */
static int unanswered_from;   /* the server stops before this send; 0: it does not */

ssize_t send(int fd, const void *bytes, size_t len, int flags)
{
	static ssize_t (*next)(int, const void *, size_t, int);

	next = next ? next : (ssize_t(*)(int, const void *, size_t, int)) dlsym(RTLD_NEXT, "send");
	if (++sends == unanswered_from) {
		server_freeze(&server);
	}
	last_send = dlock_now();
	ssize_t sent = next(fd, bytes, len, flags);
	dlock_clock_travel(slow);
	return sent;
}

static dlock_call *send_ping(dlock_conn *conn)
{
	dlock_arg word = DLOCK_ARG("PING");
	dlock_call *call = dlock_call_command(&word, 1);

	dlock_conn_send(conn, call);
	return call;
}

/* ---- connections ---- */

static void kill_clients(void)
{
	server_do(&server, "CLIENT KILL TYPE normal SKIPME yes");
}

static void test_killed_connection(void)
{
	client c = client_of(&server, READ_TIMEOUT);
	dlock_claim *claim;

	check(warm(&c), "warm");
	for (int i = 0; i < 5; i++) {
		claim = claim_on(&c, "killed", 60000);
		kill_clients();
		check(acquire(&c, claim, 0) == DLOCK_OK, "a killed idle connection is replaced (%s)", c.error.message);
		kill_clients();
		check(i % 2 ? extend(&c, claim, 60000) == DLOCK_OK : dlock_claim_check(claim, &c.error) == DLOCK_OK,
			"the holder extends or checks over a new connection");
		kill_clients();
		check(let_go(&c, claim), "the release opens a new connection, too");
	}
	check(dlock_pool_opened(c.pool) == 16, "one connection was opened for each kill (%lu)", dlock_pool_opened(c.pool));
	claim = claim_on(&c, "killed", 60000);
	acquire(&c, claim, 0);
	kill_clients();
	dlock_claim_abandon(claim);
	client_settle(&c);
	check(has_nobody(&server, "killed"), "an abandoned lock is released although its connection was killed");
	dlock_claim_free(claim);
	client_free(&c);
}

static bool is_one_blocked(void *context)
{
	(void) context;
	return strstr(server_text(&server, "CLIENT LIST TYPE normal"), " flags=b ") != NULL;
}

/* The server delays writes, so that the test can kill a connection while its command is under way. */
static void test_killed_under_way(void)
{
	for (int kills = 1; kills <= 2; kills++) {
		server_do(&server, "CLIENT PAUSE 600000 WRITE");
		pid_t pid = fork_child();
		if (pid == 0) {
			client c = client_of(&server, READ_TIMEOUT);
			dlock_claim *claim = claim_on(&c, "under-way", 60000);
			dlock_status status = acquire(&c, claim, 0);
			bool good = kills == 1 ? status == DLOCK_OK && dlock_pool_opened(c.pool) == 2
				: status == DLOCK_CONNECTION && explains(&c, "127.0.0.1", "closed the connection");
			_exit(!good || (kills == 1 && release(&c, claim) != DLOCK_OK));
		}
		for (int i = 0; i < kills; i++) {
			check(eventually(is_one_blocked, NULL), "a client waits for its answer");
			kill_clients();
		}
		if (kills == 1) {
			check(eventually(is_one_blocked, NULL), "the client asks again");
		}
		server_do(&server, "CLIENT UNPAUSE");
		check(exit_of(pid) == 0, "killed %s while it waits: %s", kills == 1 ? "once" : "twice",
			kills == 1 ? "repeated over a new connection" : "an error");
		check(eventually_nobody(&server, "under-way"), "nothing is left");
	}
}

/* Waits until the connection is closed, or has been opened five times, at a peer that accepts and then closes. */
static void be_closed_by(int listener, dlock_conn *conn)
{
	while (conn->state != DLOCK_CONN_CLOSED && conn->generation < 5) {
		struct pollfd fd = dlock_conn_poll(conn);
		if (poll(&fd, 1, 30000) <= 0) {
			break;
		}
		dlock_conn_advance(conn);
		if (conn->state == DLOCK_CONN_READY) {
			close(accept(listener, NULL, NULL));
		}
	}
}

/* A proxy accepts although its server is down. */
static void test_closing_proxy(void)
{
	char dsn[64], bytes[4096];
	int port, listener = listen_anywhere(&port, 8);
	dlock_arg words[] = { DLOCK_ARG("channel"), DLOCK_ARG("PING") };

	snprintf(dsn, sizeof dsn, "redis://127.0.0.1:%d", port);
	dlock_endpoint *proxy = test_server_at(dsn);
	dlock_conn *conn = dlock_conn_new(proxy);
	dlock_conn_send_background(conn, dlock_call_script(DLOCK_SCRIPT_PUBLISH, 0, words, 1, 1), DLOCK_FOREVER);
	be_closed_by(listener, conn);
	check(conn->state == DLOCK_CONN_CLOSED && conn->generation == 2,
		"a background call opens one more connection, and no more without a pause (%lu)", conn->generation);
	dlock_call *ping = dlock_call_command(words + 1, 1);
	dlock_conn_send(conn, ping);
	check(conn->generation == 3 && conn->calls.count == 2, "it is still sent with the next call");
	int peer = accept(listener, NULL, NULL);
	struct pollfd fd = dlock_conn_poll(conn);
	poll(&fd, 1, 30000);
	dlock_conn_advance(conn);
	check(recv(peer, bytes, sizeof bytes, 0) > 8 && !memcmp(bytes + 8, "EVAL", 4), "and before it");
	close(peer);
	close(listener);
	dlock_call_release(ping);
	dlock_conn_free(conn);
	dlock_endpoint_release(proxy);
}

static void test_restart(void)
{
	client c = client_of(&server, READ_TIMEOUT);
	dlock_claim *claim = claim_on(&c, "restart", 60000);

	acquire(&c, claim, 0);
	int64_t token = claim->fencing_token;
	server_kill(&server);
	check(dlock_claim_check(claim, &c.error) == DLOCK_CONNECTION
			&& explains(&c, client_conn(&c, 0)->server->label, "refused"),
		"a dead server is an error");
	check(look(claim) == DLOCK_CLAIM_UNCERTAIN, "the lease is uncertain, not lost");
	server_restart(&server);
	check(dlock_claim_check(claim, &c.error) == DLOCK_LOST, "a server that restarts empty has lost the lock");
	dlock_claim_free(claim);
	claim = claim_on(&c, "restart", 60000);
	check(acquire(&c, claim, 0) == DLOCK_OK && claim->fencing_token > token,
		"it grants the lock again, with a higher fencing token");
	check(let_go(&c, claim), "released");
	client_free(&c);
}

static void test_pool(void)
{
	dlock_pool pool = { NULL };
	char dsn[3][64];
	dlock_endpoint *servers[3];
	dlock_conn *conns[3];

	snprintf(dsn[0], sizeof dsn[0], "redis://127.0.0.1:%d", server.port);
	snprintf(dsn[1], sizeof dsn[1], "redis://127.0.0.1:%d/0", server.port);
	snprintf(dsn[2], sizeof dsn[2], "redis://127.0.0.1:%d/1", server.port);
	for (int i = 0; i < 3; i++) {
		servers[i] = test_server_at(dsn[i]);
		conns[i] = dlock_pool_conn(&pool, servers[i]);
		dlock_endpoint_release(servers[i]);
	}
	check(conns[0] == conns[1] && conns[0] != conns[2], "one connection for one server and database");
	check(dlock_pool_opened(&pool) == 0, "no connection is opened before its first use");
	dlock_pool_drain(&pool, DLOCK_FOREVER);
	check(true, "draining a pool that was never used does not wait");
	dlock_pool_clear(&pool);
}

static void test_drain_is_bounded(void)
{
	client c = client_of(&server, 60 * DLOCK_SECOND);
	dlock_claim *claim = claim_on(&c, "drain", 60000);

	check(warm(&c) && acquire(&c, claim, 0) == DLOCK_OK, "held");
	server_freeze(&server);
	dlock_claim_abandon(claim);
	dlock_claim_free(claim);
	dlock_nanos start = dlock_now();
	dlock_pool_drain(c.pool, start + 100 * DLOCK_MS);
	check(dlock_now() - start >= 100 * DLOCK_MS && dlock_now() - start < SOON,
		"a frozen server does not block a request's end");
	server_thaw(&server);
	client_free(&c); /* at once: the server still executes what was sent */
	check(eventually_nobody(&server, "drain"), "the server releases the lock when it runs again");
}

static void test_ways_to_connect(void)
{
	static const char *users[] = { "", ":" SECRET "@", "ann:" SECRET "@" };
	char dsn[300];

	server_do(&server, "ACL SETUSER ann on >" SECRET " ~* &* +@all");
	server_do(&server, "CONFIG SET requirepass " SECRET);
	for (int way = 0; way < 4; way++) {
		const char *user = users[1 + way % 2];
		if (way < 2) {
			snprintf(dsn, sizeof dsn, "redis://%s127.0.0.1:%d/%d", user, server.port, way ? 3 : 0);
		} else {
			snprintf(dsn, sizeof dsn, "unix://%s%s?db=%d", user, server.socket, way - 2);
		}
		client c = client_at(dsn);
		server_do(&server, "CONFIG RESETSTAT");
		int bad = 0;
		for (int i = 0; i < 5; i++) {
			bad += !passes(&c, "ways", 0);
		}
		check(bad == 0, "%s, database %d (%s)", way < 2 ? "TCP" : "unix socket", client_conn(&c, 0)->server->database,
			c.error.message);
		check(server_info(&server, "commandstats", "cmdstat_auth:calls") == 1
				&& server_info(&server, "commandstats", "cmdstat_select:calls") == (way == 1 || way == 3),
			"the client logged in once");
		client_free(&c);
	}
	server_do(&server, "SELECT 3");
	check(server_integer(&server, "EXISTS " DLOCK_FENCE_KEY) == 1, "the lock is in the requested database");
	server_do(&server, "SELECT 0");
	server_do(&server, "CONFIG SET requirepass %s", "");
	server_do(&server, "ACL DELUSER ann");
}

/* ---- a unix socket whose backlog is full ---- */

enum { FILLERS = 64 };

static void address_of(const char *path, struct sockaddr_un *address)
{
	*address = (struct sockaddr_un) { .sun_family = AF_UNIX };
	snprintf(address->sun_path, sizeof address->sun_path, "%s", path);
}

/* Connects until the system accepts no more connections. Returns their number. */
static int fill_backlog(const char *path, int *fds)
{
	struct sockaddr_un address;
	int count = 0;

	address_of(path, &address);
	while (count < FILLERS) {
		int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
		if (connect(fd, (struct sockaddr *) &address, sizeof address) < 0) {
			check(errno == EAGAIN, "then the system accepts no more: %s", strerror(errno));
			close(fd);
			return count;
		}
		fds[count++] = fd;
	}
	check(false, "the backlog has a limit");
	return count;
}

static void close_all(const int *fds, int count)
{
	for (int i = 0; i < count; i++) {
		close(fds[i]);
	}
}

static void test_full_backlog(void)
{
	static const char *const options[] = { "--tcp-backlog", "2", NULL };
	static test_server busy;
	int fds[FILLERS];
	char dsn[300];

	server_start(&busy, options);
	snprintf(dsn, sizeof dsn, "unix://%s", busy.socket);
	client c = client_at(dsn);
	server_freeze(&busy);
	int count = fill_backlog(busy.socket, fds);
	dlock_call *ping = send_ping(client_conn(&c, 0));
	check(client_conn(&c, 0)->channel.dial.full, "the server is too busy to accept connections");
	server_thaw(&busy);
	check(passes(&c, "backlog", 0) && ping->state == DLOCK_CALL_ANSWERED, "the client waits for it (%s)",
		c.error.message);
	dlock_call_release(ping);
	close_all(fds, count);
	client_free(&c);

	server_freeze(&busy);
	count = fill_backlog(busy.socket, fds);
	snprintf(dsn, sizeof dsn, "unix://:" SECRET "@%s?connect_timeout=0.3", busy.socket);
	c = client_at(dsn);
	dlock_claim *claim = claim_on(&c, "backlog", 60000);
	dlock_nanos start = dlock_now();
	check(acquire(&c, claim, 0) == DLOCK_CONNECTION && explains(&c, busy.socket, "within 0.3 s"),
		"a server that stays busy is an error: %s", c.error.message);
	dlock_nanos took = dlock_now() - start;
	check(took >= 300 * DLOCK_MS && took < SOON, "after the connect_timeout (%ld ms)", (long) (took / DLOCK_MS));
	dlock_claim_free(claim);
	client_free(&c);
	close_all(fds, count);
	server_thaw(&busy);
	server_kill(&busy);
}

/* ---- a server that stops ---- */

static void set_read_timeout(const client *c, dlock_nanos read_timeout)
{
	client_conn(c, 0)->server->read_timeout = read_timeout;
}

static void test_stopped(void)
{
	dlock_nanos timeout = 300 * DLOCK_MS;
	client c = client_of(&server, READ_TIMEOUT);

	for (int gone = 0; gone < 2; gone++) {
		dlock_claim *claim = claim_on(&c, "stopped", 60000);
		check(warm(&c), "warm");
		server_do(&server, "FLUSHALL");
		server_freeze(&server);
		set_read_timeout(&c, timeout);
		dlock_nanos start = dlock_now();
		check(acquire(&c, claim, 10000) == DLOCK_CONNECTION, "no answer is an error");
		check(dlock_now() - start >= timeout && dlock_now() - start < SOON, "after the read timeout");
		check(explains(&c, client_conn(&c, 0)->server->label, "no answer within 0.3 s"), "the message has the time");
		set_read_timeout(&c, READ_TIMEOUT);
		dlock_claim_free(claim);
		if (gone) {
			client_free(&c);
		}
		server_thaw(&server);
		check(eventually_fenced(&server), "the server executes the acquire when it runs again");
		check(eventually_nobody(&server, "stopped"), "the release arrives right after the acquire");
	}
}

/* Later requests abandon the unanswered connection and repeat the release over a new one. */
static void test_stopped_for_long(void)
{
	client c = client_of(&server, READ_TIMEOUT);
	dlock_claim *claim;
	int bad = 0;

	check(warm(&c) && server_do(&server, "FLUSHALL"), "warm");
	server_freeze(&server);
	set_read_timeout(&c, 100 * DLOCK_MS);
	for (int i = 0; i < 5; i++) {
		claim = claim_on(&c, "long", 60000);
		bad += acquire(&c, claim, 0) != DLOCK_CONNECTION;
		dlock_claim_free(claim);
	}
	check(bad == 0 && client_conn(&c, 0)->calls.count < 10, "each attempt fails while the server does not answer");
	server_thaw(&server);
	check(eventually_fenced(&server) && eventually_nobody(&server, "long"), "the failed attempts leave no lock");
	set_read_timeout(&c, READ_TIMEOUT);
	check(passes(&c, "long", 60000), "the client works again");
	client_free(&c);
}

/* ---- slow answers ---- */

static dlock_nanos relied_on(int lease_ms)
{
	return (lease_ms - lease_ms / 100 - 2) * DLOCK_MS;
}

/* The lease starts when the request is sent, because the server may begin it then. */
static void test_slow_answer(void)
{
	static const char *const texts[] = { "acquire", "extend", "check" };
	client c = client_of(&server, READ_TIMEOUT);
	dlock_claim *claim = claim_on(&c, "slow", 60000);

	check(warm(&c), "warm");
	slow = 5 * DLOCK_SECOND;
	for (int i = 0; i < 3; i++) {
		dlock_status status = i == 0 ? acquire(&c, claim, 0)
			: i == 1                 ? extend(&c, claim, 60000)
									 : dlock_claim_check(claim, &c.error);
		check(status == DLOCK_OK && claim->deadline <= last_send + relied_on(60000),
			"%s: the lease starts when the request is sent", texts[i]);
	}
	slow = 0;
	check(let_go(&c, claim), "released");
	client_free(&c);
}

static void test_too_late(void)
{
	client c = client_of(&server, READ_TIMEOUT);
	dlock_claim *claim = claim_on(&c, "late", 30000);
	char token[DLOCK_TOKEN_LEN + 1];

	check(warm(&c), "warm");
	memcpy(token, claim->token, sizeof token);
	slow = 31 * DLOCK_SECOND;
	check(acquire(&c, claim, 0) == DLOCK_TIMEOUT && look(claim) != DLOCK_CLAIM_HELD,
		"a lease that has expired when the answer comes is not acquired");
	slow = 0;
	client_settle(&c);
	bool gone = has_nobody(&server, "late");
	check(gone && server_info(&server, "stats", "expired_keys") == 0, "the client releases it before it expires");
	check(memcmp(token, claim->token, sizeof token) != 0, "the token of a released attempt is not used again");
	check(acquire(&c, claim, 0) == DLOCK_OK, "the next attempt may succeed");
	check(extend(&c, claim, 120000) == DLOCK_OK, "extended");
	slow = 31 * DLOCK_SECOND;
	dlock_status status = extend(&c, claim, 30000);
	check(status == DLOCK_LOST && look(claim) != DLOCK_CLAIM_HELD,
		"an extension that has expired when the answer comes does not count (status %d)", status);
	slow = 0;
	release(&c, claim);
	dlock_claim_free(claim);
	claim = claim_on(&c, "late", 120000);
	check(acquire(&c, claim, 60000) == DLOCK_OK, "held again");
	server_do(&server, "PEXPIRE " PREFIX "late 30000"); /* 30 s are left, but the server was asked 31 s ago */
	slow = 31 * DLOCK_SECOND;
	status = dlock_claim_check(claim, &c.error);
	check(status == DLOCK_LOST && look(claim) != DLOCK_CLAIM_HELD,
		"a check that is answered too late does not count (status %d)", status);
	slow = 0;
	dlock_claim_free(claim);
	client_free(&c);
}

/* The client selects a database, names a script that the server does not know, and sends its text: three answers, each
 * of which comes in time. */
static void test_slow_answers(void)
{
	char dsn[64];

	snprintf(dsn, sizeof dsn, "redis://127.0.0.1:%d/5", server.port);
	client c = client_at(dsn);
	dlock_claim *claim = claim_on(&c, "slow", 60000);
	dlock_nanos start = dlock_now();
	slow = READ_TIMEOUT * 7 / 10;
	unanswered_from = sends + 3;
	check(acquire(&c, claim, 0) == DLOCK_CONNECTION && dlock_now() - start < 3 * READ_TIMEOUT,
		"the client does not wait for three slow answers: %s", c.error.message);
	slow = unanswered_from = 0;
	server_thaw(&server);
	client_settle(&c);
	check(acquire(&c, claim, 60000) == DLOCK_OK && let_go(&c, claim), "a lock that it may have acquired was released");
	client_free(&c);
}

/* ---- replies ---- */

/* A peer answers PING with `depth` arrays, each in the one before, around an integer. Returns the call. */
static dlock_call *ask_for_arrays(int depth, dlock_conn **conn)
{
	char dsn[64], answer[128] = "";
	int port, listener = listen_anywhere(&port, 1);
	dlock_arg word = DLOCK_ARG("PING");
	dlock_call *call = dlock_call_command(&word, 1);

	snprintf(dsn, sizeof dsn, "redis://127.0.0.1:%d", port);
	dlock_endpoint *at = test_server_at(dsn);
	*conn = dlock_conn_new(at);
	dlock_endpoint_release(at);
	dlock_conn_send(*conn, call);
	int peer = accept(listener, NULL, NULL);
	for (int i = 0; i < depth; i++) {
		strcat(answer, "*1\r\n");
	}
	strcat(answer, ":1\r\n");
	check(write(peer, answer, strlen(answer)) == (ssize_t) strlen(answer), "the peer answers");
	conn_await(*conn, call);
	close(peer);
	close(listener);
	return call;
}

static void test_nested_arrays(void)
{
	dlock_conn *conn;
	dlock_call *call = ask_for_arrays(4, &conn);

	check(call->state == DLOCK_CALL_ANSWERED, "as deep as any reply is (%s)", conn->error.message);
	dlock_call_release(call);
	dlock_conn_free(conn);
	call = ask_for_arrays(9, &conn);
	check(call->state == DLOCK_CALL_FAILED && strstr(conn->error.message, "deeper arrays than any has"), "deeper: %s",
		conn->error.message);
	dlock_call_release(call);
	dlock_conn_free(conn);
}

/* ---- calls in one piece ---- */

static void collect_calls(const char *dsn)
{
	enum { CALLS = 3 };
	dlock_endpoint *at = test_server_at(dsn);
	dlock_conn *conn = dlock_conn_new(at);
	dlock_call *calls[CALLS], *first = send_ping(conn);

	conn_await(conn, first);
	check(first->state == DLOCK_CALL_ANSWERED, "%.12s...: connected (%s)", dsn, conn->error.message);
	int before = sends;
	dlock_conn_cork(conn);
	for (int i = 0; i < CALLS; i++) {
		calls[i] = send_ping(conn);
	}
	check(sends == before, "calls are collected");
	dlock_conn_uncork(conn);
	check(sends == before + 1, "and sent in one piece (%d)", sends - before);
	for (int i = 0; i < CALLS; i++) {
		conn_await(conn, calls[i]);
		check(calls[i]->state == DLOCK_CALL_ANSWERED, "answered");
		dlock_call_release(calls[i]);
	}
	dlock_conn_cork(conn);
	calls[0] = send_ping(conn);
	before = sends;
	dlock_conn_close(conn);
	check(sends == before && calls[0]->state == DLOCK_CALL_FAILED, "a call that has failed is not sent (%d)",
		sends - before);
	dlock_call_release(calls[0]);
	dlock_call_release(first);
	dlock_conn_free(conn);
	dlock_endpoint_release(at);
}

#ifdef DLOCK_TLS
static struct {
	int port, tls_port;
	char certificate[200], key[200];
} tls_server;

static void run_tls_server(const void *unused)
{
	char port[8], tls_port[8];
	const char *program = getenv("DLOCK_TEST_REDIS_SERVER");
	const char *const words[] = { program && *program ? program : "redis-server", "--port", port, "--tls-port",
		tls_port, "--bind", "127.0.0.1", "--save", "", "--tls-auth-clients", "no", "--tls-cert-file",
		tls_server.certificate, "--tls-key-file", tls_server.key, "--tls-ca-cert-file", tls_server.certificate, NULL };

	(void) unused;
	snprintf(port, sizeof port, "%d", tls_server.port);
	snprintf(tls_port, sizeof tls_port, "%d", tls_server.tls_port);
	server_execute(words);
}

static bool answers(void *unused)
{
	redisContext *context = redisConnect("127.0.0.1", tls_server.tls_port);
	bool good = context && !context->err;

	(void) unused;
	redisFree(context);
	return good;
}

/* False: there is no openssl, or this Redis has no TLS. */
static bool start_tls_server(pid_t *pid)
{
	char command[700];

	snprintf(tls_server.certificate, sizeof tls_server.certificate, "%s/tls.crt", server.directory);
	snprintf(tls_server.key, sizeof tls_server.key, "%s/tls.key", server.directory);
	snprintf(command, sizeof command,
		"openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout %s -out %s -days 2"
		" -subj /CN=dlock > /dev/null 2>&1",
		tls_server.key, tls_server.certificate);
	tls_server.port = free_port();
	tls_server.tls_port = free_port();
	return system(command) == 0 && server_launch(pid, NULL, run_tls_server, answers);
}

static void collect_calls_over_tls(void)
{
	char dsn[64];
	pid_t pid = 0;

	if (start_tls_server(&pid)) {
		snprintf(dsn, sizeof dsn, "rediss://127.0.0.1:%d?verify_peer=0", tls_server.tls_port);
		collect_calls(dsn);
		end_child(pid);
	} else {
		note("left out: TLS");
	}
	unlink(tls_server.certificate);
	unlink(tls_server.key);
}
#else
static void collect_calls_over_tls(void) {}
#endif

static void test_collected(void)
{
	char dsn[64];

	snprintf(dsn, sizeof dsn, "redis://127.0.0.1:%d", server.port);
	collect_calls(dsn);
	collect_calls_over_tls();
}

static void answer(int peer)
{
	check(write(peer, "+PONG\r\n", 7) == 7, "the peer answers");
}

/* A caller looks for its answer within a turn of the loop, in which another call is collected. The server has answered,
 * and then ended the connection. */
static void test_end_while_peeking(void)
{
	struct linger at_once = { .l_onoff = 1, .l_linger = 0 };
	int port, listener = listen_anywhere(&port, 8);
	char dsn[64];

	snprintf(dsn, sizeof dsn, "redis://127.0.0.1:%d", port);
	dlock_endpoint *at = test_server_at(dsn);
	dlock_conn *conn = dlock_conn_new(at);
	dlock_call *calls[3] = { send_ping(conn) };
	int peer = accept(listener, NULL, NULL);
	answer(peer);
	conn_await(conn, calls[0]);
	calls[1] = send_ping(conn);
	dlock_conn_cork(conn);
	calls[2] = send_ping(conn);
	answer(peer);
	setsockopt(peer, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
	close(peer);
	struct pollfd fd = { .fd = dlock_channel_fd(&conn->channel) };
	check(poll(&fd, 1, 30000) == 1, "the connection has ended");
	dlock_conn_peek(conn);
	check(calls[1]->state == DLOCK_CALL_ANSWERED && calls[2]->state == DLOCK_CALL_PENDING, "the answer is found");
	dlock_conn_uncork(conn);
	check(dlock_conn_busy(conn), "the loop still polls for the other call");
	dlock_conn_advance(conn);
	if (conn->generation == 2) {
		peer = accept(listener, NULL, NULL);
		answer(peer);
		conn_await(conn, calls[2]);
		close(peer);
	}
	check(calls[2]->state == DLOCK_CALL_ANSWERED, "which is sent again over a new connection");
	for (int i = 0; i < 3; i++) {
		dlock_call_release(calls[i]);
	}
	close(listener);
	dlock_conn_free(conn);
	dlock_endpoint_release(at);
}

/* ---- without memory ---- */

#if HIREDIS_MAJOR >= 1
typedef long long command_len;
#else
typedef int command_len;
#endif

static int without_memory; /* how many commands find none */

command_len redisFormatCommandArgv(char **target, int argc, const char **argv, const size_t *lens)
{
	static command_len (*format)(char **, int, const char **, const size_t *);

	if (without_memory > 0) {
		without_memory--;
		return -1;
	}
	format = format
		? format
		: (command_len(*)(char **, int, const char **, const size_t *)) dlsym(RTLD_NEXT, "redisFormatCommandArgv");
	return format(target, argc, argv, lens);
}

static void test_no_memory_for_command(void)
{
	client c = client_of(&server, READ_TIMEOUT);

	check(warm(&c), "warm");
	unsigned long opened = dlock_pool_opened(c.pool);
	dlock_claim *claim = claim_on(&c, "memory", 60000);
	without_memory = 1;
	check(
		acquire(&c, claim, 0) == DLOCK_CONNECTION && explains(&c, "127.0.0.1", "out of memory"), "%s", c.error.message);
	check(acquire(&c, claim, 0) == DLOCK_OK && dlock_pool_opened(c.pool) == opened + 1,
		"the next attempt uses another connection");
	check(let_go(&c, claim), "released");
	client_free(&c);
}

int main(int argc, char **argv)
{
	static const tap_test tests[] = {
		TEST(killed_connection),
		TEST(killed_under_way),
		TEST(closing_proxy),
		TEST(pool),
		TEST(drain_is_bounded),
		TEST(ways_to_connect),
		TEST(full_backlog),
		TEST(stopped),
		TEST(stopped_for_long),
		TEST(slow_answer),
		TEST(too_late),
		TEST(slow_answers),
		TEST(nested_arrays),
		TEST(collected),
		TEST(end_while_peeking),
		TEST(no_memory_for_command),
		TEST(restart),
	};

	return tap_main(argc, argv, tests, sizeof tests / sizeof *tests, &one_server);
}
