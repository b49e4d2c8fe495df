#include "conn.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../base/wait.h"

/* The first version whose meta commands are as they are used here. */
#define OLDEST_MAJOR 1
#define OLDEST_MINOR 6

/* ---- opening and closing ---- */

dlock_memcached_conn *dlock_memcached_conn_new(dlock_server *server, dlock_nanos timeout_cap)
{
	dlock_memcached_conn *conn = calloc(1, sizeof *conn);

	if (conn) {
		conn->server = dlock_server_retain(server);
		conn->process = dlock_process_current();
		conn->timeout_cap = timeout_cap;
	}
	return conn;
}

static bool has_socket(const dlock_memcached_conn *conn)
{
	return conn->state >= DLOCK_MEMCACHED_HANDSHAKE;
}

static void disconnect(dlock_memcached_conn *conn)
{
	dlock_dial_end(&conn->dial);
	if (has_socket(conn)) {
		close(conn->fd);
	}
	conn->state = DLOCK_MEMCACHED_CLOSED;
	conn->writing = NULL;
	conn->written = conn->line_len = 0;
	conn->in_value = false;
	conn->clock = (dlock_memcached_clock) { 0 };
	conn->late = DLOCK_FOREVER;
}

static dlock_memcached_request *shift(dlock_memcached_conn *conn)
{
	dlock_memcached_request *request = conn->first;

	conn->first = request->next;
	conn->last = conn->first ? conn->last : NULL;
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

void dlock_memcached_conn_free(dlock_memcached_conn *conn)
{
	disconnect(conn);
	fail_all(conn);
	dlock_server_release(conn->server);
	free(conn);
}

/* After a fork: closes the child's copy of the descriptor and discards what the parent waits for. */
static void leave_to_parent(dlock_memcached_conn *conn)
{
	if (conn->process != dlock_process_current()) {
		disconnect(conn);
		fail_all(conn);
		conn->process = dlock_process_current();
	}
}

/* What has not reached the server must not do so later, after what is said over the next connection. */
static void fail(dlock_memcached_conn *conn, const char *what)
{
	dlock_fail(&conn->error, DLOCK_CONNECTION, "memcached at %s: %s", conn->server->label, what);
	if (has_socket(conn) && conn->first) {
		dlock_dial_discard_unsent(conn->fd);
	}
	disconnect(conn);
	fail_all(conn);
}

static dlock_nanos capped(const dlock_memcached_conn *conn, dlock_nanos timeout)
{
	return timeout < conn->timeout_cap ? timeout : conn->timeout_cap;
}

static bool open_connection(dlock_memcached_conn *conn)
{
	if (dlock_dial_begin(&conn->dial, conn->server, capped(conn, conn->server->connect_timeout)) == DLOCK_DIAL_FAILED) {
		fail(conn, conn->dial.obstacle);
		return false;
	}
	conn->state = DLOCK_MEMCACHED_CONNECTING;
	conn->opened++;
	return true;
}

/* ---- sending ---- */

#ifndef MSG_NOSIGNAL
#define MSG_NOSIGNAL 0
#endif
#ifndef MSG_MORE
#define MSG_MORE 0
#endif

/* Until the version is known, it alone goes out. */
static bool may_write(const dlock_memcached_conn *conn)
{
	return conn->writing
		&& (conn->state == DLOCK_MEMCACHED_READY
			|| (conn->state == DLOCK_MEMCACHED_HANDSHAKE && conn->writing == conn->first));
}

static void write_out(dlock_memcached_conn *conn)
{
	while (may_write(conn)) {
		dlock_memcached_request *request = conn->writing;
		if (conn->written == 0) {
			request->sent = true;
			request->opened = conn->opened;
			request->sent_at = dlock_now();
		}
		int flags = MSG_NOSIGNAL
			| (request->next && conn->state == DLOCK_MEMCACHED_READY ? MSG_MORE : 0); /* in one packet with the next */
		long done = (long) send(conn->fd, request->text + conn->written, request->len - conn->written, flags);
		if (done < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)) {
			return;
		}
		if (done < 0) {
			fail(conn, strerror(errno));
			return;
		}
		conn->written += (size_t) done;
		if (conn->written == request->len) {
			conn->writing = request->next;
			conn->written = 0;
		}
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
	conn->writing = conn->writing ? conn->writing : request;
}

/* An idle connection has nothing to read: what can be read is its end. */
static bool has_ended(const dlock_memcached_conn *conn)
{
	struct pollfd fd = { .fd = conn->fd, .events = POLLIN };

	return poll(&fd, 1, 0) > 0;
}

static void close_outdated(dlock_memcached_conn *conn)
{
	leave_to_parent(conn);
	if (conn->state != DLOCK_MEMCACHED_READY || conn->first) {
		return;
	}
	bool was_late = conn->late > 0 && conn->late != DLOCK_FOREVER;
	if (was_late || has_ended(conn) || dlock_dial_check_moved(&conn->dial)) {
		disconnect(conn);
	}
}

/* Of the connection's own. */
static void append_own(dlock_memcached_conn *conn, dlock_memcached_request *request)
{
	if (request) { /* otherwise the clock is not known to be right */
		append(conn, request);
	}
}

static void enqueue(dlock_memcached_conn *conn, dlock_memcached_request *request)
{
	if (request->timed) {
		append_own(conn, dlock_memcached_read_clock());
	}
	append(conn, dlock_memcached_retain(request));
	if (conn->state == DLOCK_MEMCACHED_READY) {
		write_out(conn);
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
	if (conn->state == DLOCK_MEMCACHED_READY && conn->opened == opened) {
		enqueue(conn, request);
	} else {
		request->state = DLOCK_MEMCACHED_FAILED;
	}
}

/* ---- the handshake ---- */

/* The version goes out before what waits. */
static void ask_version(dlock_memcached_conn *conn)
{
	dlock_memcached_request *version = dlock_memcached_version();

	conn->fd = dlock_dial_take(&conn->dial);
	dlock_dial_end(&conn->dial); /* it is asked no more than dlock_dial_check_moved() */
	conn->state = DLOCK_MEMCACHED_HANDSHAKE;
	if (!version) {
		fail(conn, "out of memory");
		return;
	}
	version->next = conn->first;
	conn->first = conn->writing = version;
	conn->last = conn->last ? conn->last : version;
	write_out(conn);
}

/* Before what waits, and while the server is known not to stand still. */
static void read_clock_first(dlock_memcached_conn *conn)
{
	dlock_memcached_request *waiting = conn->first, *last = conn->last;

	conn->first = conn->last = conn->writing = NULL;
	append_own(conn, dlock_memcached_make_clock());
	append_own(conn, dlock_memcached_read_clock());
	if (conn->last) {
		conn->last->next = waiting;
		conn->last = waiting ? last : conn->last;
	} else {
		conn->first = conn->writing = waiting;
		conn->last = last;
	}
}

static void take_clock(dlock_memcached_conn *conn, const dlock_memcached_request *request)
{
	conn->late = dlock_memcached_clock_read(&conn->clock, &request->reply, request->sent_at, dlock_now());
	if (conn->clock.cas == 0) { /* evicted, or flushed */
		append_own(conn, dlock_memcached_make_clock());
		append_own(conn, dlock_memcached_read_clock());
		write_out(conn);
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
		write_out(conn);
	}
}

/* ---- receiving ---- */

static void take_reply(dlock_memcached_conn *conn, const dlock_memcached_reply *reply)
{
	dlock_memcached_request *request = conn->first;

	if (!request || request == conn->writing) {
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
		fail(conn, reply->value); /* a request that was not understood may have more than one reply */
	}
	dlock_memcached_release(request);
}

/* The value and its line end. How much of these bytes it has taken; what follows a failure is of no interest. */
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

	while (len > 0 && has_socket(conn)) {
		size_t taken;
		if (conn->in_value) {
			taken = take_value(conn, reply, bytes, len);
			complete = conn->value_got == reply->len + 2;
		} else {
			taken = take_line(conn, bytes, len, &complete);
			if (complete && has_socket(conn)) {
				conn->line_len = 0;
				if (!dlock_memcached_read(reply, conn->line)) {
					fail(conn, "a reply of an unexpected form");
					return;
				}
				conn->in_value = reply->code == DLOCK_MEMCACHED_VA;
				conn->value_got = 0;
				complete = !conn->in_value;
			}
		}
		bytes += taken;
		len -= taken;
		if (complete && has_socket(conn)) {
			conn->in_value = false;
			take_reply(conn, reply);
		}
	}
}

static void receive(dlock_memcached_conn *conn)
{
	char bytes[4096];

	while (has_socket(conn)) {
		long got = (long) recv(conn->fd, bytes, sizeof bytes, 0);
		if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)) {
			return;
		}
		if (got <= 0) {
			fail(conn, got == 0 ? "the server closed the connection" : strerror(errno));
			return;
		}
		take_bytes(conn, bytes, (size_t) got);
	}
}

/* ---- from outside ---- */

int dlock_memcached_fd(const dlock_memcached_conn *conn)
{
	return conn->state == DLOCK_MEMCACHED_CONNECTING ? dlock_dial_fd(&conn->dial)
		: has_socket(conn)                           ? (int) conn->fd
													 : -1;
}

short dlock_memcached_events(const dlock_memcached_conn *conn)
{
	if (conn->state == DLOCK_MEMCACHED_CONNECTING) {
		return dlock_dial_events(&conn->dial);
	}
	return has_socket(conn) ? (short) (POLLIN | (may_write(conn) ? POLLOUT : 0)) : 0;
}

void dlock_memcached_advance(dlock_memcached_conn *conn)
{
	if (conn->state == DLOCK_MEMCACHED_CONNECTING) {
		switch (dlock_dial_advance(&conn->dial)) {
		case DLOCK_DIAL_GOES_ON:
			return;
		case DLOCK_DIAL_FAILED:
			fail(conn, conn->dial.obstacle);
			return;
		case DLOCK_DIAL_CONNECTED:
			ask_version(conn);
		}
	}
	if (has_socket(conn)) {
		write_out(conn);
		receive(conn);
	}
}

/* The oldest request that was sent waits for its reply. */
dlock_nanos dlock_memcached_timer(const dlock_memcached_conn *conn)
{
	if (conn->process != dlock_process_current()) {
		return DLOCK_FOREVER;
	}
	if (conn->state == DLOCK_MEMCACHED_CONNECTING) {
		return conn->dial.step < conn->dial.deadline ? conn->dial.step : conn->dial.deadline;
	}
	if (!conn->first || !conn->first->sent) {
		return DLOCK_FOREVER;
	}
	return dlock_after(conn->first->sent_at, capped(conn, conn->server->read_timeout));
}

static void expired(dlock_memcached_conn *conn)
{
	bool connecting = conn->state == DLOCK_MEMCACHED_CONNECTING;
	const char *delay = connecting ? dlock_dial_delay(&conn->dial) : "no answer";
	dlock_nanos timeout = capped(conn, connecting ? conn->server->connect_timeout : conn->server->read_timeout);
	char what[200];

	if (delay) {
		snprintf(what, sizeof what, "%s within %.6g s", delay, (double) timeout / DLOCK_SECOND);
	} else {
		snprintf(what, sizeof what, "%s", conn->dial.obstacle);
	}
	fail(conn, what);
}

void dlock_memcached_expire(dlock_memcached_conn *conn)
{
	if (dlock_now() < dlock_memcached_timer(conn)) {
		return;
	}
	dlock_memcached_advance(conn); /* what has arrived by now counts */
	if (dlock_now() < dlock_memcached_timer(conn)) {
		return;
	}
	if (conn->state != DLOCK_MEMCACHED_CONNECTING || dlock_now() >= conn->dial.deadline) {
		expired(conn);
	}
}

bool dlock_memcached_is_busy(const dlock_memcached_conn *conn)
{
	return conn->first && conn->process == dlock_process_current();
}

void dlock_memcached_await(dlock_memcached_conn *conn, const dlock_memcached_request *request, dlock_nanos until)
{
	while (
		request && request->state == DLOCK_MEMCACHED_PENDING && dlock_now() < until && dlock_memcached_is_busy(conn)) {
		struct pollfd fd = { .fd = dlock_memcached_fd(conn), .events = dlock_memcached_events(conn) };
		dlock_nanos timer = dlock_memcached_timer(conn);
		if (dlock_wait_poll(&fd, fd.fd >= 0, timer < until ? timer : until, NULL) > 0) {
			dlock_memcached_advance(conn);
		}
		dlock_memcached_expire(conn);
	}
}
