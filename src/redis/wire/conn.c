/* Which calls survive which end of a connection:
 *
 *   The connection was ready, and the peer or the network ends it, or it has owed a reply for the read timeout:
 *     Calls that were sent for the first time survive. They are sent again over a new connection. The old one may have
 *     died while it was idle, and each command may be repeated (replace_connection()).
 *   The connection was not ready yet, the login is refused, or what the peer says cannot be read:
 *     No call survives (end_and_fail_calls()).
 *   The server has changed its address:
 *     The connection is replaced if no call is under way.
 *   A reply does not come in time:
 *     The calls fail, but stay in the queue: their replies may still come, and belong to no other call.
 *   dlock_conn_close(), or a fork, in the child:
 *     No call survives.
 *
 * Exceptions: background calls that are still useful survive all except the last. For the first time a new connection
 * is opened for them at once, later they wait for the next call. A call that is cancelled, or that may be sent only
 * once, survives none. If a connection ends with unsent calls, they are not sent later: dlock_channel_abort(). */

#include "conn.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../base/wait.h"

/* If a server owes this many replies, the oldest for this long, it counts as stuck until it answers. */
#define STUCK_CALLS 64
#define STUCK_TIME (50 * DLOCK_MS)

/* ---- opening and closing ---- */

static const dlock_source_ops source_ops;

dlock_conn *dlock_conn_new(dlock_endpoint *server)
{
	dlock_conn *conn = calloc(1, sizeof *conn);

	if (conn) {
		conn->source.ops = &source_ops;
		conn->server = dlock_endpoint_retain(server);
		conn->node = server->node_id ? dlock_endpoint_retain(server) : NULL;
		conn->timeout_cap = DLOCK_FOREVER;
		conn->channel.process = dlock_process_current();
		dlock_handshake_reset(&conn->handshake);
	}
	return conn;
}

/* The channel must be closed by now. */
static void forget_connection(dlock_conn *conn)
{
	dlock_resp_end(&conn->resp);
	dlock_handshake_reset(&conn->handshake);
	conn->state = DLOCK_CONN_CLOSED;
	conn->cannot_write = false;
	conn->heard = false;
	conn->fence = 0;
}

static void disconnect(dlock_conn *conn)
{
	dlock_channel_close(&conn->channel);
	forget_connection(conn);
}

void dlock_conn_free(dlock_conn *conn)
{
	disconnect(conn);
	dlock_call_release(conn->last);
	dlock_call_queue_dispose(&conn->calls);
	dlock_endpoint_release(conn->server);
	if (conn->node) {
		dlock_endpoint_release(conn->node);
	}
	free(conn);
}

void dlock_conn_close(dlock_conn *conn)
{
	disconnect(conn);
	dlock_call_queue_clear(&conn->calls);
	conn->source.news++;
}

void dlock_conn_expect(dlock_conn *conn, dlock_endpoint *server)
{
	const char *id = server->node_id;

	if (!id || (conn->node && !strcmp(id, conn->node->node_id))) {
		return;
	}
	if (conn->node) {
		dlock_conn_close(conn);
		dlock_endpoint_release(conn->node);
	}
	conn->node = dlock_endpoint_retain(server);
}

/* After a fork, closes the child's copy of the descriptor, and fails the child's copies of the parent's calls. */
static void discard_inherited(dlock_conn *conn)
{
	if (dlock_channel_is_inherited(&conn->channel)) {
		dlock_conn_close(conn);
	}
}

/* Returns whether a call is left that has lost its first connection. */
static bool end_connection(dlock_conn *conn, const char *why, bool resend)
{
	dlock_fail(&conn->error, DLOCK_CONNECTION, "Redis at %s: %s", conn->server->label, why);
	dlock_channel_abort(&conn->channel);
	forget_connection(conn);
	conn->source.news++;
	return dlock_call_queue_fail_others(&conn->calls, resend);
}

static void end_and_fail_calls(dlock_conn *conn, const char *why)
{
	end_connection(conn, why, false);
}

static dlock_nanos read_timeout(const dlock_conn *conn)
{
	return dlock_earlier(conn->server->read_timeout, conn->timeout_cap);
}

static bool open_connection(dlock_conn *conn)
{
	if (!dlock_channel_open(&conn->channel, conn->server, conn->timeout_cap)) {
		end_and_fail_calls(conn, conn->channel.problem);
		return false;
	}
	conn->state = DLOCK_CONN_CONNECTING;
	conn->generation++;
	conn->fence = 0;
	conn->refused = false;
	return true;
}

/* Is this generation of the connection still open? A reply may end it, and even begin the next one. */
static bool is_open(const dlock_conn *conn, unsigned long generation)
{
	return conn->generation == generation && conn->state >= DLOCK_CONN_HANDSHAKE;
}

/* The peer or the network has ended the connection. If it was ready, it is replaced, for calls that were sent for the
 * first time. A connection that was not ready is not replaced. So a proxy that accepts and then closes, because its
 * server is down, is not asked again and again without a pause. */
static void replace_connection(dlock_conn *conn, const char *why)
{
	bool resend = conn->state == DLOCK_CONN_READY;
	bool is_due = end_connection(conn, why, resend);

	if (resend && is_due && !conn->peeking) {
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
	call->owed_since = DLOCK_FOREVER;
	call->sent = true;
	call->generation = conn->generation;
	call->sequence = ++conn->sequence;
	return dlock_resp_append(&conn->channel, call->words, call->word, call->word_len);
}

static void drain(dlock_conn *conn);

/* The server owes the replies only from now on, because this process may have been stopped after it collected the
 * calls. */
static void note_written(dlock_conn *conn)
{
	dlock_nanos now = 0;

	for (size_t i = conn->calls.count; i > 0; i--) {
		dlock_call *call = dlock_call_queue_at(&conn->calls, i - 1);
		if (call->owed_since != DLOCK_FOREVER) {
			break;
		}
		now = now > 0 ? now : dlock_now();
		call->owed_since = now;
	}
}

static void flush(dlock_conn *conn)
{
	unsigned long generation = conn->generation;
	char problem[sizeof conn->channel.problem];

	if (conn->cannot_write || dlock_channel_flush(&conn->channel)) {
		note_written(conn);
		return;
	}
	/* The peer has closed. Bytes that it sent before may answer calls, or say why it closed. */
	strcpy(problem, conn->channel.problem);
	conn->cannot_write = true;
	drain(conn);
	if (is_open(conn, generation) && !conn->peeking) { /* after a peek, the loop still polls it, and reads the end */
		replace_connection(conn, problem);
	}
}

/* Sends the calls that were queued meanwhile, and fails cancelled ones. */
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

/* For a call that needs the uptime and was not sent yet. Only a ready connection has sent the calls in its queue. */
static bool ask_uptime_for(dlock_conn *conn, const dlock_call *call)
{
	if (!call->needs_uptime || !call->wanted) {
		return true;
	}
	return dlock_handshake_ask_uptime(
		&conn->handshake, &conn->channel, conn->state == DLOCK_CONN_READY ? conn->calls.count : 0);
}

static const dlock_endpoint *described(const dlock_conn *conn)
{
	return conn->node ? conn->node : conn->server;
}

static void receive(dlock_conn *conn);

/* The channel has just been opened. */
static void begin_handshake(dlock_conn *conn)
{
	unsigned long generation = conn->generation;
	bool has_memory = dlock_resp_begin(&conn->resp)
		&& dlock_handshake_begin(&conn->handshake, &conn->channel, described(conn));

	conn->state = DLOCK_CONN_HANDSHAKE;
	for (size_t i = 0; has_memory && i < conn->calls.count; i++) {
		has_memory = ask_uptime_for(conn, dlock_call_queue_at(&conn->calls, i));
	}
	if (!has_memory) {
		end_and_fail_calls(conn, "out of memory");
		return;
	}
	if (is_handshake_over(conn)) {
		become_ready(conn);
	} else {
		flush(conn);
	}
	if (is_open(conn, generation) && conn->channel.tls) {
		receive(conn); /* poll() does not tell of bytes that came with the end of the TLS handshake */
	}
}

/* ---- receiving ---- */

static void take_handshake(dlock_conn *conn, redisReply *reply)
{
	dlock_error error;
	dlock_status status = dlock_handshake_take(&conn->handshake, reply, described(conn), &error);

	freeReplyObject(reply);
	if (status != DLOCK_OK) {
		conn->refused = status != DLOCK_LOST;
		end_and_fail_calls(conn, error.message);
	} else if (is_handshake_over(conn)) {
		become_ready(conn);
	}
}

/* A server at its limit of clients says so unasked, and closes the connection. */
static bool is_turned_away(const redisReply *reply)
{
	return reply->type == REDIS_REPLY_ERROR && !strncmp(reply->str, "ERR max number of clients", 25);
}

static void turned_away(dlock_conn *conn, redisReply *reply)
{
	for (size_t i = 0; i < conn->calls.count; i++) { /* the server has read nothing, so nothing needs to be undone */
		dlock_call *call = dlock_call_queue_at(&conn->calls, i);
		call->sent = call->repeated;
	}
	freeReplyObject(reply);
	end_and_fail_calls(conn, "ERR max number of clients reached; see maxclients in its configuration");
}

/* Answers the oldest call. If the server does not know a script, it is sent as text, if its call may be sent again. */
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
		call->server_started_from = conn->handshake.uptime.started_from;
		dlock_call_answer(call, reply);
	}
	dlock_call_release(call);
}

static void take_reply(dlock_conn *conn, redisReply *reply)
{
	conn->source.news++;
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
		end_and_fail_calls(conn, "sent a reply that belongs to no request");
	}
}

/* False: the connection has ended, or was replaced. */
static bool take_replies(dlock_conn *conn)
{
	unsigned long generation = conn->generation;
	const char *problem;
	redisReply *reply;

	while ((reply = dlock_resp_next(&conn->resp, &problem))) {
		take_reply(conn, reply);
		if (!is_open(conn, generation)) {
			return false;
		}
	}
	if (problem) {
		end_and_fail_calls(conn, problem);
	}
	return !problem;
}

/* Reads the bytes that are there, once. */
static void receive(dlock_conn *conn)
{
	char bytes[16 * 1024];
	bool more = false;

	do {
		long got = dlock_channel_read(&conn->channel, bytes, sizeof bytes, &more);
		if (got < 0) {
			/* While peeking, the end is left to the next send, which can connect again. */
			if (!conn->peeking) {
				replace_connection(conn, conn->channel.problem);
			}
			return;
		}
		dlock_resp_feed(&conn->resp, bytes, (size_t) got);
		if (got > 0 && !take_replies(conn)) {
			return;
		}
	} while (more);
	flush(conn);
}

/* Reads what has arrived. Each call has at most one read for its reply, and so has the handshake's INFO: so the loop
 * ends, whatever the server sends. */
static void drain(dlock_conn *conn)
{
	unsigned long generation = conn->generation;

	for (size_t most = conn->calls.count + 2;
		 most > 0 && is_open(conn, generation) && dlock_wait_is_ready(dlock_channel_fd(&conn->channel), POLLIN);
		 most--) {
		receive(conn);
	}
}

static void go_on_connecting(dlock_conn *conn)
{
	switch (dlock_channel_connect(&conn->channel)) {
	case DLOCK_DIAL_GOES_ON:
		break;
	case DLOCK_DIAL_FAILED:
		end_and_fail_calls(conn, conn->channel.problem);
		break;
	case DLOCK_DIAL_CONNECTED:
		begin_handshake(conn);
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
	if (conn->state == DLOCK_CONN_READY && !dlock_channel_is_inherited(&conn->channel)) {
		conn->peeking = true;
		receive(conn);
		conn->peeking = false;
	}
}

/* ---- time ---- */

static bool owes_since(const dlock_conn *conn, dlock_nanos time)
{
	return conn->calls.count > 0 && dlock_now() >= dlock_after(dlock_call_queue_at(&conn->calls, 0)->owed_since, time);
}

dlock_nanos dlock_conn_timer(const dlock_conn *conn)
{
	if (conn->state == DLOCK_CONN_CONNECTING) {
		return dlock_channel_timer(&conn->channel);
	}
	if (conn->state == DLOCK_CONN_HANDSHAKE) {
		return conn->channel.deadline;
	}
	for (size_t i = 0; i < conn->calls.count; i++) {
		const dlock_call *call = dlock_call_queue_at(&conn->calls, i);
		if (call->state == DLOCK_CALL_PENDING && call->wanted && !call->background) {
			return dlock_after(call->owed_since, read_timeout(conn));
		}
	}
	return DLOCK_FOREVER;
}

void dlock_conn_expire(dlock_conn *conn)
{
	if (dlock_channel_is_inherited(&conn->channel) || dlock_now() < dlock_conn_timer(conn)) {
		return;
	}
	if (conn->state == DLOCK_CONN_CONNECTING) {
		go_on_connecting(conn);
		return;
	}
	drain(conn); /* a process that was stopped still finds replies that came in time */
	if (dlock_now() < dlock_conn_timer(conn)) {
		return;
	}
	if (conn->state == DLOCK_CONN_HANDSHAKE) {
		char what[64];
		snprintf(what, sizeof what, "no connection within %.3g s", (double) conn->channel.timeout / DLOCK_SECOND);
		end_and_fail_calls(conn, what);
		return;
	}
	/* Their replies may still come, so the calls stay in the queue. */
	dlock_fail(&conn->error, DLOCK_CONNECTION, "Redis at %s: no answer within %.3g s", conn->server->label,
		(double) read_timeout(conn) / DLOCK_SECOND);
	conn->source.news++;
	for (size_t i = 0; i < conn->calls.count; i++) {
		dlock_call *call = dlock_call_queue_at(&conn->calls, i);
		if (!call->background && dlock_now() >= dlock_after(call->owed_since, read_timeout(conn))) {
			dlock_call_fail(call);
		}
	}
}

/* ---- using it ---- */

/* Is the oldest reply overdue? A process that was stopped still finds replies that came in time. */
static bool is_overdue(dlock_conn *conn)
{
	if (!owes_since(conn, read_timeout(conn))) {
		return false;
	}
	unsigned long oldest = dlock_call_queue_at(&conn->calls, 0)->sequence;
	drain(conn);
	return conn->state == DLOCK_CONN_READY && conn->calls.count > 0
		&& dlock_call_queue_at(&conn->calls, 0)->sequence == oldest;
}

/* Have calls been collected since the last write? */
static bool has_unwritten(const dlock_conn *conn)
{
	return conn->calls.count > 0
		&& dlock_call_queue_at(&conn->calls, conn->calls.count - 1)->owed_since == DLOCK_FOREVER;
}

bool dlock_conn_send(dlock_conn *conn, dlock_call *call)
{
	discard_inherited(conn);
	if (conn->state == DLOCK_CONN_READY) {
		if (!has_unwritten(conn)) {
			receive(conn); /* detects, without a round trip, that the connection died while idle */
		}
	} else if (conn->state != DLOCK_CONN_CLOSED) {
		dlock_conn_expire(conn);
	}
	if (conn->state == DLOCK_CONN_READY && !call->background && is_overdue(conn)) {
		replace_connection(conn, "has not answered earlier requests in time");
	}
	if (conn->state == DLOCK_CONN_READY && conn->calls.count == 0 && dlock_channel_take_moved(&conn->channel)) {
		disconnect(conn);
	}
	if (conn->state == DLOCK_CONN_CLOSED && !open_connection(conn)) {
		dlock_call_fail(call);
		return false;
	}
	if (conn->state >= DLOCK_CONN_HANDSHAKE && !ask_uptime_for(conn, call)) {
		end_and_fail_calls(conn, "out of memory");
		dlock_call_fail(call);
		return false;
	}
	if (!dlock_call_queue_push(&conn->calls, call)) {
		dlock_out_of_memory(&conn->error);
		dlock_call_fail(call);
		return false;
	}
	if (conn->state == DLOCK_CONN_READY) {
		if (!append(conn, call)) {
			end_and_fail_calls(conn, "out of memory");
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

void dlock_conn_send_last(dlock_conn *conn, dlock_call *call, int replicas)
{
	if (conn->last) { /* it asks another number of replicas */
		dlock_conn_send(conn, call);
	} else {
		conn->last = dlock_call_retain(call);
		conn->last_replicas = replicas;
	}
}

void dlock_conn_cork(dlock_conn *conn)
{
	conn->corked = true;
}

void dlock_conn_uncork(dlock_conn *conn)
{
	conn->corked = false;
	if (conn->state == DLOCK_CONN_READY && !dlock_channel_is_inherited(&conn->channel)) {
		flush(conn);
	}
}

bool dlock_conn_drain_if_stuck(dlock_conn *conn)
{
	if (dlock_channel_is_inherited(&conn->channel) || conn->state == DLOCK_CONN_CLOSED
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
	return !dlock_channel_is_inherited(&conn->channel) && conn->state != DLOCK_CONN_CLOSED && conn->calls.count > 0;
}

/* ---- as a source ---- */

static dlock_conn *conn_of(const dlock_source *source)
{
	return (dlock_conn *) ((char *) source - offsetof(dlock_conn, source));
}

struct pollfd dlock_conn_poll(const dlock_conn *conn)
{
	return (struct pollfd) { .fd = dlock_channel_fd(&conn->channel), .events = dlock_channel_events(&conn->channel) };
}

static bool poll_source(const dlock_source *source, struct pollfd *fd)
{
	*fd = dlock_conn_poll(conn_of(source));
	return dlock_conn_busy(conn_of(source));
}

static void advance_source(dlock_source *source)
{
	dlock_conn_advance(conn_of(source));
}

static void expire_source(dlock_source *source)
{
	dlock_conn_expire(conn_of(source));
}

static dlock_nanos source_timer(const dlock_source *source)
{
	return dlock_conn_timer(conn_of(source));
}

static void begin_turn(dlock_source *source)
{
	dlock_conn_cork(conn_of(source));
}

static void end_turn(dlock_source *source)
{
	dlock_conn *conn = conn_of(source);

	if (conn->last && conn->last->references > 1) { /* otherwise no caller waits for it any more */
		source->news += !dlock_conn_send(conn, conn->last);
	}
	dlock_call_release(conn->last);
	conn->last = NULL;
	dlock_conn_uncork(conn);
}

static const dlock_source_ops source_ops = {
	poll_source, advance_source, expire_source, source_timer, begin_turn, end_turn
};
