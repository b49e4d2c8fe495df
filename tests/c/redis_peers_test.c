/* What the back end on one server does if the server refuses, or is not Redis. Prints TAP. */

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "helpers.h"
#include "one_server.h"

/* ---- errors ---- */

typedef struct {
	const char *before, *after; /* commands for the server, before and after */
	const char *user, *behind;  /* parts of the DSN */
	const char *word;           /* in the message */
	const char *text;
} refusal;

static const refusal refusals[] = {
	{ "CONFIG SET requirepass " SECRET "x", NULL, ":" SECRET "@", "", "WRONGPASS", "a wrong password" },
	{ "CONFIG SET requirepass " SECRET "x", NULL, "ann:" SECRET "@", "", "WRONGPASS", "an unknown user" },
	{ "CONFIG SET requirepass " SECRET, NULL, "", "", "it needs a password", "no password" },
	{ "CONFIG SET requirepass " SECRET, NULL, ":" SECRET "@", "/99", "DB index", "a database that does not exist" },
	{ "CONFIG SET requirepass " SECRET, NULL, "", "/2", "NOAUTH", "no password for a database" },
	{ "PING", NULL, ":" SECRET "@", "", "without any password", "a password although the server has none" },
	{ "ACL SETUSER ann on >" SECRET " ~* +ping", "ACL DELUSER ann", "ann:" SECRET "@", "", "NOPERM",
		"a user without commands" },
	{ "ACL SETUSER ann on >" SECRET " ~other:* +@all", "ACL DELUSER ann", "ann:" SECRET "@", "", "NOPERM",
		"a user without keys" },
	{ "ACL SETUSER ann on >" SECRET " ~* +evalsha +eval +get +pttl", "ACL DELUSER ann", "ann:" SECRET "@", "",
		"docs/operations.md", "a user without a command that a script uses" },
	{ "REPLICAOF 127.0.0.1 1", "REPLICAOF NO ONE", "", "", "replica", "a replica" },
	{ "CONFIG SET maxmemory 1", "CONFIG SET maxmemory 0", "", "", "maxmemory is reached", "no memory" },
	{ "RPUSH " PREFIX "errors x", "DEL " PREFIX "errors", "", "", "something else than a lock",
		"a key of another type" },
	{ "SET " DLOCK_FENCE_KEY " abc", "DEL " DLOCK_FENCE_KEY, "", "", "compare", "a fence that is not a number" },
	{ "CONFIG SET maxclients 1", "CONFIG SET maxclients 10000", "", "", "max number of clients", "too many clients" },
};

static void test_refusals(void)
{
	char dsn[128], label[32];

	snprintf(label, sizeof label, "127.0.0.1:%d", server.port);
	for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
		const refusal *r = &refusals[i];
		snprintf(dsn, sizeof dsn, "redis://%s127.0.0.1:%d%s", r->user, server.port, r->behind);
		client c = client_at(dsn);
		dlock_claim *claim = claim_on(&c, "errors", 60000);
		server_do(&server, r->before);
		dlock_nanos start = dlock_now();
		dlock_status status = acquire(&c, claim, 5000);
		check(status == DLOCK_CONNECTION && explains(&c, label, r->word), "%s: %s", r->text, c.error.message);
		check(dlock_now() - start < SOON, "the error comes at once");
		client_settle(&c);
		server_do(&server, "CONFIG SET requirepass %s", "");
		if (r->after) {
			server_do(&server, r->after);
		}
		check(has_nobody(&server, "errors"), "the refused attempt leaves no lock");
		dlock_claim_free(claim);
		if (!*r->user && !*r->behind) {
			check(passes(&c, "errors", 0), "after the repair the same client works (%s)", c.error.message);
		}
		client_free(&c);
	}
}

static bool is_busy(void)
{
	return !strncmp(server_text(&server, "PING"), "(error) BUSY", 12);
}

static void test_busy_script(void)
{
	client c = client_of(&server, READ_TIMEOUT);
	dlock_claim *claim = claim_on(&c, "busy", 60000);
	redisContext *looping = redisConnect("127.0.0.1", server.port);

	server_do(&server, "CONFIG SET busy-reply-threshold 1");
	redisAppendCommand(looping, "EVAL %s 0", "while true do end");
	int done = 0;
	while (!done && redisBufferWrite(looping, &done) == REDIS_OK) {
	}
	while (!is_busy()) {
		sleep_ms(2);
	}
	check(acquire(&c, claim, 0) == DLOCK_CONNECTION
			&& explains(&c, client_conn(&c, 0)->server->label, "running for too long"),
		"a script that never ends: %s", c.error.message);
	server_do(&server, "SCRIPT KILL");
	while (is_busy()) {
		sleep_ms(2);
	}
	redisFree(looping);
	server_do(&server, "CONFIG SET busy-reply-threshold 5000");
	dlock_claim_free(claim);
	client_free(&c);
}

static void test_cluster_node(void)
{
	static const char *const options[] = { "--cluster-enabled", "yes", "--cluster-config-file", "nodes.conf", NULL };
	static test_server node;
	bool locked;

	server_start(&node, options);
	client c = client_of(&node, READ_TIMEOUT);
	dlock_claim *claim = claim_on(&c, "cluster", 60000);
	const char *label = client_conn(&c, 0)->server->label;
	check(acquire(&c, claim, 0) == DLOCK_CONNECTION && explains(&c, label, "CLUSTERDOWN"),
		"a node without a cluster: %s", c.error.message);
	server_do(&node, "CLUSTER ADDSLOTSRANGE 0 16383");
	while (strncmp(server_text(&node, "GET x"), "", 1)) { /* until the node notices its slots */
		sleep_ms(5);
	}
	check(acquire(&c, claim, 0) == DLOCK_CONNECTION && explains(&c, label, "cluster://host:port"),
		"a node of a cluster: %s", c.error.message);
	check(c.backend->ops->locked(c.backend, "x", 1, &locked, &c.error) == DLOCK_OK && !locked,
		"a request with one key works");
	dlock_claim_free(claim);
	client_free(&c);
	server_kill(&node);
}

static void test_nobody_there(void)
{
	char dsn[300];

	snprintf(dsn, sizeof dsn, "redis://ann:" SECRET "@127.0.0.1:%d", closed_port());
	client c = client_at(dsn);
	dlock_claim *claim = claim_on(&c, "nobody", 60000);
	check(acquire(&c, claim, 5000) == DLOCK_CONNECTION && explains(&c, strchr(dsn, '@') + 1, "refused"),
		"a closed port: %s", c.error.message);
	dlock_claim_free(claim);
	client_free(&c);
	snprintf(dsn, sizeof dsn, "unix://:" SECRET "@%s-not", server.socket);
	c = client_at(dsn);
	claim = claim_on(&c, "nobody", 60000);
	check(acquire(&c, claim, 5000) == DLOCK_CONNECTION && explains(&c, strchr(dsn, '@') + 1, "No such file"),
		"no socket: %s", c.error.message);
	dlock_claim_free(claim);
	client_free(&c);
	c = client_at("redis://:" SECRET "@no-such-host.invalid?connect_timeout=2");
	claim = claim_on(&c, "nobody", 60000);
	check(acquire(&c, claim, 5000) == DLOCK_CONNECTION && explains(&c, "no-such-host.invalid:6379", " "),
		"an unknown host: %s", c.error.message);
	dlock_claim_free(claim);
	client_free(&c);
}

/* ---- peers that are not Redis ---- */

/* A child that accepts one connection, sends the text, and closes the connection if it is to. */
static pid_t odd_peer(int *port, const char *text, size_t len, bool closes)
{
	int listener = listen_anywhere(port, 16);
	pid_t pid = fork_child();

	while (pid == 0) {
		char byte;
		int fd = accept(listener, NULL, NULL);
		if (len > 0 && (read(fd, &byte, 1) != 1 || write(fd, text, len) < 0)) {
			_exit(1);
		}
		if (closes) {
			close(fd);
		}
	}
	close(listener);
	return pid;
}

static void test_odd_peers(void)
{
	static const struct {
		const char *answer;
		size_t len;
		bool closes, login;
		const char *word;
	} peers[] = {
		{ "HTTP/1.1 400 Bad Request\r\n\r\n", 28, true, false, "Protocol error" },
		{ "", 0, true, false, "" }, /* closed, reset or a broken pipe: the race decides */
		{ "", 0, false, true, "no connection within" },
		{ "", 0, false, false, "no answer within" },
		{ "+OK\r\n", 5, false, false, "unexpected form" },
		{ "$-1\r\n", 5, false, false, "unexpected form" },
		{ "*2\r\n:1\r\n", 8, false, false, "no answer within" },
		{ "*2\r\n:1\r\n$1\r\nx\r\n", 15, false, false, "unexpected form" },
		{ "*0\r\n", 4, false, false, "unexpected form" },
		{ "*-1\r\n", 5, false, false, "unexpected form" },
		{ "*2\r\n*0\r\n*0\r\n", 12, false, false, "unexpected form" },
		{ "*4\r\n:1\r\n:1\r\n:1\r\n:1\r\n", 20, false, false, "unexpected form" },
		{ ":0\r\n", 4, false, false, "fencing tokens" },
		{ "$99999999999999999999\r\n", 23, false, false, "" },
		{ "-\r\n", 3, false, false, "Redis at" },
		{ "-NOSCRIPT\r\n", 11, false, false, "no answer within" },
		{ "-NOSCRIPT\r\n-NOSCRIPT\r\n", 22, false, false, "NOSCRIPT" },
		{ "", 1, false, false, "Protocol error" },
	};

	for (size_t i = 0; i < sizeof peers / sizeof *peers; i++) {
		char dsn[128];
		int port;
		pid_t pid = odd_peer(&port, peers[i].answer, peers[i].len, peers[i].closes);
		snprintf(dsn, sizeof dsn, "redis://%s127.0.0.1:%d%s", peers[i].login ? ":" SECRET "@" : "", port,
			!strcmp(peers[i].word, "no connection within") ? "?connect_timeout=0.2"
				: !strcmp(peers[i].word, "no answer within") ? "?read_timeout=0.2"
															 : "");
		client c = client_at(dsn);
		dlock_claim *claim = claim_on(&c, "odd", 60000);
		dlock_nanos start = dlock_now();
		check(acquire(&c, claim, 0) == DLOCK_CONNECTION && explains(&c, "127.0.0.1", peers[i].word), "odd peer %zu: %s",
			i, c.error.message);
		check(dlock_now() - start < SOON && left_ms(claim) == 0, "the attempt ends in time");
		dlock_claim_free(claim);
		client_free(&c);
		end_child(pid);
	}
}

/* A reply that cannot answer GET is not a vote: neither for a holder nor for a free lock. */
static void test_odd_holder(void)
{
	char dsn[128];
	const char *dsns[] = { dsn };
	int port;
	bool locked = false;
	pid_t pid = odd_peer(&port, ":0\r\n", 4, false);

	snprintf(dsn, sizeof dsn, "redis://127.0.0.1:%d", port);
	client c = client_quorum_at(dsns, 1);
	check(c.backend->ops->locked(c.backend, "odd", 3, &locked, &c.error) == DLOCK_QUORUM && !locked
		&& explains(&c, "127.0.0.1", "unexpected form"), "a number as holder: %s", c.error.message);
	client_free(&c);
	end_child(pid);
}

static int listen_at_path(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(address.sun_path, sizeof address.sun_path, "%.100s", path);
	unlink(path);
	if (fd < 0 || bind(fd, (struct sockaddr *) &address, sizeof address) < 0 || listen(fd, 4) < 0) {
		perror("listen");
		exit(2);
	}
	return fd;
}

static dlock_call *echo(void)
{
	dlock_arg args[] = { DLOCK_ARG("ECHO"), DLOCK_ARG("x") };

	return dlock_call_command(args, 2);
}

/* Accepts the connection, sends the text and closes it, before the client has written anything. Afterwards no peer
 * listens any more. */
static void answer_and_leave(int listener, const char *text)
{
	int fd = accept(listener, NULL, NULL);

	check(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t) strlen(text), "the peer has sent the text");
	close(fd);
	close(listener);
}

/* The write fails, but the client can still read what the server sent: why it closed the connection. */
static void test_closed_before_write(void)
{
	static const struct {
		bool unix_socket, needs_uptime;
		const char *login, *path, *text, *word;
	} ways[] = {
		{ false, false, "", "", "-ERR max number of clients reached\r\n", "ERR max number of clients" },
		{ false, true, "", "", "-ERR max number of clients reached\r\n", "ERR max number of clients" },
		{ false, true, ":" SECRET "@", "/1", "-ERR max number of clients reached\r\n", "ERR max number of clients" },
		{ true, false, "", "", "-ERR max number of clients reached\r\n", "ERR max number of clients" },
		{ true, true, "", "", "-ERR max number of clients reached\r\n", "ERR max number of clients" },
		{ true, true, ":" SECRET "@", "", "-ERR max number of clients reached\r\n", "ERR max number of clients" },
		{ true, false, ":" SECRET "@", "", "-DENIED for a reason\r\n", "DENIED for a reason" },
	};

	for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
		char path[sizeof server.socket + 8], dsn[sizeof path + 32];
		int port = 0;
		snprintf(path, sizeof path, "%s-peer", server.socket);
		int listener = ways[i].unix_socket ? listen_at_path(path) : listen_anywhere(&port, 4);
		if (ways[i].unix_socket) {
			snprintf(dsn, sizeof dsn, "unix://%s%s", ways[i].login, path);
		} else {
			snprintf(dsn, sizeof dsn, "redis://%s127.0.0.1:%d%s", ways[i].login, port, ways[i].path);
		}
		dlock_endpoint *at = test_server_at(dsn);
		dlock_conn *conn = dlock_conn_new(at);
		dlock_endpoint_release(at);
		dlock_call *call = echo();
		call->needs_uptime = ways[i].needs_uptime;
		dlock_conn_send(conn, call);
		answer_and_leave(listener, ways[i].text);
		conn_await(conn, call);
		check(call->state == DLOCK_CALL_FAILED && strstr(conn->error.message, ways[i].word), "%zu: %s", i,
			conn->error.message);
		check(!call->sent && conn->generation == 1, "the call was not executed, and is not sent again");
		dlock_call_release(call);
		dlock_conn_free(conn);
		unlink(path);
	}
}

/* A call whose answer has arrived is not sent again, although the next call cannot be written any more. */
static void test_answered_before_close(void)
{
	char path[sizeof server.socket + 8], dsn[sizeof path + 32], heard[64];

	snprintf(path, sizeof path, "%s-peer", server.socket);
	snprintf(dsn, sizeof dsn, "unix://%s", path);
	int listener = listen_at_path(path);
	dlock_endpoint *at = test_server_at(dsn);
	dlock_conn *conn = dlock_conn_new(at);
	dlock_endpoint_release(at);
	dlock_call *first = echo(), *second = echo();

	dlock_conn_send(conn, first);
	int fd = accept(listener, NULL, NULL);
	dlock_conn_advance(conn);
	check(read(fd, heard, sizeof heard) > 0 && write(fd, "$1\r\nx\r\n", 7) == 7, "the peer has answered");
	close(fd);
	close(listener);
	dlock_conn_cork(conn);
	dlock_conn_send(conn, second);
	dlock_conn_uncork(conn);
	check(first->state == DLOCK_CALL_ANSWERED && !first->repeated, "the answer is read");
	check(second->state == DLOCK_CALL_FAILED && second->repeated, "the other call needs a new connection: %s",
		conn->error.message);
	dlock_call_release(first);
	dlock_call_release(second);
	dlock_conn_free(conn);
	unlink(path);
}

/* A peer in this process: the test decides what it sends, and when. */
typedef struct {
	char path[sizeof server.socket + 8];
	dlock_conn *conn;
	int fd;
} told_peer;

static void begin_told_peer(told_peer *peer)
{
	char dsn[sizeof peer->path + 32], heard[64];
	dlock_call *call = echo();

	snprintf(peer->path, sizeof peer->path, "%s-peer", server.socket);
	snprintf(dsn, sizeof dsn, "unix://%s", peer->path);
	int listener = listen_at_path(peer->path);
	dlock_endpoint *at = test_server_at(dsn);
	peer->conn = dlock_conn_new(at);
	dlock_endpoint_release(at);
	dlock_conn_send(peer->conn, call);
	peer->fd = accept(listener, NULL, NULL);
	dlock_conn_advance(peer->conn);
	check(read(peer->fd, heard, sizeof heard) > 0 && write(peer->fd, "$1\r\nx\r\n", 7) == 7, "the peer answers");
	dlock_conn_advance(peer->conn);
	check(call->state == DLOCK_CALL_ANSWERED, "the connection reads the answer");
	dlock_call_release(call);
	close(listener);
}

static void end_told_peer(told_peer *peer)
{
	dlock_conn_free(peer->conn);
	close(peer->fd);
	unlink(peer->path);
}

/* The process stops between two calls that are written together: the server does not owe their replies yet. */
static void test_stopped_while_collecting(void)
{
	told_peer peer;
	dlock_call *calls[3] = { echo(), echo(), echo() };

	begin_told_peer(&peer);
	dlock_conn_cork(peer.conn);
	dlock_conn_send(peer.conn, calls[0]);
	dlock_clock_travel(2 * READ_TIMEOUT);
	dlock_conn_send(peer.conn, calls[1]);
	check(peer.conn->generation == 1 && !calls[0]->repeated, "the connection is kept: %s", peer.conn->error.message);
	dlock_clock_travel(2 * READ_TIMEOUT);
	dlock_conn_uncork(peer.conn);
	dlock_conn_expire(peer.conn);
	check(calls[0]->state == DLOCK_CALL_PENDING && calls[1]->state == DLOCK_CALL_PENDING,
		"the read timeout starts when they are written");
	dlock_conn_send(peer.conn, calls[2]);
	check(peer.conn->generation == 1, "also for the next call: %s", peer.conn->error.message);
	check(write(peer.fd, "$1\r\na\r\n$1\r\nb\r\n$1\r\nc\r\n", 21) == 21, "the peer answers");
	dlock_conn_advance(peer.conn);
	for (int i = 0; i < 3; i++) {
		check(calls[i]->state == DLOCK_CALL_ANSWERED && *calls[i]->reply->str == 'a' + i, "%d has its answer", i);
		dlock_call_release(calls[i]);
	}
	end_told_peer(&peer);
}

/* The process stops between reading replies and reading the clock. */
static void test_answered_while_stopped(void)
{
	for (int answered = 1; answered >= 0; answered--) {
		told_peer peer;
		dlock_call *first = echo(), *second = echo(), *third = echo();
		begin_told_peer(&peer);
		dlock_conn_send(peer.conn, first);
		dlock_conn_cork(peer.conn);
		dlock_conn_send(peer.conn, second);
		check(!answered || write(peer.fd, "$1\r\nx\r\n", 7) == 7, "the peer answers");
		dlock_clock_travel(2 * READ_TIMEOUT);
		dlock_conn_send(peer.conn, third);
		check((peer.conn->state == DLOCK_CONN_READY) == answered && first->repeated == !answered,
			"a connection over which %s is %s", answered ? "the answer came in time" : "no answer came",
			answered ? "kept" : "replaced");
		check(!answered || first->state == DLOCK_CALL_ANSWERED, "the answer is read");
		dlock_conn_uncork(peer.conn);
		dlock_call_release(first);
		dlock_call_release(second);
		dlock_call_release(third);
		end_told_peer(&peer);
	}
}

/* A child that answers a request with `word` in it (NULL: the first one) by `head` and then `body` without end, as fast
 * as the client reads. It refuses all other requests, as if another client held the lock. */
static pid_t flooding_peer(int *port, const char *word, const char *head, const char *body)
{
	int listener = listen_anywhere(port, 16);
	pid_t pid = fork_child();

	while (pid == 0) {
		char heard[4096];
		int fd = accept(listener, NULL, NULL);
		if (fork_child() != 0) {
			close(fd);
			continue;
		}
		for (;;) {
			ssize_t len = read(fd, heard, sizeof heard);
			if (len <= 0) {
				_exit(0);
			}
			if (!word || memmem(heard, (size_t) len, word, strlen(word))) {
				break;
			}
			/* `leave` has eight words. An attempt to publish has four, just ahead of another request. */
			for (const char *request = heard; request;
				 request = memmem(request + 1, (size_t) (heard + len - request - 1), "\r\n*", 3)) {
				const char *words = request + strcspn(request, "*") + 1;
				const char *answer = *words == '8' || *words == '4' ? ":0\r\n"
																	: "*4\r\n:60000\r\n:0\r\n$1\r\n1\r\n:1\r\n";
				if (write(fd, answer, strlen(answer)) < 0) {
					_exit(0);
				}
			}
		}
		static char flood[1 << 16];
		size_t filled = 0, body_len = strlen(body);
		while (filled + body_len <= sizeof flood) {
			memcpy(flood + filled, body, body_len);
			filled += body_len;
		}
		for (ssize_t sent = write(fd, head, strlen(head)); sent >= 0; sent = write(fd, flood, filled)) {
		}
		_exit(0);
	}
	close(listener);
	return pid;
}

static client client_of_peer(int port)
{
	char dsn[128];

	snprintf(dsn, sizeof dsn, "redis://127.0.0.1:%d", port);
	return client_at(dsn);
}

/* A reply that never ends is refused long before it fills the memory, and before the read timeout. */
static void test_endless_answers(void)
{
	static const struct {
		const char *head, *body;
	} answers[] = {
		{ "$1000000000\r\n", "x" }, { "*1000000\r\n", ":1\r\n" }, { "*1000000\r\n", "$1000\r\n" }, { "-ERR ", "x" },
		{ "*2\r\n*1000000\r\n", "$3\r\nabc\r\n" }, { "*2147483647\r\n", ":1\r\n" }, { "*262000\r\n", "*262000\r\n" },
	};
	static const char *const words[] = { "reply exceeds 1 MiB", "more elements", "more elements", "reply exceeds 1 MiB",
		"more elements", "more elements", "more elements" };

	for (size_t i = 0; i < sizeof answers / sizeof *answers; i++) {
		int port;
		pid_t pid = flooding_peer(&port, NULL, answers[i].head, answers[i].body);
		client c = client_of_peer(port);
		dlock_claim *claim = claim_on(&c, "endless", 60000);
		dlock_nanos start = dlock_now();
		check(acquire(&c, claim, 0) == DLOCK_CONNECTION && explains(&c, "127.0.0.1", words[i]), "%zu: %s", i,
			c.error.message);
		check(dlock_now() - start < SOON, "at once");
		dlock_claim_free(claim);
		client_free(&c);
		end_child(pid);
	}
}

/* A subscription that fails, but is not refused for good, is an error. Its message does not repeat a password. */
static void test_failed_subscription(void)
{
	int port;
	pid_t pid = flooding_peer(&port, "SUBSCRIBE", "-LOADING with s3cret\r\n", ":1\r\n");
	char dsn[128];

	snprintf(dsn, sizeof dsn, "redis://:s3cret@127.0.0.1:%d", port);
	client c = client_at(dsn);
	dlock_claim *claim = claim_on(&c, "loading", 60000);
	check(acquire(&c, claim, 60000) == DLOCK_CONNECTION && explains(&c, "127.0.0.1", "contains the password"), "%s",
		c.error.message);
	check(!strstr(c.error.message, "s3cret"), "the password is not repeated");
	dlock_claim_free(claim);
	client_free(&c);
	end_child(pid);
}

/* Endless messages must not keep a waiter beyond its timeout. */
static void test_flooded_inbox(void)
{
	static const char *const messages[] = { "*3\r\n$7\r\nmessage\r\n$1\r\nx\r\n$1\r\nx\r\n", ":1\r\n", "*0\r\n" };

	for (size_t i = 0; i < sizeof messages / sizeof *messages; i++) {
		int port;
		pid_t pid = flooding_peer(&port, "SUBSCRIBE", "*3\r\n$9\r\nsubscribe\r\n$1\r\nx\r\n:1\r\n", messages[i]);
		client c = client_of_peer(port);
		dlock_claim *claim = claim_on(&c, "flooded", 60000);
		dlock_nanos start = dlock_now();
		check(acquire(&c, claim, 300) == DLOCK_TIMEOUT, "the attempt times out (%s)", c.error.message);
		check(dlock_now() - start < SOON, "the waiter notices in time (%lld ms)",
			(long long) ((dlock_now() - start) / DLOCK_MS));
		dlock_claim_free(claim);
		client_free(&c);
		end_child(pid);
	}
}

/* ---- a scan without end ---- */

/* Answers a hundred SCANs with no key and the cursor 1. A minute passes before each answer. */
static void *answer_scans(void *listener)
{
	static const char answer[] = "*2\r\n$1\r\n1\r\n*0\r\n";
	char bytes[1024];
	int fd = accept(*(int *) listener, NULL, NULL);

	for (int i = 0; i < 100 && recv(fd, bytes, sizeof bytes, 0) > 0; i++) {
		dlock_clock_travel(60 * DLOCK_SECOND);
		send(fd, answer, sizeof answer - 1, MSG_NOSIGNAL);
	}
	close(*(int *) listener);
	close(fd);
	return NULL;
}

static void test_endless_scan(void)
{
	char dsn[96];
	int port, listener = listen_anywhere(&port, 1);
	dlock_listing listing = { NULL };
	pthread_t thread;

	snprintf(dsn, sizeof dsn, "redis://127.0.0.1:%d?read_timeout=3600&connect_timeout=3600", port);
	client c = client_at(dsn);
	pthread_create(&thread, NULL, answer_scans, &listener);
	check(c.backend->ops->list_all(c.backend, 10, &listing, &c.error) == DLOCK_CONNECTION
			&& explains(&c, "127.0.0.1", "within 10 minutes"),
		"a list of all keys ends: %s", c.error.message);
	dlock_listing_end(&listing);
	client_free(&c);
	pthread_join(thread, NULL);
}

int main(int argc, char **argv)
{
	static const tap_test tests[] = {
		TEST(refusals), TEST(busy_script), TEST(cluster_node), TEST(nobody_there), TEST(odd_peers), TEST(odd_holder),
		TEST(closed_before_write), TEST(answered_before_close), TEST(stopped_while_collecting),
		TEST(answered_while_stopped), TEST(endless_answers), TEST(failed_subscription), TEST(flooded_inbox),
		TEST(endless_scan),
	};

	return tap_main(argc, argv, tests, sizeof tests / sizeof *tests, &one_server);
}
