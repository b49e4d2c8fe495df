#include "route.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "../wire/reply.h"

/* How often one request is redirected, and how often its route looks for another master. */
enum { MOST_HOPS = 5, MOST_MASTERS = 2 };

/* When a route has an outcome, the server that answered may have executed its call, and so may an earlier one that did
 * not answer (`repeated`). If there is no answer, the last server may execute it, now or later. A server that says that
 * it is no master, or that a slot is elsewhere, has executed nothing. */

/* ---- what is sent ---- */

/* WAIT takes part of the time that its answer may take. So the client also hears "too few", even if it asks once more
 * behind a script that was sent as text. */
static dlock_call *new_wait(const dlock_conn *conn, int replicas)
{
	dlock_nanos time = dlock_earlier(conn->server->read_timeout, conn->timeout_cap) / 4;
	char count[16], ms[24];

	time = time > DLOCK_SECOND ? DLOCK_SECOND : time;
	snprintf(count, sizeof count, "%d", replicas);
	snprintf(ms, sizeof ms, "%" PRId64,
		time < 10 * DLOCK_MS ? (int64_t) 10 : (int64_t) (time / DLOCK_MS)); /* 0 would be without limit */
	dlock_arg args[] = { DLOCK_ARG("WAIT"), DLOCK_ARG(count), DLOCK_ARG(ms) };
	dlock_call *call = dlock_call_command(args, 3);
	if (call) {
		call->once = true; /* over another connection it would count other writes */
	}
	return call;
}

static void send_asking(dlock_conn *conn)
{
	dlock_arg args[] = { DLOCK_ARG("ASKING") };
	dlock_call *call = dlock_call_command(args, 1);

	if (call) {
		call->once = true;
		dlock_conn_send(conn, call);
		dlock_call_release(call);
	}
}

static bool send_one(dlock_conn *conn, dlock_call *call, bool asks)
{
	if (asks) {
		send_asking(conn);
		call->once = true; /* sent again, it would go without ASKING */
		if (call->script) {
			dlock_call_use_source(call); /* the text works even if the server does not know the script */
		}
	}
	return dlock_conn_send(conn, call);
}

dlock_call *dlock_send_with_wait(dlock_conn *conn, dlock_call *call, int replicas, dlock_call *after_confirm, bool asks)
{
	dlock_call *confirmation = NULL;
	bool corked = conn->corked;

	dlock_conn_cork(conn);
	bool sent = send_one(conn, call, asks);
	if (sent && replicas > 0) {
		confirmation = new_wait(conn, replicas);
		sent = confirmation && dlock_conn_send(conn, confirmation);
	}
	if (sent && after_confirm) {
		send_one(conn, after_confirm, asks);
	}
	if (!corked) {
		dlock_conn_uncork(conn);
	}
	return confirmation;
}

/* If the server did not know a script, the call was sent again as text, behind the WAIT. */
static bool was_sent_after(const dlock_call *call, const dlock_call *confirmation)
{
	return confirmation && confirmation->sent && confirmation->generation == call->generation
		&& confirmation->sequence > call->sequence;
}

bool dlock_is_confirmed(const dlock_call *call, const dlock_call *confirmation, int replicas)
{
	return replicas == 0 || (call && call->state == DLOCK_CALL_ANSWERED && was_sent_after(call, confirmation)
		&& confirmation->state == DLOCK_CALL_ANSWERED && confirmation->reply->type == REDIS_REPLY_INTEGER
		&& confirmation->reply->integer >= replicas);
}

typedef enum {
	ANSWER_FINAL,    /* a master has answered */
	ANSWER_MOVED,    /* the slot is at another address */
	ANSWER_ASK,      /* the slot's keys are moving to another address */
	ANSWER_LATER,    /* no server serves the slot at the moment */
	ANSWER_UNSERVED, /* no master has the slot */
	ANSWER_REPLICA,  /* the server is no master, or may be none soon */
	ANSWER_NONE
} answer;

static bool begins(const char *text, const char *with)
{
	return !strncmp(text, with, strlen(with));
}

static bool has_any(const char *text, const char *const *words, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (strstr(text, words[i])) {
			return true;
		}
	}
	return false;
}

/* Reads an answered call. `address`, for MOVED and ASK, lives as long as the call. */
static answer read_answer(const dlock_call *call, const char **address)
{
	/* If these come from a script, some versions put more text around them. */
	static const char *const later[] = { "TRYAGAIN ", "NOREPLICAS " };
	/* BUSY: Sentinels replace a master that a script keeps busy. */
	static const char *const replica[] = { "READONLY ", "UNBLOCKED ", "LOADING ", "BUSY ", "CLUSTERDOWN ",
		"MASTERDOWN ", "with replica instances" };
	static const char unserved[] = "Hash slot not served";
	const char *text = call->reply->str;

	*address = NULL;
	if (call->reply->type != REDIS_REPLY_ERROR) {
		return ANSWER_FINAL;
	}
	if (begins(text, "MOVED ") || begins(text, "ASK ")) {
		const char *slot = strchr(text, ' ') + 1, *end = strchr(slot, ' ');
		*address = end ? end + 1 : "";
		return *text == 'M' ? ANSWER_MOVED : ANSWER_ASK;
	}
	if (strstr(text, unserved)) {
		return ANSWER_UNSERVED;
	}
	return has_any(text, later, sizeof later / sizeof *later) ? ANSWER_LATER
		: has_any(text, replica, sizeof replica / sizeof *replica) ? ANSWER_REPLICA : ANSWER_FINAL;
}

/* ---- the whole way ---- */

/* When the time is over, replies that came while the process was stopped still count. */
static bool is_time(const dlock_route *own, dlock_loop *loop, dlock_nanos now)
{
	bool over = dlock_loop_is_time(loop, own->until, now);

	if (over && own->conn) {
		dlock_conn_peek(own->conn);
	}
	return over;
}

/* A call that was cancelled before it was sent has ended, too. */
static bool has_ended(const dlock_call *call)
{
	return !call || call->state != DLOCK_CALL_PENDING || (!call->sent && !call->wanted);
}

static bool is_answered(const dlock_call *call)
{
	return call && call->state == DLOCK_CALL_ANSWERED;
}

static void discard(dlock_call **call)
{
	if (*call) {
		dlock_call_cancel(*call);
		dlock_call_release(*call);
		*call = NULL;
	}
}

/* Does not cancel the WAIT, which other routes may share. */
static void discard_confirmation(dlock_route *own)
{
	dlock_call_release(own->confirmation);
	own->confirmation = NULL;
}

static void forget_server(dlock_endpoint **server)
{
	if (*server) {
		dlock_endpoint_release(*server);
		*server = NULL;
	}
}

void dlock_route_begin(dlock_route *own, const dlock_masters *masters, int slot, dlock_error *error)
{
	*own = (dlock_route) {
		.masters = masters, .slot = slot, .replicas = masters->replicas, .until = DLOCK_FOREVER,
		.timeout_cap = DLOCK_FOREVER, .error = error
	};
}

bool dlock_route_may_run_later(const dlock_route *own)
{
	const dlock_call *call = own->call;

	return call && (own->repeated || (call->sent && (call->state != DLOCK_CALL_ANSWERED || call->repeated)));
}

static void discard_calls(dlock_route *own)
{
	discard(&own->after_confirm);
	discard_confirmation(own);
	discard(&own->call);
}

void dlock_route_send(dlock_route *own, dlock_call *call, dlock_call *after_confirm)
{
	own->repeated = dlock_route_may_run_later(own);
	own->transient = false;
	discard_calls(own);
	own->call = call;
	own->after_confirm = after_confirm;
}

/* One WAIT serves all calls that are sent in this turn. */
static dlock_call *share_wait(dlock_conn *conn, int replicas)
{
	if (conn->last && conn->last_replicas == replicas) {
		return dlock_call_retain(conn->last);
	}
	dlock_call *call = new_wait(conn, replicas);
	if (call) {
		dlock_conn_send_last(conn, call, replicas);
	}
	return call;
}

static void send_to(dlock_route *own, dlock_endpoint *server)
{
	const dlock_masters *masters = own->masters;

	discard_confirmation(own);
	own->conn = masters->conn && own->timeout_cap == DLOCK_FOREVER
		? masters->conn : dlock_pool_capped_conn(masters->pool, server, own->timeout_cap);
	if (!own->conn || !own->call) {
		return;
	}
	if (own->after_confirm || own->asks) {
		own->confirmation = dlock_send_with_wait(own->conn, own->call, own->replicas, own->after_confirm, own->asks);
	} else if (dlock_conn_send(own->conn, own->call) && own->replicas > 0) {
		own->confirmation = share_wait(own->conn, own->replicas);
	}
}

static dlock_endpoint *known_master(const dlock_route *own)
{
	dlock_endpoint *master = dlock_topology_master(own->masters->topology, own->slot);

	return master ? dlock_endpoint_retain(master) : NULL;
}

/* If the topology does not agree with the hint, the route tries the hint first, while the topology asks. NULL: no
 * master is known. */
static dlock_endpoint *first_server(dlock_route *own, dlock_nanos now)
{
	dlock_endpoint *server = known_master(own), *hint = own->hint;

	own->hint = NULL;
	if (hint && (!server || strcmp(server->key, hint->key))) {
		dlock_topology_ask(own->masters->topology, now);
		forget_server(&server);
		return hint;
	}
	forget_server(&hint);
	return server;
}

static void begin_discovery(dlock_route *own, dlock_error *error)
{
	own->discovery = (dlock_discovery) { .topology = own->masters->topology, .until = own->until, .error = error };
}

/* DLOCK_CONNECTION is the status until a server answers. If no node has named the slot's master, another node may do so
 * later. */
static dlock_status take_discovered(dlock_route *own)
{
	own->server = own->found == DLOCK_OK ? known_master(own) : NULL;
	if (!own->server && own->found == DLOCK_OK) {
		own->transient = true;
		return dlock_fail(own->error, DLOCK_CONNECTION, "Redis Cluster: no node has the hash slot %d", own->slot);
	}
	return DLOCK_CONNECTION;
}

/* False, with no call, when out of memory. */
static bool renew_call(dlock_call **call)
{
	dlock_call *again = *call ? dlock_call_again(*call) : NULL;

	discard(call);
	*call = again;
	return again != NULL;
}

static dlock_status no_answer(const dlock_route *own)
{
	if (!own->conn || !own->call) {
		return dlock_fail(own->error, DLOCK_CONNECTION, "Out of memory");
	}
	if (own->call->state == DLOCK_CALL_PENDING) {
		return dlock_fail(
			own->error, DLOCK_CONNECTION, "Redis at %s: no answer in the time allowed", own->conn->server->label);
	}
	*own->error = own->conn->error;
	return DLOCK_CONNECTION;
}

static dlock_status not_now(const dlock_route *own, bool is_fixed)
{
	char reason[200];

	if (is_fixed) {
		return dlock_check_reply(own->call, own->conn, own->error);
	}
	dlock_endpoint_quote(own->conn->server, own->call->reply->str, reason, sizeof reason);
	return dlock_fail(own->error, DLOCK_CONNECTION, "Redis at %s: %s", own->conn->server->label, reason);
}

/* True: the answer is the master's. Otherwise `said` is the reason, and `next` the server to ask, if the answer names
 * one. */
static bool take_answer(dlock_route *own, dlock_nanos now)
{
	const char *address = NULL;
	bool answered = is_answered(own->call), is_fixed = dlock_topology_is_fixed(own->masters->topology);

	own->answer = answered ? read_answer(own->call, &address) : ANSWER_NONE;
	if (address && !dlock_topology_has_slots(own->masters->topology)) {
		own->answer = ANSWER_FINAL;
	}
	if (own->answer == ANSWER_FINAL) {
		own->said = DLOCK_OK;
		return true;
	}
	own->said = answered ? not_now(own, is_fixed) : no_answer(own);
	own->transient = answered || (own->conn && !own->conn->refused && !is_fixed);
	if (own->answer == ANSWER_REPLICA) {
		dlock_conn_close(own->conn); /* another server may be at its address by now */
	}
	own->asks = own->answer == ANSWER_ASK;
	if (own->answer == ANSWER_MOVED && own->hops < MOST_HOPS) {
		dlock_topology_move(own->masters->topology, own->slot, address, own->server, now);
		own->next = known_master(own);
	} else if (own->asks && own->hops < MOST_HOPS) {
		own->next = dlock_topology_server_at(own->masters->topology, address, own->server);
	}
	return false;
}

/* True: the topology must ask who is the master now. It asks once more if the server that failed is named again,
 * because the Sentinel or node that named it may lag behind. */
static bool begin_finding_out(dlock_route *own)
{
	return (own->answer == ANSWER_REPLICA || own->answer == ANSWER_UNSERVED || own->answer == ANSWER_NONE)
		&& own->transient && !own->cancelled && ++own->replaced <= MOST_MASTERS;
}

static void take_found(dlock_route *own)
{
	dlock_endpoint *master = own->found == DLOCK_OK ? known_master(own) : NULL;

	own->transient = is_answered(own->call) || own->found == DLOCK_OK;
	if (master && !strcmp(master->key, own->server->key)) {
		forget_server(&master);
	}
	own->next = master;
}

/* Continues with the next server, and a copy of the call as it was made. */
static void go_on(dlock_route *own)
{
	bool may_run = !is_answered(own->call) && own->call && own->call->sent;

	forget_server(&own->server);
	if (own->next && !own->cancelled) {
		own->repeated |= may_run;
		if (renew_call(&own->call) && (!own->after_confirm || renew_call(&own->after_confirm))) {
			own->server = own->next;
			own->next = NULL;
		}
	}
	forget_server(&own->next);
}

dlock_status dlock_route_step(dlock_route *own, dlock_loop *loop, dlock_nanos now)
{
	DLOCK_BEGIN(&own->task);
	own->hops = own->replaced = 0;
	own->asks = false;
	own->server = first_server(own, now);
	if (!own->server) {
		begin_discovery(own, own->error);
		DLOCK_JOIN(&own->task, own->found, dlock_discovery_step(&own->discovery, loop, now));
		own->said = take_discovered(own);
	}
	for (; own->server; own->hops++) {
		send_to(own, own->server);
		DLOCK_AWAIT(&own->task, has_ended(own->call) || is_time(own, loop, now));
		if (take_answer(own, now)) {
			forget_server(&own->server);
			break;
		}
		own->found = DLOCK_OK;
		while (own->found == DLOCK_OK && !own->next && begin_finding_out(own)) {
			begin_discovery(own, &own->masters->pool->unheard);
			DLOCK_JOIN(&own->task, own->found, dlock_discovery_step(&own->discovery, loop, now));
			take_found(own);
		}
		go_on(own);
	}
	DLOCK_END(&own->task);
	return own->said;
}

/* ---- what replicas say ---- */

/* If the server did not know a script, the call was sent again as text, behind the WAIT: another WAIT follows. */
static void have_confirmation(dlock_route *own)
{
	if (!was_sent_after(own->call, own->confirmation) && own->call->generation == own->conn->generation) {
		discard_confirmation(own);
		own->confirmation = new_wait(own->conn, own->replicas);
		if (own->confirmation) {
			dlock_conn_send(own->conn, own->confirmation);
		}
	}
}

static dlock_status explain_unconfirmed(dlock_route *own)
{
	const dlock_call *said = own->confirmation;
	const char *label = own->conn->server->label, *address;

	own->transient = true;
	if (is_answered(said) && said->reply->type == REDIS_REPLY_ERROR) {
		char reason[200];
		dlock_endpoint_quote(own->conn->server, said->reply->str, reason, sizeof reason);
		own->transient = read_answer(said, &address) == ANSWER_REPLICA;
		return dlock_fail(own->error, DLOCK_CONNECTION,
			"Redis at %s: %s; without WAIT, replicas cannot confirm anything", label, reason);
	}
	if (is_answered(said) && said->reply->type == REDIS_REPLY_INTEGER && was_sent_after(own->call, said)) {
		return dlock_fail(own->error, DLOCK_CONNECTION,
			"Redis at %s: %lld replicas acknowledged the write in time, %d required (replicas=%d)", label,
			said->reply->integer, own->replicas, own->replicas);
	}
	return dlock_fail(own->error, DLOCK_CONNECTION, "Redis at %s: whether replicas have it is not known: %.200s", label,
		*own->conn->error.message ? own->conn->error.message : "the connection was replaced");
}

dlock_status dlock_route_confirm(dlock_route *own, dlock_loop *loop, dlock_nanos now)
{
	if (own->replicas == 0) {
		return DLOCK_OK;
	}
	DLOCK_BEGIN(&own->confirming);
	have_confirmation(own);
	DLOCK_AWAIT(&own->confirming, has_ended(own->confirmation) || dlock_loop_is_time(loop, own->until, now));
	own->found = DLOCK_OK;
	if (!dlock_is_confirmed(own->call, own->confirmation, own->replicas)) {
		if (!own->cancelled) { /* a replaced master may run without replicas for a while */
			begin_discovery(own, &own->masters->pool->unheard);
			DLOCK_JOIN(&own->confirming, own->found, dlock_discovery_step(&own->discovery, loop, now));
		}
		own->found = explain_unconfirmed(own);
	}
	DLOCK_END(&own->confirming);
	return own->found;
}

/* If the call was sent before the confirmation, or over another connection, its answer says nothing: it is sent
 * again. */
static void send_after_confirm(dlock_route *own)
{
	if (!was_sent_after(own->confirmation, own->after_confirm) && own->confirmation->generation == own->conn->generation
		&& renew_call(&own->after_confirm)) {
		dlock_conn_send(own->conn, own->after_confirm);
	}
}

static dlock_status take_after_confirm(dlock_route *own)
{
	const char *address;

	if (!own->after_confirm) {
		return dlock_fail(own->error, DLOCK_CONNECTION, "Out of memory");
	}
	if (!is_answered(own->after_confirm) || !was_sent_after(own->confirmation, own->after_confirm)) {
		own->transient = true;
		return dlock_fail(own->error, DLOCK_CONNECTION,
			"Redis at %s: whether replicas took full copies is not known: %.200s", own->conn->server->label,
			*own->conn->error.message ? own->conn->error.message : "no answer in the time allowed");
	}
	own->repeated |= own->call->repeated;
	discard(&own->call);
	discard_confirmation(own);
	own->call = own->after_confirm;
	own->after_confirm = NULL;
	own->transient = read_answer(own->call, &address) != ANSWER_FINAL;
	return DLOCK_OK;
}

dlock_status dlock_route_pass_on(dlock_route *own, dlock_loop *loop, dlock_nanos now)
{
	DLOCK_BEGIN(&own->confirming);
	send_after_confirm(own);
	DLOCK_AWAIT(&own->confirming, has_ended(own->after_confirm) || dlock_loop_is_time(loop, own->until, now));
	DLOCK_END(&own->confirming);
	return take_after_confirm(own);
}

/* ---- its end ---- */

void dlock_route_cancel(dlock_route *own)
{
	own->cancelled = true;
	if (own->call && own->call->state == DLOCK_CALL_PENDING) {
		dlock_call_cancel_sending(own->call);
	}
}

void dlock_route_end(dlock_route *own)
{
	discard_calls(own);
	forget_server(&own->server);
	forget_server(&own->next);
	forget_server(&own->hint);
	own->task.at = own->confirming.at = 0;
}

bool dlock_route_is_replaced(const dlock_route *own)
{
	const dlock_endpoint *master = dlock_topology_master(own->masters->topology, own->slot);

	return master && own->conn && own->call && own->transient && strcmp(master->key, own->conn->server->key);
}

dlock_conn *dlock_masters_conn(const dlock_masters *masters, int slot)
{
	dlock_endpoint *master = masters->conn ? NULL : dlock_topology_master(masters->topology, slot);

	return masters->conn ? masters->conn : master ? dlock_pool_conn(masters->pool, master) : NULL;
}

/* ---- for callers that wait ---- */

static dlock_status step(void *task, dlock_loop *loop, dlock_nanos now)
{
	return dlock_route_step(task, loop, now);
}

dlock_status dlock_route_ask(dlock_route *own, dlock_call *call)
{
	dlock_route_send(own, call, NULL);
	return dlock_loop_run(dlock_pool_loop(own->masters->pool), step, own, DLOCK_FOREVER, NULL);
}
