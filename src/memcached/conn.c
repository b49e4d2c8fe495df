#include "conn.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/wait.h"

/* The first version with the meta commands as they are used here. */
#define OLDEST_MAJOR 1
#define OLDEST_MINOR 6

/* ---- opening and closing ---- */

static bool is_connected(const dlock_memcached_conn *conn)
{
	return conn->state >= DLOCK_MEMCACHED_HANDSHAKE;
}

/* Resets the state after the channel was closed. */
static void forget_connection(dlock_memcached_conn *conn)
{
	conn->state = DLOCK_MEMCACHED_CLOSED;
	conn->unsent = NULL;
	conn->line_len = 0;
	conn->in_value = false;
	dlock_memcached_clock_reconnect(&conn->clock);
	conn->late = DLOCK_FOREVER;
}

static void disconnect(dlock_memcached_conn *conn)
{
	dlock_channel_close(&conn->channel);
	forget_connection(conn);
}

static dlock_memcached_request *shift(dlock_memcached_conn *conn)
{
	dlock_memcached_request *request = conn->first;

	conn->first = request->next;
	conn->last = conn->first ? conn->last : NULL;
	conn->base.source.news++;
	return request;
}

static void fail_all(dlock_memcached_conn *conn)
{
	while (conn->first) {
		dlock_memcached_request *request = shift(conn);
		request->state = DLOCK_MEMCACHED_FAILED;
		dlock_memcached_release(request);
	}
}

static void conn_free(dlock_net_conn *base)
{
	dlock_memcached_conn *conn = (dlock_memcached_conn *) base;

	disconnect(conn);
	fail_all(conn);
	dlock_net_conn_free(base);
}

/* After a fork: closes the child's copy of the descriptor, and discards the parent's requests. */
static void leave_to_parent(dlock_memcached_conn *conn)
{
	if (dlock_channel_is_inherited(&conn->channel)) {
		disconnect(conn);
		fail_all(conn);
	}
}

static void fail(dlock_memcached_conn *conn, const char *what)
{
	dlock_fail(&conn->error, DLOCK_CONNECTION, "memcached at %s: %s", conn->base.server->label, what);
	dlock_channel_abort(&conn->channel);
	forget_connection(conn);
	fail_all(conn);
}

static bool open_connection(dlock_memcached_conn *conn)
{
	if (!dlock_channel_open(&conn->channel, conn->base.server, conn->base.timeout_cap)) {
		fail(conn, conn->channel.problem);
		return false;
	}
	conn->state = DLOCK_MEMCACHED_CONNECTING;
	conn->base.opened++;
	return true;
}

/* ---- sending ---- */

/* Until the version is known, only the request for it may be sent. */
static bool may_send(const dlock_memcached_conn *conn)
{
	return conn->unsent
		&& (conn->state == DLOCK_MEMCACHED_READY
			|| (conn->state == DLOCK_MEMCACHED_HANDSHAKE && conn->unsent == conn->first));
}

/* Sends all requests in one flush. */
static void send_requests(dlock_memcached_conn *conn)
{
	for (; may_send(conn); conn->unsent = conn->unsent->next) {
		dlock_memcached_request *request = conn->unsent;
		request->sent = true;
		request->opened = conn->base.opened;
		request->sent_at = dlock_now();
		if (!dlock_channel_append(&conn->channel, request->text, request->len)) {
			fail(conn, conn->channel.problem);
			return;
		}
	}
	if (!dlock_channel_flush(&conn->channel)) {
		fail(conn, conn->channel.problem);
	}
}

static void append(dlock_memcached_conn *conn, dlock_memcached_request *request)
{
	request->next = NULL;
	if (conn->last) {
		conn->last->next = request;
	} else {
		conn->first = request;
	}
	conn->last = request;
	conn->unsent = conn->unsent ? conn->unsent : request;
}

/* An idle connection expects nothing: if it is readable, the server has closed it. */
static bool has_ended(const dlock_memcached_conn *conn)
{
	return dlock_wait_is_ready(dlock_channel_fd(&conn->channel), POLLIN);
}

static void close_outdated(dlock_memcached_conn *conn)
{
	leave_to_parent(conn);
	if (conn->state != DLOCK_MEMCACHED_READY || conn->first) {
		return;
	}
	bool was_late = conn->clock.late > 0 && !conn->clock.is_reconnected;
	if (was_late || has_ended(conn) || dlock_channel_take_moved(&conn->channel)) {
		disconnect(conn);
	}
}

/* Appends one of the connection's own requests. */
static void append_own(dlock_memcached_conn *conn, dlock_memcached_request *request)
{
	if (request) { /* without it, the clock is not known to be right */
		append(conn, request);
	}
}

/* Without a reading of its own, the request would be judged by an earlier one, made before the server stood still. */
static void enqueue(dlock_memcached_conn *conn, dlock_memcached_request *request)
{
	dlock_memcached_request *reading = request->timed ? dlock_memcached_read_clock() : NULL;

	if (request->timed && !reading) {
		dlock_fail(&conn->error, DLOCK_CONNECTION, "memcached at %s: out of memory", conn->base.server->label);
		request->state = DLOCK_MEMCACHED_FAILED;
		return;
	}
	append_own(conn, reading);
	append(conn, dlock_memcached_retain(request));
	if (conn->state == DLOCK_MEMCACHED_READY) {
		send_requests(conn);
	}
}

void dlock_memcached_send(dlock_memcached_conn *conn, dlock_memcached_request *request)
{
	close_outdated(conn);
	if (conn->state == DLOCK_MEMCACHED_CLOSED && !open_connection(conn)) {
		request->state = DLOCK_MEMCACHED_FAILED;
		return;
	}
	enqueue(conn, request);
}

void dlock_memcached_send_over(dlock_memcached_conn *conn, dlock_memcached_request *request, unsigned long opened)
{
	close_outdated(conn);
	if (conn->state == DLOCK_MEMCACHED_READY && conn->base.opened == opened) {
		enqueue(conn, request);
	} else {
		request->state = DLOCK_MEMCACHED_FAILED;
	}
}

void dlock_memcached_cancel(dlock_memcached_conn *conn, dlock_memcached_request *request)
{
	dlock_memcached_request *before = NULL, *at = conn->first;

	if (!request || request->sent || request->state != DLOCK_MEMCACHED_PENDING) {
		return;
	}
	for (; at && at != request; at = at->next) {
		before = at;
	}
	if (!at) {
		return;
	}
	*(before ? &before->next : &conn->first) = request->next;
	conn->last = conn->last == request ? before : conn->last;
	conn->unsent = conn->unsent == request ? request->next : conn->unsent;
	request->state = DLOCK_MEMCACHED_FAILED;
	dlock_memcached_release(request);
}

/* ---- the handshake ---- */

/* The request for the version precedes all waiting requests. */
static void ask_version(dlock_memcached_conn *conn)
{
	dlock_memcached_request *version = dlock_memcached_version();

	conn->state = DLOCK_MEMCACHED_HANDSHAKE;
	if (!version) {
		fail(conn, "out of memory");
		return;
	}
	version->next = conn->first;
	conn->first = conn->unsent = version;
	conn->last = conn->last ? conn->last : version;
}

/* The clock is read before the waiting requests: at this moment the server is known not to stand still. */
static void read_clock_first(dlock_memcached_conn *conn)
{
	dlock_memcached_request *waiting = conn->first, *last = conn->last;

	conn->first = conn->last = conn->unsent = NULL;
	append_own(conn, dlock_memcached_make_clock());
	append_own(conn, dlock_memcached_read_clock());
	if (conn->last) {
		conn->last->next = waiting;
		conn->last = waiting ? last : conn->last;
	} else {
		conn->first = conn->unsent = waiting;
		conn->last = last;
	}
}

static void take_clock(dlock_memcached_conn *conn, const dlock_memcached_request *request)
{
	conn->late = dlock_memcached_clock_read(&conn->clock, &request->reply, request->sent_at, dlock_now());
	if (conn->clock.cas == 0) { /* the server has evicted or flushed the key */
		append_own(conn, dlock_memcached_make_clock());
		append_own(conn, dlock_memcached_read_clock());
		send_requests(conn);
	}
}

static void take_version(dlock_memcached_conn *conn, const dlock_memcached_reply *reply)
{
	int major = 0, minor = 0;
	char what[200];

	if (reply->code != DLOCK_MEMCACHED_VERSION || sscanf(reply->value, "%d.%d", &major, &minor) != 2) {
		fail(conn, "its answer to \"version\" is not memcached's");
	} else if (major < OLDEST_MAJOR || (major == OLDEST_MAJOR && minor < OLDEST_MINOR)) {
		snprintf(what, sizeof what, "its version %.40s has no meta commands; memcached 1.6 or later is needed",
			reply->value);
		fail(conn, what);
	} else {
		conn->state = DLOCK_MEMCACHED_READY;
		read_clock_first(conn);
		send_requests(conn);
	}
}

/* ---- receiving ---- */

static void take_reply(dlock_memcached_conn *conn, const dlock_memcached_reply *reply)
{
	dlock_memcached_request *request = conn->first;

	if (!request || request == conn->unsent) {
		fail(conn, "a reply that nothing was asked for");
		return;
	}
	shift(conn);
	request->reply = *reply;
	request->state = DLOCK_MEMCACHED_ANSWERED;
	request->late = conn->late;
	if (request->reads_clock && reply->code != DLOCK_MEMCACHED_ERROR) {
		take_clock(conn, request);
	} else if (conn->state == DLOCK_MEMCACHED_HANDSHAKE) {
		take_version(conn, &request->reply);
	} else if (reply->code == DLOCK_MEMCACHED_ERROR) {
		fail(conn, reply->value); /* a server may send several replies to a request that it does not understand */
	}
	dlock_memcached_release(request);
}

/* Takes the value and its line end, and returns how many of these bytes it used. After a failure it uses all. */
static size_t take_value(dlock_memcached_conn *conn, dlock_memcached_reply *reply, const char *bytes, size_t len)
{
	size_t whole = reply->len + 2, taken = len < whole - conn->value_got ? len : whole - conn->value_got;

	for (size_t i = 0; i < taken; i++) {
		size_t at = conn->value_got + i;
		if (at < reply->len && at < sizeof reply->value - 1) {
			reply->value[at] = bytes[i];
			reply->value[at + 1] = '\0';
		} else if (at >= reply->len && bytes[i] != "\r\n"[at - reply->len]) {
			fail(conn, "a value that is longer than its length");
			return len;
		}
	}
	conn->value_got += taken;
	return taken;
}

static size_t take_line(dlock_memcached_conn *conn, const char *bytes, size_t len, bool *complete)
{
	const char *end = memchr(bytes, '\n', len);
	size_t taken = end ? (size_t) (end - bytes) + 1 : len;
	size_t text = end ? taken - 1 : taken;

	*complete = end != NULL;
	if (conn->line_len + text >= sizeof conn->line) {
		fail(conn, "a reply whose first line is too long");
		return len;
	}
	memcpy(conn->line + conn->line_len, bytes, text);
	conn->line_len += text;
	if (end) {
		conn->line_len -= conn->line_len > 0 && conn->line[conn->line_len - 1] == '\r';
		conn->line[conn->line_len] = '\0';
		if (strlen(conn->line) < conn->line_len) {
			fail(conn, "a reply with a NUL in its first line");
		}
	}
	return taken;
}

static void take_bytes(dlock_memcached_conn *conn, const char *bytes, size_t len)
{
	dlock_memcached_reply *reply = &conn->reply;
	bool complete;

	while (len > 0 && is_connected(conn)) {
		size_t taken;
		if (conn->in_value) {
			taken = take_value(conn, reply, bytes, len);
			complete = conn->value_got == reply->len + 2;
		} else {
			taken = take_line(conn, bytes, len, &complete);
			if (complete && is_connected(conn)) {
				conn->line_len = 0;
				if (!dlock_memcached_read(reply, conn->line)) {
					fail(conn, "an answer of an unexpected form");
					return;
				}
				conn->in_value = reply->code == DLOCK_MEMCACHED_VA;
				conn->value_got = 0;
				complete = !conn->in_value;
			}
		}
		bytes += taken;
		len -= taken;
		if (complete && is_connected(conn)) {
			conn->in_value = false;
			take_reply(conn, reply);
		}
	}
}

/* poll() reports what remains unread. */
static void receive(dlock_memcached_conn *conn)
{
	char bytes[4096];
	long got = sizeof bytes;
	bool more = false;

	while (is_connected(conn) && (more || got == sizeof bytes)) {
		got = dlock_channel_read(&conn->channel, bytes, sizeof bytes, &more);
		if (got < 0) {
			fail(conn, conn->channel.problem);
			return;
		}
		take_bytes(conn, bytes, (size_t) got);
	}
}

/* ---- from outside ---- */

static void advance(dlock_source *source)
{
	dlock_memcached_conn *conn = (dlock_memcached_conn *) source;

	if (conn->state == DLOCK_MEMCACHED_CONNECTING) {
		switch (dlock_channel_connect(&conn->channel)) {
		case DLOCK_DIAL_GOES_ON:
			return;
		case DLOCK_DIAL_FAILED:
			fail(conn, conn->channel.problem);
			return;
		case DLOCK_DIAL_CONNECTED:
			ask_version(conn);
		}
	}
	if (is_connected(conn)) {
		send_requests(conn);
	}
	receive(conn);
}

/* When the reply to the oldest request is overdue. */
static dlock_nanos timer(const dlock_source *source)
{
	const dlock_memcached_conn *conn = (const dlock_memcached_conn *) source;

	if (conn->state == DLOCK_MEMCACHED_CONNECTING) {
		return dlock_channel_timer(&conn->channel);
	}
	return conn->first && conn->first->sent
		? dlock_after(conn->first->sent_at, dlock_read_timeout(conn->base.server, conn->base.timeout_cap))
		: DLOCK_FOREVER;
}

static void expire(dlock_source *source)
{
	dlock_memcached_conn *conn = (dlock_memcached_conn *) source;
	char what[64];

	if (dlock_now() < timer(source)) {
		return;
	}
	advance(source); /* bytes that have already arrived count */
	if (is_connected(conn) && dlock_now() >= timer(source)) {
		snprintf(what, sizeof what, "no answer within %.3g s",
			(double) dlock_read_timeout(conn->base.server, conn->base.timeout_cap) / DLOCK_SECOND);
		fail(conn, what);
	}
}

bool dlock_memcached_is_busy(const dlock_memcached_conn *conn)
{
	return conn->first && !dlock_channel_is_inherited(&conn->channel);
}

/* ---- in a pool ---- */

static bool poll_channel(const dlock_source *source, struct pollfd *fd)
{
	const dlock_memcached_conn *conn = (const dlock_memcached_conn *) source;

	*fd = (struct pollfd) { .fd = dlock_channel_fd(&conn->channel), .events = dlock_channel_events(&conn->channel) };
	return dlock_memcached_is_busy(conn);
}

dlock_memcached_conn *dlock_memcached_conn_of(dlock_net_pool *pool, dlock_endpoint *server, dlock_nanos timeout_cap)
{
	static const dlock_source_ops ops = {
		.poll = poll_channel, .advance = advance, .expire = expire, .timer = timer
	};
	dlock_memcached_conn *conn = dlock_net_pool_find(pool, server, timeout_cap);

	if (!conn && (conn = dlock_net_pool_add(pool, sizeof *conn, server, timeout_cap, &ops, conn_free))) {
		conn->channel.process = dlock_process_current();
	}
	return conn;
}
