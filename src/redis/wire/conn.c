#include "conn.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../base/wait.h"
#include "tls.h"

/* A server that owes this many replies, the oldest for this long, counts as stuck until it answers. */
#define STUCK_CALLS 64
#define STUCK_TIME (50 * DLOCK_MS)

/* Far more than any reply needs. An incomplete reply is kept in memory that PHP's limit does not count. */
#define LONGEST_REPLY (1024 * 1024)
/* An element takes four bytes at least. */
#define MOST_ELEMENTS (LONGEST_REPLY / 4)

/* ---- opening and closing ---- */

dlock_conn *dlock_conn_new(dlock_server *server)
{
	dlock_conn *conn = calloc(1, sizeof *conn);

	if (conn) {
		conn->server = dlock_server_retain(server);
		conn->timeout_cap = DLOCK_FOREVER;
		conn->process = dlock_process_current();
		dlock_handshake_reset(&conn->handshake);
	}
	return conn;
}

static void disconnect(dlock_conn *conn)
{
	dlock_dial_end(&conn->dial);
	if (conn->redis) {
		redisFree(conn->redis); /* closes the descriptor; nothing is written to it */
		conn->redis = NULL;
	}
	dlock_handshake_reset(&conn->handshake);
	conn->state = DLOCK_CONN_CLOSED;
	conn->unsent = false;
	conn->cannot_write = false;
	conn->partial = 0;
	conn->heard = false;
	conn->fence = 0;
}

void dlock_conn_free(dlock_conn *conn)
{
	disconnect(conn);
	dlock_call_queue_dispose(&conn->calls);
	dlock_server_release(conn->server);
	free(conn);
}

void dlock_conn_close(dlock_conn *conn)
{
	disconnect(conn);
	dlock_call_queue_clear(&conn->calls);
}

void dlock_conn_expect(dlock_conn *conn, dlock_server *server)
{
	const char *id = server->node_id, *expected = conn->server->node_id;

	if (!id || (expected && !strcmp(id, expected))) {
		return;
	}
	if (expected) {
		dlock_conn_close(conn);
	}
	dlock_server_release(conn->server);
	conn->server = dlock_server_retain(server);
}

/* After a fork: closes the child's copy of the descriptor and fails the child's copies of the parent's calls. */
static void discard_inherited(dlock_conn *conn)
{
	if (conn->process != dlock_process_current()) {
		disconnect(conn);
		dlock_call_queue_clear(&conn->calls);
		conn->process = dlock_process_current();
	}
}

/* Ends the connection, and leaves the calls that may be sent over the next one. */
static void end_connection(dlock_conn *conn, bool resend)
{
	if (conn->redis && conn->process == dlock_process_current()) {
		dlock_dial_discard_unsent(conn->redis->fd);
	}
	disconnect(conn);
	dlock_call_queue_keep(&conn->calls, resend);
}

static void fail(dlock_conn *conn, const char *what)
{
	dlock_fail(&conn->error, DLOCK_CONNECTION, "Redis at %s: %s", conn->server->label, what);
	end_connection(conn, false);
}

static dlock_nanos shorter(dlock_nanos a, dlock_nanos b)
{
	return a < b ? a : b;
}

static dlock_nanos connect_timeout(const dlock_conn *conn)
{
	return shorter(conn->server->connect_timeout, conn->timeout_cap);
}

static dlock_nanos read_timeout(const dlock_conn *conn)
{
	return shorter(conn->server->read_timeout, conn->timeout_cap);
}

static bool open_connection(dlock_conn *conn)
{
	if (dlock_dial_begin(&conn->dial, conn->server, connect_timeout(conn)) == DLOCK_DIAL_FAILED) {
		fail(conn, conn->dial.obstacle);
		return false;
	}
	conn->state = DLOCK_CONN_CONNECTING;
	conn->connect_deadline = conn->dial.deadline;
	conn->generation++;
	conn->fence = 0;
	conn->refused = false;
	return true;
}

/* Is this generation of the connection still open? A reply may end it, and even begin the next. */
static bool is_open(const dlock_conn *conn, unsigned long generation)
{
	return conn->generation == generation && conn->state >= DLOCK_CONN_HANDSHAKE;
}

/* The peer or the network ended the connection. One that was ready is replaced, once; a new one is not. */
static void lost(dlock_conn *conn, const char *what)
{
	bool resend = conn->state == DLOCK_CONN_READY;

	dlock_fail(&conn->error, DLOCK_CONNECTION, "Redis at %s: %s", conn->server->label, what);
	end_connection(conn, resend);
	if (resend && conn->calls.count > 0 && !conn->peeking) {
		open_connection(conn);
	}
}

/* ---- sending ---- */

static bool append(dlock_conn *conn, dlock_call *call)
{
	if (call->script && call->script == conn->unknown) {
		dlock_call_use_source(call);
		conn->unknown = NULL;
	}
	call->sent_at = dlock_now();
	call->first_sent_at = call->sent ? call->first_sent_at : call->sent_at;
	call->sent = true;
	call->generation = conn->generation;
	call->sequence = ++conn->sequence;
	conn->unsent = true;
	return redisAppendCommandArgv(conn->redis, call->words, call->word, call->word_len) == REDIS_OK;
}

static void drain(dlock_conn *conn);

/* Once the peer has closed, writing fails. What it sent before is still read: it may answer calls, or say why it
 * closed. Not over TLS: OpenSSL must not be used after an error. */
static void write_failed(dlock_conn *conn)
{
	unsigned long generation = conn->generation;
	char reason[200];

	dlock_tls_explain(conn->handshake.tls, conn->redis->errstr, reason, sizeof reason);
	if (!conn->handshake.tls) {
		conn->cannot_write = true;
		conn->redis->err = 0; /* after an error, hiredis reads no more */
		drain(conn);
	}
	if (is_open(conn, generation)) {
		lost(conn, reason);
	}
}

static void flush(dlock_conn *conn)
{
	int done = 0;

	if (conn->unsent && !conn->cannot_write) {
		dlock_tls_prepare(conn->handshake.tls);
		if (redisBufferWrite(conn->redis, &done) != REDIS_OK) {
			write_failed(conn);
			return;
		}
		conn->unsent = !done;
		if (!conn->redis->obuf) { /* hiredis before 1.0 had no memory for the next one, and would look into it */
			lost(conn, "out of memory");
		}
	}
}

/* Sends the calls that were queued meanwhile; cancelled ones fail instead. */
static void become_ready(dlock_conn *conn)
{
	conn->state = DLOCK_CONN_READY;
	for (size_t waiting = conn->calls.count; waiting > 0; waiting--) {
		dlock_call *call = dlock_call_queue_shift(&conn->calls);
		if (call->wanted && append(conn, call)) {
			dlock_call_queue_requeue(&conn->calls, call);
		} else {
			dlock_call_fail(call);
			dlock_call_release(call);
		}
	}
	flush(conn);
}

static bool is_handshake_over(const dlock_conn *conn)
{
	return conn->state == DLOCK_CONN_HANDSHAKE && dlock_handshake_is_over(&conn->handshake);
}

/* For a call that needs it and was not sent yet. Only a ready connection has sent the calls in its queue. */
static bool ask_uptime_for(dlock_conn *conn, const dlock_call *call)
{
	if (!call->needs_uptime || !call->wanted) {
		return true;
	}
	conn->unsent = true;
	return dlock_handshake_ask_uptime(
		&conn->handshake, conn->redis, conn->state == DLOCK_CONN_READY ? conn->calls.count : 0);
}

static void begin_handshake(dlock_conn *conn)
{
	dlock_error error;

	if (dlock_handshake_begin(&conn->handshake, conn->redis, conn->server, &error) != DLOCK_OK) {
		fail(conn, error.message);
		return;
	}
	conn->state = DLOCK_CONN_HANDSHAKE;
	conn->unsent = true;
	/* A server that has accepted gets its full time, whatever the cap: another connection would not be faster. */
	conn->connect_deadline += conn->server->connect_timeout - connect_timeout(conn);
	for (size_t i = 0; i < conn->calls.count; i++) {
		if (!ask_uptime_for(conn, dlock_call_queue_at(&conn->calls, i))) {
			fail(conn, "out of memory");
			return;
		}
	}
	if (is_handshake_over(conn)) {
		become_ready(conn);
	} else {
		flush(conn);
	}
}

/* ---- receiving ---- */

static void take_handshake(dlock_conn *conn, redisReply *reply)
{
	dlock_error error;
	dlock_status status = dlock_handshake_take(&conn->handshake, reply, conn->server, &error);

	freeReplyObject(reply);
	if (status != DLOCK_OK) {
		conn->refused = status != DLOCK_LOST;
		fail(conn, error.message);
	} else if (is_handshake_over(conn)) {
		become_ready(conn);
	}
}

/* At its limit of clients, a server says so without being asked, and closes. */
static bool is_turned_away(const redisReply *reply)
{
	return reply->type == REDIS_REPLY_ERROR && !strncmp(reply->str, "ERR max number of clients", 25);
}

static void turned_away(dlock_conn *conn, redisReply *reply)
{
	for (size_t i = 0; i < conn->calls.count; i++) { /* it has read nothing: nothing needs to be undone */
		dlock_call *call = dlock_call_queue_at(&conn->calls, i);
		call->sent = call->repeated;
	}
	freeReplyObject(reply);
	fail(conn, "ERR max number of clients reached; see maxclients in its configuration");
}

/* The oldest call's. A script that the server does not know is sent as text, where that call may be sent again. */
static void take_answer(dlock_conn *conn, redisReply *reply)
{
	dlock_call *call = dlock_call_queue_shift(&conn->calls);
	bool is_unknown = call->script && reply->type == REDIS_REPLY_ERROR && !strncmp(reply->str, "NOSCRIPT", 8);

	dlock_handshake_pass(&conn->handshake);
	if (is_unknown && call->wanted && !call->once) {
		freeReplyObject(reply);
		dlock_call_use_source(call);
		if (append(conn, call)) {
			dlock_call_queue_requeue(&conn->calls, call);
			return;
		}
		dlock_call_fail(call);
	} else {
		conn->unknown = is_unknown ? call->script : conn->unknown;
		call->server_started = conn->handshake.uptime.started;
		dlock_call_answer(call, reply);
	}
	dlock_call_release(call);
}

static void take_reply(dlock_conn *conn, redisReply *reply)
{
	if (!conn->heard && is_turned_away(reply)) {
		turned_away(conn, reply);
		return;
	}
	conn->heard = true;
	if (dlock_handshake_is_next(&conn->handshake)) {
		take_handshake(conn, reply);
	} else if (conn->state == DLOCK_CONN_READY && conn->calls.count > 0) {
		take_answer(conn, reply);
	} else if (conn->state == DLOCK_CONN_READY && conn->on_push) {
		conn->on_push(conn->push_context, reply);
		freeReplyObject(reply);
	} else {
		freeReplyObject(reply);
		fail(conn, "sent a reply that belongs to no request");
	}
}

/* Reads what is there. With TLS, too, poll() reports whatever this leaves: OpenSSL takes one record at a time off the
 * socket, and hiredis asks for 16 KiB, the most that a record can hold. */
static void receive(dlock_conn *conn)
{
	unsigned long generation = conn->generation;
	size_t before = conn->redis->reader->len;
	void *reply;

	dlock_tls_prepare(conn->handshake.tls);
	if (redisBufferRead(conn->redis) != REDIS_OK) {
		char reason[200];
		dlock_tls_explain(conn->handshake.tls, conn->redis->errstr, reason, sizeof reason);
		lost(conn, reason);
		return;
	}
	conn->partial += conn->redis->reader->len - before;
	do {
		if (redisGetReplyFromReader(conn->redis, &reply) != REDIS_OK) {
			fail(conn,
				conn->announced > MOST_ELEMENTS ? "a reply with more elements than any has" : conn->redis->errstr);
			return;
		}
		if (reply) {
			conn->partial = conn->announced = 0;
			take_reply(conn, reply);
		} else if (conn->partial > LONGEST_REPLY) {
			fail(conn, "reply exceeds 1 MiB");
			return;
		}
	} while (reply && is_open(conn, generation));
	if (is_open(conn, generation) && is_handshake_over(conn)) {
		become_ready(conn);
	}
	if (is_open(conn, generation)) {
		flush(conn);
	}
}

/* The client library allocates a pointer for each element that an array's head announces, before any comes: 16 GiB for
 * 13 bytes. */
static void *limited_array(const redisReadTask *task, dlock_element_count count)
{
	dlock_conn *conn = task->privdata;

	conn->announced += (size_t) count;
	return conn->announced > MOST_ELEMENTS ? NULL : conn->make_array(task, count);
}

static void limit_arrays(dlock_conn *conn)
{
	redisReader *reader = conn->redis->reader;

	conn->announced = 0;
	conn->make = *reader->fn;
	conn->make_array = conn->make.createArray;
	conn->make.createArray = limited_array;
	reader->fn = &conn->make;
	reader->privdata = conn;
}

/* Gives the socket to the client library. */
static bool adopt(dlock_conn *conn, int fd)
{
	conn->redis = redisConnectFd((int) fd);
	if (!conn->redis) {
		close(fd);
		fail(conn, "out of memory");
		return false;
	}
	conn->redis->flags &= ~REDIS_BLOCK; /* as the socket is */
	limit_arrays(conn);
	return true;
}

/* Reads what has arrived. Each call has at most one read for its reply, and so has the handshake's INFO: so it ends,
 * whatever is sent. */
static void drain(dlock_conn *conn)
{
	unsigned long generation = conn->generation;

	for (size_t most = conn->calls.count + 2;
		 most > 0 && is_open(conn, generation) && dlock_wait_is_ready(conn->redis->fd, POLLIN); most--) {
		receive(conn);
	}
}

static void go_on_connecting(dlock_conn *conn)
{
	switch (dlock_dial_advance(&conn->dial)) {
	case DLOCK_DIAL_GOES_ON:
		break;
	case DLOCK_DIAL_FAILED:
		fail(conn, conn->dial.obstacle);
		break;
	case DLOCK_DIAL_CONNECTED:
		if (adopt(conn, dlock_dial_take(&conn->dial))) {
			dlock_dial_end(&conn->dial); /* only dlock_dial_check_moved() may be called for it now */
			begin_handshake(conn);
		}
	}
}

void dlock_conn_advance(dlock_conn *conn)
{
	switch (conn->state) {
	case DLOCK_CONN_CLOSED:
		break;
	case DLOCK_CONN_CONNECTING:
		go_on_connecting(conn);
		break;
	default:
		flush(conn);
		if (conn->state >= DLOCK_CONN_HANDSHAKE) {
			receive(conn);
		}
	}
}

void dlock_conn_peek(dlock_conn *conn)
{
	char byte;

	/* An end of file is left to the next send, which can reconnect; that of TLS shows only in what is read. */
	if (conn->process == dlock_process_current() && conn->state == DLOCK_CONN_READY
			&& recv(conn->redis->fd, &byte, 1, MSG_PEEK) > 0) {
		conn->peeking = true;
		receive(conn);
		conn->peeking = false;
	}
}

/* ---- time ---- */

static bool owes_since(const dlock_conn *conn, dlock_nanos time)
{
	return conn->calls.count > 0 && dlock_now() >= dlock_after(dlock_call_queue_at(&conn->calls, 0)->sent_at, time);
}

dlock_nanos dlock_conn_timer(const dlock_conn *conn)
{
	if (conn->state == DLOCK_CONN_CONNECTING) {
		return shorter(conn->connect_deadline, conn->dial.step);
	}
	if (conn->state == DLOCK_CONN_HANDSHAKE) {
		return conn->connect_deadline;
	}
	for (size_t i = 0; i < conn->calls.count; i++) {
		const dlock_call *call = dlock_call_queue_at(&conn->calls, i);
		if (call->state == DLOCK_CALL_PENDING && call->wanted && !call->background) {
			return dlock_after(call->sent_at, read_timeout(conn));
		}
	}
	return DLOCK_FOREVER;
}

static void describe_timeout(dlock_conn *conn, const char *what, dlock_nanos timeout)
{
	dlock_fail(&conn->error, DLOCK_CONNECTION, "Redis at %s: %s within %.3g s", conn->server->label, what,
		(double) timeout / DLOCK_SECOND);
}

static void not_connected_in_time(dlock_conn *conn)
{
	bool accepted = conn->state == DLOCK_CONN_HANDSHAKE;
	const char *what = accepted ? "no connection" : dlock_dial_delay(&conn->dial);

	if (!what) {
		fail(conn, conn->dial.obstacle);
		return;
	}
	describe_timeout(conn, dlock_tls_handshaking(conn->handshake.tls) ? "no TLS" : what,
		accepted ? conn->server->connect_timeout : connect_timeout(conn));
	end_connection(conn, false);
}

void dlock_conn_expire(dlock_conn *conn)
{
	if (conn->process != dlock_process_current() || dlock_now() < dlock_conn_timer(conn)) {
		return;
	}
	if (conn->state == DLOCK_CONN_CONNECTING) {
		go_on_connecting(conn);
	} else {
		drain(conn); /* a process that was paused still finds replies that came in time */
	}
	if (dlock_now() < dlock_conn_timer(conn)) {
		return;
	}
	if (conn->state != DLOCK_CONN_READY) {
		not_connected_in_time(conn);
		return;
	}
	/* Their replies may still come, so the calls stay in the queue. */
	describe_timeout(conn, "no answer", read_timeout(conn));
	for (size_t i = 0; i < conn->calls.count; i++) {
		dlock_call *call = dlock_call_queue_at(&conn->calls, i);
		if (!call->background && dlock_now() >= dlock_after(call->sent_at, read_timeout(conn))) {
			dlock_call_fail(call);
		}
	}
}

/* ---- using it ---- */

bool dlock_conn_send(dlock_conn *conn, dlock_call *call)
{
	discard_inherited(conn);
	if (conn->state == DLOCK_CONN_READY) {
		if (!conn->corked || conn->calls.count == 0) {
			receive(conn); /* detects, without a round trip, that it died while idle */
		}
	} else if (conn->state != DLOCK_CONN_CLOSED) {
		dlock_conn_expire(conn);
	}
	if (conn->state == DLOCK_CONN_READY && !call->background && owes_since(conn, read_timeout(conn))) {
		lost(conn, "has not answered earlier requests in time");
	}
	if (conn->state == DLOCK_CONN_READY && conn->calls.count == 0 && dlock_dial_check_moved(&conn->dial)) {
		disconnect(conn);
	}
	if (conn->state == DLOCK_CONN_CLOSED && !open_connection(conn)) {
		dlock_call_fail(call);
		return false;
	}
	if (conn->state >= DLOCK_CONN_HANDSHAKE && !ask_uptime_for(conn, call)) {
		fail(conn, "out of memory");
		dlock_call_fail(call);
		return false;
	}
	if (!dlock_call_queue_push(&conn->calls, call)) {
		dlock_fail(&conn->error, DLOCK_FAILED, "Out of memory");
		dlock_call_fail(call);
		return false;
	}
	if (conn->state == DLOCK_CONN_READY) {
		if (!append(conn, call)) {
			fail(conn, "out of memory");
			return false;
		}
		if (!conn->corked) {
			flush(conn);
		}
	}
	return call->state == DLOCK_CALL_PENDING;
}

void dlock_conn_send_background(dlock_conn *conn, dlock_call *call, dlock_nanos useful_until)
{
	if (call) {
		dlock_call_use_source(call);
		dlock_call_to_background(call, useful_until);
		dlock_conn_send(conn, call);
		dlock_call_release(call);
	}
}

void dlock_conn_cork(dlock_conn *conn)
{
	conn->corked = true;
}

void dlock_conn_uncork(dlock_conn *conn)
{
	conn->corked = false;
	if (conn->state == DLOCK_CONN_READY && conn->process == dlock_process_current()) {
		flush(conn);
	}
}

bool dlock_conn_stuck(dlock_conn *conn)
{
	if (conn->process != dlock_process_current() || conn->state == DLOCK_CONN_CLOSED
		|| conn->calls.count < STUCK_CALLS) {
		return false;
	}
	if (conn->state == DLOCK_CONN_READY) {
		receive(conn);
	} else {
		dlock_conn_expire(conn);
	}
	if (conn->state == DLOCK_CONN_CLOSED || conn->calls.count < STUCK_CALLS) {
		return false;
	}
	if (conn->state == DLOCK_CONN_READY && (!owes_since(conn, STUCK_TIME) || owes_since(conn, read_timeout(conn)))) {
		return false;
	}
	dlock_fail(&conn->error, DLOCK_CONNECTION, "Redis at %s: has %zu unanswered requests", conn->server->label,
		conn->calls.count);
	return true;
}

bool dlock_conn_busy(const dlock_conn *conn)
{
	return conn->process == dlock_process_current() && conn->state != DLOCK_CONN_CLOSED && conn->calls.count > 0;
}

int dlock_conn_fd(const dlock_conn *conn)
{
	return conn->state == DLOCK_CONN_CONNECTING ? dlock_dial_fd(&conn->dial) : conn->redis ? conn->redis->fd : -1;
}

short dlock_conn_events(const dlock_conn *conn)
{
	switch (conn->state) {
	case DLOCK_CONN_CLOSED:
		return 0;
	case DLOCK_CONN_CONNECTING:
		return dlock_dial_events(&conn->dial);
	default:
		return (short) (conn->unsent && !dlock_tls_handshaking(conn->handshake.tls) ? POLLIN | POLLOUT : POLLIN);
	}
}
