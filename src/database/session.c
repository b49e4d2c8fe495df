#include "session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/wait.h"

/* The least time for an address that does not answer. */
#define LEAST_STEP (20 * DLOCK_MS)

/* ---- closing ---- */

static bool is_inherited(const dlock_db_session *session)
{
	return session->process != dlock_process_current();
}

static void drop_lookup(dlock_db_session *session)
{
	dlock_lookup_release(session->lookup);
	session->lookup = NULL;
}

static void forget_link(dlock_db_session *session)
{
	session->link = NULL;
	session->state = DLOCK_DB_CLOSED;
	session->unsent = NULL;
	session->used = false;
	*session->inbox = '\0';
	drop_lookup(session);
}

static void disconnect(dlock_db_session *session)
{
	if (session->link) {
		(is_inherited(session) ? session->client->leave : session->client->close)(session->link);
	}
	forget_link(session);
}

static dlock_db_call *shift(dlock_db_session *session)
{
	dlock_db_call *call = session->first;

	session->first = call->next;
	session->last = session->first ? session->last : NULL;
	session->base.source.news++;
	return call;
}

static void fail_all(dlock_db_session *session, bool transient)
{
	while (session->first) {
		dlock_db_call *call = shift(session);
		call->state = DLOCK_DB_FAILED;
		call->transient = transient;
		call->error = session->error;
		dlock_db_call_release(call);
	}
}

static void session_free(dlock_net_conn *base)
{
	dlock_db_session *session = (dlock_db_session *) base;

	disconnect(session);
	fail_all(session, false);
	dlock_net_conn_free(base);
}

static void leave_to_parent(dlock_db_session *session)
{
	if (is_inherited(session)) {
		disconnect(session);
		fail_all(session, false);
		session->listeners = NULL; /* they belong to the parent's waiters */
		session->process = dlock_process_current();
	}
}

/* Each listener must ask: the session has lost the notifications that were sent meanwhile. */
static void tell_listeners(dlock_db_session *session)
{
	session->base.source.news++;
	for (dlock_db_listener *one = session->listeners; one; one = one->next) {
		one->told = true;
		one->granted = 0;
	}
}

/* A server's message may repeat what the client sent, so dlock_endpoint_quote() hides passwords. */
static void name_server(const dlock_db_session *session, dlock_error *error, const char *what)
{
	char shown[sizeof error->message];

	dlock_endpoint_quote(session->base.server, what, shown, sizeof shown);
	dlock_fail(error, DLOCK_CONNECTION, "%s at %s: %s", session->client->name, session->base.server->label, shown);
}

static void fail(dlock_db_session *session, const char *what, bool transient)
{
	name_server(session, &session->error, what);
	disconnect(session);
	tell_listeners(session);
	fail_all(session, transient);
}

/* ---- connecting ---- */

static void note_obstacle(dlock_db_session *session, const char *what, bool transient)
{
	if (!*session->obstacle || transient) { /* the first obstacle says most, unless a later one may end soon */
		snprintf(session->obstacle, sizeof session->obstacle, "%s", what);
	}
	session->transient |= transient;
}

static const char *host_of(const dlock_db_session *session)
{
	return session->base.server->path ? NULL : session->base.server->seeds[session->seed].host;
}

static int hosts(const dlock_db_session *session)
{
	return session->base.server->path ? 1 : session->base.server->seed_count;
}

/* Adds the addresses that a lookup has found by now. */
static void learn(dlock_db_session *session)
{
	char reason[160];

	if (!session->lookup || !dlock_lookup_has_ended(session->lookup, reason, sizeof reason)) {
		return;
	}
	if (*reason) {
		note_obstacle(session, reason, false);
	}
	drop_lookup(session);
	dlock_resolve_add_known(host_of(session), &session->addresses, &session->tried);
}

/* Looks up the host's name, unless a lookup has just ended: then its addresses are taken. If it has found none, there
 * is nothing to try but another lookup. */
static void look_up(dlock_db_session *session)
{
	const char *host = host_of(session);
	char reason[160];

	session->asked = true;
	session->lookup = dlock_resolve(host, true, reason, sizeof reason);
	if (!session->lookup && !*reason) {
		dlock_resolve_add_known(host, &session->addresses, &session->tried);
		if (session->addresses.count == 0) {
			session->lookup = dlock_resolve(host, false, reason, sizeof reason);
		}
	}
	if (!session->lookup && *reason) {
		note_obstacle(session, reason, false);
	}
}

/* Prepares the first attempt at a host. The addresses that its name had last are tried at once. If they are old, a
 * lookup runs meanwhile; if not, one begins once they have failed. */
static void begin_host(dlock_db_session *session)
{
	const char *host = host_of(session);

	session->state = DLOCK_DB_CONNECTING;
	session->tried = 0;
	session->addresses.count = 1;
	drop_lookup(session);
	session->asked = !host || dlock_is_address(host);
	if (session->asked) {
		snprintf(session->addresses.text[0], sizeof session->addresses.text[0], "%s", host ? host : "");
	} else if (!dlock_resolve_known(host, &session->addresses) || session->addresses.count == 0) {
		look_up(session);
	}
}

static bool is_last_host(const dlock_db_session *session)
{
	return session->seeds_tried + 1 >= hosts(session);
}

/* If there may be another address to try, the present one has half of the time that is left. */
static void set_step(dlock_db_session *session, dlock_nanos now)
{
	bool is_last = session->tried >= session->addresses.count && session->asked && !session->lookup
		&& is_last_host(session);
	dlock_nanos half = (session->deadline - now) / 2;

	session->step = is_last ? session->deadline : now + (half > LEAST_STEP ? half : LEAST_STEP);
}

/* Sets once the time until which the session waits for the lookup. If the known addresses of the last host have failed,
 * a lookup that hangs for longer than the timeout would only delay the error. */
static void wait_for_lookup(dlock_db_session *session, dlock_nanos now)
{
	if (session->state == DLOCK_DB_RESOLVING) {
		return;
	}
	session->state = DLOCK_DB_RESOLVING;
	if (!is_last_host(session)) {
		set_step(session, now);
	} else if (session->tried == 0) {
		session->step = session->deadline;
	} else {
		session->step = dlock_after(dlock_lookup_begun(session->lookup), session->base.server->connect_timeout);
	}
}

static void open_address(dlock_db_session *session, dlock_nanos now)
{
	const dlock_endpoint *server = session->base.server;
	const char *host = host_of(session), *address = session->addresses.text[session->tried++];

	session->link = session->client->open(
		server, host, host ? address : NULL, host ? server->seeds[session->seed].port : server->port);
	if (!session->link) {
		note_obstacle(session, "out of memory", false);
		return;
	}
	session->state = DLOCK_DB_CONNECTING;
	set_step(session, now);
}

static void connect_on(dlock_db_session *session, dlock_nanos now);

/* Tries the next address. If a host has no more addresses, tries the next host. */
static void try_next(dlock_db_session *session, dlock_nanos now)
{
	while (!session->link && session->seeds_tried < hosts(session)) {
		learn(session);
		if (session->tried < session->addresses.count) {
			open_address(session, now);
		} else if (session->lookup) {
			wait_for_lookup(session, now);
			return;
		} else if (!session->asked) {
			look_up(session);
		} else if (++session->seeds_tried < hosts(session)) {
			session->seed = (session->seed + 1) % hosts(session);
			begin_host(session);
		}
	}
	if (!session->link) {
		fail(session, *session->obstacle ? session->obstacle : "the name was not resolved", session->transient);
	} else {
		connect_on(session, now);
	}
}

static void open_session(dlock_db_session *session, dlock_nanos now)
{
	dlock_nanos timeout = session->base.server->connect_timeout;

	dlock_net_conn_make_room(&session->base);
	timeout = dlock_earlier(timeout, session->base.timeout_cap);
	session->deadline = dlock_after(now, timeout);
	session->seeds_tried = 0;
	*session->obstacle = '\0';
	session->transient = false;
	session->base.opened++;
	begin_host(session);
	try_next(session, now);
}

/* Ends the attempt under way, and tries what is next. */
static void try_other(dlock_db_session *session, const char *why, bool transient, dlock_nanos now)
{
	note_obstacle(session, why, transient);
	if (session->link) {
		session->client->close(session->link);
		session->link = NULL;
	} else {
		drop_lookup(session);
	}
	try_next(session, now);
}

/* The time of the present address or lookup is over. The session leaves an address only if there is another one. A
 * lookup would only take time from the next host. */
static void leave_slow(dlock_db_session *session, dlock_nanos now)
{
	learn(session);
	if (session->link && !is_last_host(session)) {
		drop_lookup(session);
		session->asked = true;
	} else if (session->link && session->tried >= session->addresses.count && !session->asked) {
		look_up(session);
	}
	if (session->link && session->tried >= session->addresses.count && is_last_host(session)) {
		set_step(session, now);
	} else {
		try_other(session, session->link ? "no connection in time" : "the name was not resolved", false, now);
	}
}

/* ---- sending ---- */

static bool is_ahead(const dlock_db_session *session)
{
	return session->state == DLOCK_DB_OPEN && session->client->is_ahead && session->client->is_ahead(session->link);
}

static void receive(dlock_db_session *session)
{
	do {
		if (!session->client->receive(session->link, session)) {
			fail(session, session->link->problem, session->link->transient);
		}
	} while (is_ahead(session));
}

static void send_calls(dlock_db_session *session, dlock_nanos now)
{
	while (session->state == DLOCK_DB_OPEN && session->unsent && session->client->has_room(session->link)) {
		dlock_db_call *call = session->unsent;
		session->unsent = call->next;
		call->sent = true;
		call->used = session->used;
		call->sent_at = now;
		if (!session->client->send(session->link, call)) {
			fail(session, session->link->problem, session->link->transient);
		} else if (is_ahead(session)) {
			receive(session);
		}
	}
}

static void enqueue(dlock_db_session *session, dlock_db_call *call)
{
	call->next = NULL;
	if (session->last) {
		session->last->next = call;
	} else {
		session->first = call;
	}
	session->last = call;
	session->unsent = session->unsent ? session->unsent : call;
}

/* For an idle session: only a notification, or the end, can be read. */
static void look(dlock_db_session *session)
{
	if (session->state == DLOCK_DB_OPEN && dlock_wait_is_ready(session->client->fd(session->link), POLLIN)) {
		receive(session);
	}
}

/* Listens behind the calls in the queue, and before the next call. */
static void begin_listening(dlock_db_session *session)
{
	char token[DLOCK_TOKEN_PLAIN_LEN + 1];

	if (!session->listeners || *session->inbox || !dlock_plain_token(token)) {
		return;
	}
	dlock_db_call *call = dlock_db_call_new(DLOCK_DB_LISTEN, "", 0, "");
	if (call) {
		snprintf(session->inbox, sizeof session->inbox, "dlock_%.16s", token);
		strcpy(call->other, session->inbox);
		enqueue(session, call);
	}
}

void dlock_db_send(dlock_db_session *session, dlock_db_call *call)
{
	dlock_nanos now = dlock_now();

	leave_to_parent(session);
	if (!session->first) {
		look(session);
		session->heard_at = now;
	}
	begin_listening(session);
	if (call->function == DLOCK_DB_ACQUIRE && session->client->notifies && *call->other) {
		strcpy(call->other, session->inbox);
	}
	enqueue(session, dlock_db_call_retain(call));
	if (session->state == DLOCK_DB_CLOSED) {
		open_session(session, now);
	} else {
		send_calls(session, now);
	}
}

/* ---- listening ---- */

void dlock_db_listen(dlock_db_session *session, dlock_db_listener *listener)
{
	listener->next = session->listeners;
	session->listeners = listener;
}

void dlock_db_unlisten(dlock_db_session *session, dlock_db_listener *listener)
{
	dlock_db_listener **at = &session->listeners;

	while (*at && *at != listener) {
		at = &(*at)->next;
	}
	if (!*at) {
		return;
	}
	*at = listener->next;
	/* Each notification wakes every session that listens, so a session without listeners stops listening. */
	dlock_db_call *call = session->listeners || is_inherited(session) || session->state != DLOCK_DB_OPEN
			|| !*session->inbox
		? NULL
		: dlock_db_call_new(DLOCK_DB_UNLISTEN, "", 0, "");
	if (call) {
		strcpy(call->other, session->inbox);
		*session->inbox = '\0';
		dlock_db_send(session, call);
		dlock_db_call_release(call);
	}
}

void dlock_db_session_notified(dlock_db_session *session, const char *text)
{
	size_t len = strcspn(text, " ");
	char *number = NULL;

	session->base.source.news++;
	for (dlock_db_listener *one = session->listeners; one; one = one->next) {
		if (strlen(one->token) == len && !memcmp(one->token, text, len)) {
			one->told = true;
			one->number = strtoll(text + len, &number, 10);
			one->granted = strtoll(number, NULL, 10);
		}
	}
}

/* ---- receiving ---- */

dlock_db_call *dlock_db_session_next(const dlock_db_session *session)
{
	return session->first == session->unsent ? NULL : session->first;
}

void dlock_db_session_answered(dlock_db_session *session)
{
	dlock_db_call *call = shift(session);
	char what[sizeof call->error.message];

	session->used = true;
	session->heard_at = dlock_now();
	call->state = call->refused ? DLOCK_DB_FAILED : DLOCK_DB_ANSWERED;
	if (call->refused) {
		strcpy(what, call->error.message);
		name_server(session, &call->error, what);
		session->error = call->error;
	}
	dlock_db_call_release(call);
}

/* ---- in a pool ---- */

static void connect_on(dlock_db_session *session, dlock_nanos now)
{
	switch (session->client->connect(session->link)) {
	case DLOCK_DB_GOES_ON:
		return;
	case DLOCK_DB_BROKEN:
		try_other(session, session->link->problem, session->link->transient, now);
		return;
	default:
		session->state = DLOCK_DB_OPEN;
		session->heard_at = now;
		session->unsent = session->first;
		drop_lookup(session);
		if (host_of(session) && session->tried > 1) {
			dlock_resolve_prefer(host_of(session), session->addresses.text[session->tried - 1]);
		}
		send_calls(session, now);
	}
}

static void advance(dlock_source *source)
{
	dlock_db_session *session = (dlock_db_session *) source;
	dlock_nanos now = dlock_now();

	if (session->state == DLOCK_DB_RESOLVING) {
		try_next(session, now);
	} else if (session->state == DLOCK_DB_CONNECTING) {
		connect_on(session, now);
	} else if (session->state == DLOCK_DB_OPEN) {
		receive(session);
		send_calls(session, now);
	}
}

static dlock_nanos read_timeout(const dlock_db_session *session)
{
	return dlock_read_timeout(session->base.server, session->base.timeout_cap);
}

static dlock_nanos timer(const dlock_source *source)
{
	const dlock_db_session *session = (const dlock_db_session *) source;
	const dlock_db_call *call = dlock_db_session_next(session);

	if (session->state != DLOCK_DB_OPEN) {
		return dlock_earlier(session->step, session->deadline);
	}
	if (!call) {
		return DLOCK_FOREVER;
	}
	return dlock_after(call->sent_at > session->heard_at ? call->sent_at : session->heard_at,
		read_timeout(session) + call->sleeps);
}

static void fail_late(dlock_db_session *session, const char *what, dlock_nanos within)
{
	char text[400];

	snprintf(text, sizeof text, "%s within %.3g s", what, (double) within / (double) DLOCK_SECOND);
	fail(session, text, false);
}

static void expire(dlock_source *source)
{
	dlock_db_session *session = (dlock_db_session *) source;

	if (dlock_now() < timer(source)) {
		return;
	}
	advance(source); /* what has arrived by now counts */
	dlock_nanos now = dlock_now();
	if (session->state == DLOCK_DB_CLOSED || now < timer(source)) {
		return;
	}
	if (session->state == DLOCK_DB_OPEN) {
		fail_late(session, "no answer", read_timeout(session));
	} else if (now >= session->deadline) {
		dlock_nanos timeout = session->base.server->connect_timeout;
		fail_late(session, *session->obstacle ? session->obstacle
				: session->link               ? "no connection"
											  : "the name was not resolved",
			timeout < session->base.timeout_cap ? timeout : session->base.timeout_cap);
	} else if (session->state != DLOCK_DB_CLOSED) {
		leave_slow(session, now);
	}
}

/* True while the session has listeners, or calls of this process under way. */
static bool poll_session(const dlock_source *source, struct pollfd *fd)
{
	const dlock_db_session *session = (const dlock_db_session *) source;
	bool is_busy = !is_inherited(session) && session->state != DLOCK_DB_CLOSED
		&& (session->first || session->listeners);

	if (is_busy && session->link) {
		*fd = (struct pollfd) {
			.fd = session->client->fd(session->link), .events = session->client->events(session->link)
		};
	} else {
		*fd = (struct pollfd) { .fd = session->lookup ? dlock_lookup_fd(session->lookup) : -1, .events = POLLIN };
	}
	return is_busy;
}

static bool is_free(const dlock_db_session *session)
{
	return !session->reserved && !session->first;
}

static dlock_nanos unused_since(const dlock_net_conn *base)
{
	const dlock_db_session *session = (const dlock_db_session *) base;
	bool is_unused = session->state == DLOCK_DB_OPEN && is_free(session) && !session->listeners;

	return is_unused ? session->heard_at : DLOCK_FOREVER;
}

static void close_unused(dlock_net_conn *base)
{
	disconnect((dlock_db_session *) base);
}

static dlock_db_session *add_session(dlock_net_pool *pool, dlock_endpoint *server, dlock_nanos timeout_cap)
{
	static const dlock_source_ops ops = {
		.poll = poll_session, .advance = advance, .expire = expire, .timer = timer
	};
	dlock_db_session *session = dlock_net_pool_add(pool, sizeof *session, server, timeout_cap, &ops, session_free);

	if (!session) {
		return NULL;
	}
	session->base.unused_since = unused_since;
	session->base.close = close_unused;
#ifdef DLOCK_MYSQL
	session->client = server->kind == DLOCK_ENDPOINT_MYSQL ? &dlock_db_mysql : NULL;
#endif
#ifdef DLOCK_PGSQL
	session->client = server->kind == DLOCK_ENDPOINT_PGSQL ? &dlock_db_postgresql : session->client;
#endif
	session->process = dlock_process_current();
	return session;
}

dlock_db_session *dlock_db_session_of(dlock_net_pool *pool, dlock_endpoint *server, dlock_nanos timeout_cap)
{
	dlock_db_session *session = dlock_net_pool_find(pool, server, timeout_cap);

	return session ? session : add_session(pool, server, timeout_cap);
}

dlock_db_session *dlock_db_session_spare(dlock_net_pool *pool, dlock_endpoint *server)
{
	dlock_net_conn *conn = pool->first;

	while (conn && !(conn->spare && dlock_net_conn_leads_to(conn, server) && is_free((dlock_db_session *) conn))) {
		conn = conn->next;
	}
	dlock_db_session *session = conn ? (dlock_db_session *) conn : add_session(pool, server, DLOCK_FOREVER);
	if (session) {
		session->base.spare = session->reserved = true;
		dlock_net_conn_make_room(&session->base);
	}
	return session;
}
