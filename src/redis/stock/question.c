#include "question.h"

#include <string.h>

#include "../request/stock_requests.h"

static dlock_arg lineage_of(dlock_redis_stock *stock, int slot)
{
	slot = dlock_topology_has_slots(stock->masters.topology) ? slot : -1;
	if (!*stock->lineage.text || slot != stock->lineage_slot) {
		dlock_lineage_of(slot, &stock->lineage);
		stock->lineage_slot = slot;
	}
	return DLOCK_ARG(stock->lineage.text);
}

/* If replicas confirm, this call follows each other call. */
static dlock_call *lineage_call(const dlock_stock_question *own, int begin)
{
	return own->stock->masters.replicas > 0
		? dlock_request_stock_lineage(lineage_of(own->stock, own->route.slot), begin, "", "", 0)
		: NULL;
}

void dlock_stock_begin(
	dlock_stock_question *own, dlock_redis_stock *stock, dlock_arg key, dlock_call *call, dlock_error *error)
{
	*own = (dlock_stock_question) { .stock = stock, .said = DLOCK_PENDING };
	dlock_route_begin(&own->route, &stock->masters, dlock_stock_slot(stock, key), error);
	dlock_route_send(&own->route, call, lineage_call(own, 0));
}

static bool is_to_be_asked_again(const dlock_stock_question *own)
{
	const dlock_route *route = &own->route;

	return own->said == DLOCK_CONNECTION && route->call
		&& (route->repeated || dlock_request_may_take_effect(route->call));
}

static void send_again(dlock_stock_question *own)
{
	dlock_route_send(&own->route, dlock_call_again(own->route.call), lineage_call(own, 0));
}

static void ask_again(dlock_stock_question *own, dlock_nanos now)
{
	dlock_route *route = &own->route;
	dlock_nanos until = route->conn ? dlock_after(now, route->conn->server->read_timeout) : route->until;

	route->until = until > route->until ? until : route->until;
	send_again(own);
	route->repeated = true;
}

/* A slot's keys may be moved back, and a redirected request then finds nothing at the node that they have just left. */
static bool may_be_elsewhere(const dlock_stock_question *own)
{
	return own->said == DLOCK_OK && own->route.asks && dlock_stock_finds_nothing(own->route.call);
}

/* A reservation that may wait asks again by itself. */
static bool is_unfinished(const dlock_stock_question *own)
{
	const dlock_call *call = own->route.call;

	return own->said == DLOCK_OK && !dlock_stock_reserves(call) && dlock_stock_is_unfinished(call);
}

dlock_status dlock_stock_explain_unfinished(const dlock_conn *conn, dlock_error *error)
{
	return dlock_fail(error, DLOCK_CONNECTION,
		"Redis at %s: more reservations have ended than were swept in the time allowed; ask again",
		conn->server->label);
}

dlock_status dlock_stock_ask_step(dlock_stock_question *own, dlock_loop *loop, dlock_nanos now)
{
	DLOCK_BEGIN(&own->task);
	DLOCK_JOIN(&own->task, own->said, dlock_route_step(&own->route, loop, now));
	if (may_be_elsewhere(own) && now < own->route.until) {
		send_again(own);
		DLOCK_JOIN(&own->task, own->said, dlock_route_step(&own->route, loop, now));
	}
	if (is_to_be_asked_again(own)) {
		ask_again(own, now);
		DLOCK_JOIN(&own->task, own->said, dlock_route_step(&own->route, loop, now));
	}
	while (is_unfinished(own) && now < own->route.until) {
		send_again(own);
		DLOCK_JOIN(&own->task, own->said, dlock_route_step(&own->route, loop, now));
	}
	if (is_unfinished(own)) {
		own->said = dlock_stock_explain_unfinished(own->route.conn, own->route.error);
	}
	DLOCK_END(&own->task);
	return own->said;
}

static dlock_call *plain_call(const char *command, dlock_arg key, const char *first, const char *second)
{
	dlock_arg args[] = { DLOCK_ARG(command), key, DLOCK_ARG(first), DLOCK_ARG(second) };
	dlock_call *call = dlock_call_command(args, *second ? 4 : 3);

	if (call) {
		call->once = true; /* over another connection it could reach another server */
	}
	return call;
}

/* Writes over the connection of the answer, so that WAIT covers all that its server had written before. */
static void write_behind(dlock_stock_question *own, dlock_arg key)
{
	static const char mark[] = "$asked";
	dlock_route *route = &own->route;
	bool asks = dlock_topology_has_slots(route->masters->topology); /* the slot may be moving there */

	own->add = plain_call("ZADD", key, "1", mark);
	own->remove = plain_call("ZREM", key, mark, "");
	dlock_call_release(route->confirmation);
	route->confirmation = NULL;
	if (own->add && own->remove) {
		dlock_send_with_wait(route->conn, own->add, 0, NULL, asks);
		route->confirmation = dlock_send_with_wait(route->conn, own->remove, route->replicas, NULL, asks);
	}
}

static bool is_written(const dlock_stock_question *own)
{
	const dlock_call *last = own->route.confirmation ? own->route.confirmation : own->remove;

	return !own->add || !last || last->state != DLOCK_CALL_PENDING;
}

static bool is_write_confirmed(const dlock_stock_question *own)
{
	const dlock_call *add = own->add;
	const dlock_route *route = &own->route;

	return add && add->sent && add->generation == route->call->generation && add->state == DLOCK_CALL_ANSWERED
		&& add->reply->type != REDIS_REPLY_ERROR
		&& dlock_is_confirmed(own->remove, route->confirmation, route->replicas);
}

/* After a confirmation, refusals over the same connection count for this time. A refusal by a replaced master is no
 * older. */
#define CONFIRMED_FOR DLOCK_SECOND

static bool is_confirmed_already(const dlock_stock_question *own, dlock_answer_kind kind, dlock_nanos now)
{
	const dlock_route *route = &own->route;

	return kind == DLOCK_ANSWER_NOTHING && route->conn->confirmed_generation == route->call->generation
		&& now - route->conn->confirmed_at < CONFIRMED_FOR;
}

static void note_confirmed(dlock_stock_question *own)
{
	if (own->said == DLOCK_OK) {
		own->route.conn->confirmed_generation = own->route.call->generation;
		own->route.conn->confirmed_at = own->asked_at;
	}
}

static void begin_discovery(dlock_stock_question *own)
{
	own->discovery = (dlock_discovery){
		.topology = own->route.masters->topology, .until = own->route.until, .error = own->route.error
	};
}

static dlock_status explain_unconfirmed(dlock_stock_question *own)
{
	own->route.transient = true;
	return dlock_fail(own->route.error, DLOCK_CONNECTION,
		"Redis at %s: too few replicas acknowledged the result (replicas=%d); repeat the call with the same order",
		own->route.conn->server->label, own->route.replicas);
}

/* ---- what the server may have forgotten ---- */

/* If the nodes have not shown that nothing is missing, the client asks them again after this time at the earliest. */
#define ASK_AGAIN (500 * DLOCK_MS)

static bool has_ended(const dlock_call *call)
{
	return !call || call->state != DLOCK_CALL_PENDING;
}

/* Did the slot's master tell its lineage behind the answer? The keys of a slot that moves may be on either side. */
static bool is_lineage_told(dlock_stock_question *own)
{
	const dlock_call *call = own->route.after_confirm;

	return call && call->state == DLOCK_CALL_ANSWERED && call->reply->type == REDIS_REPLY_ARRAY && !own->route.asks;
}

static void begin_telling(dlock_stock_question *own, dlock_call *call)
{
	dlock_route_end(&own->telling);
	dlock_route_begin(&own->telling, own->route.masters, own->route.slot, own->route.error);
	own->telling.until = own->route.until;
	own->telling.replicas = 0; /* if it is lost with the master, the next one reports more as missing */
	dlock_route_send(&own->telling, call, NULL);
}

static void take_told(dlock_stock_question *own, const dlock_route *route, const dlock_call *call)
{
	if (own->told == DLOCK_OK) {
		own->told = dlock_read_stock_lineage(call, route->conn, &own->lineage, &own->uncertain, own->route.error);
	}
	own->route.transient |= own->told != DLOCK_OK && route->transient;
}

static dlock_call *exists_call(dlock_arg key)
{
	return dlock_call_command((dlock_arg[]) { DLOCK_ARG("EXISTS"), key }, 2);
}

static bool is_stock_there(const dlock_stock_question *own)
{
	const dlock_call *call = own->telling.call;

	return own->told == DLOCK_OK && call->reply->type == REDIS_REPLY_INTEGER && call->reply->integer > 0;
}

static bool is_to_be_surveyed(const dlock_stock_question *own, dlock_nanos now)
{
	return own->told == DLOCK_OK && own->lineage == DLOCK_LINEAGE_OPEN
		&& (own->stock->surveyed_at == 0 || now >= own->stock->surveyed_at + ASK_AGAIN);
}

static void begin_surveying(dlock_stock_question *own, dlock_nanos now)
{
	own->stock->surveyed_at = now;
	own->surveying = (dlock_surveying) { .masters = own->route.masters, .master = own->route.conn->server,
		.enough = own->stock->enough, .until = own->route.until };
}

static dlock_call *survey_call(const dlock_stock_question *own)
{
	return dlock_request_stock_lineage(lineage_of(own->stock, own->route.slot), 0, own->surveying.survey.attached,
		own->surveying.named, own->stock->enough);
}

/* Finds out what the server may have forgotten, and asks the nodes if that is still open. If they cannot be asked, it
 * stays uncertain. */
static dlock_status look_step(dlock_stock_question *own, dlock_arg key, dlock_loop *loop, dlock_nanos now)
{
	DLOCK_BEGIN(&own->looking);
	DLOCK_AWAIT(&own->looking,
		has_ended(own->route.after_confirm) || dlock_loop_is_time(loop, own->route.until, now));
	own->told = DLOCK_OK;
	if (is_lineage_told(own)) {
		take_told(own, &own->route, own->route.after_confirm);
	} else {
		begin_telling(own, lineage_call(own, 0));
		DLOCK_JOIN(&own->looking, own->told, dlock_route_step(&own->telling, loop, now));
		take_told(own, &own->telling, own->telling.call);
	}
	if (own->told == DLOCK_OK && own->lineage == DLOCK_LINEAGE_NONE) {
		begin_telling(own, exists_call(key));
		DLOCK_JOIN(&own->looking, own->told, dlock_route_step(&own->telling, loop, now));
		if (is_stock_there(own) || own->begins) {
			begin_telling(own, lineage_call(own, is_stock_there(own) ? 2 : 1));
			DLOCK_JOIN(&own->looking, own->told, dlock_route_step(&own->telling, loop, now));
			take_told(own, &own->telling, own->telling.call);
		}
	}
	if (is_to_be_surveyed(own, now)) {
		begin_surveying(own, now);
		DLOCK_JOIN(&own->looking, own->told, dlock_surveying_step(&own->surveying, loop, now));
		if (*own->surveying.survey.replid) {
			begin_telling(own, survey_call(own));
			DLOCK_JOIN(&own->looking, own->told, dlock_route_step(&own->telling, loop, now));
			take_told(own, &own->telling, own->telling.call);
			own->stock->surveyed_at = own->lineage == DLOCK_LINEAGE_OPEN ? own->stock->surveyed_at : 0;
		}
		own->told = DLOCK_OK;
	}
	DLOCK_END(&own->looking);
	return own->told;
}

dlock_status dlock_stock_confirm_step(
	dlock_stock_question *own, dlock_arg key, dlock_answer_kind kind, dlock_loop *loop, dlock_nanos now)
{
	if (own->stock->masters.replicas == 0) {
		return DLOCK_OK;
	}
	DLOCK_BEGIN(&own->confirming);
	own->asked_at = now;
	if (kind == DLOCK_ANSWER_ANY || is_confirmed_already(own, kind, now)) {
		own->said = DLOCK_OK;
	} else if (kind == DLOCK_ANSWER_WRITTEN) {
		DLOCK_JOIN(&own->confirming, own->said, dlock_route_confirm(&own->route, loop, now));
		note_confirmed(own);
	} else {
		write_behind(own, key);
		DLOCK_AWAIT(&own->confirming, is_written(own) || dlock_loop_is_time(loop, own->route.until, now));
		own->said = DLOCK_OK;
		if (!is_write_confirmed(own)) {
			begin_discovery(own);
			DLOCK_JOIN(&own->confirming, own->said, dlock_discovery_step(&own->discovery, loop, now));
			own->said = explain_unconfirmed(own);
		}
		note_confirmed(own);
	}
	if (own->said == DLOCK_OK) {
		DLOCK_JOIN(&own->confirming, own->said, look_step(own, key, loop, now));
	}
	DLOCK_END(&own->confirming);
	return own->said;
}

void dlock_stock_end(dlock_stock_question *own)
{
	dlock_call_release(own->add);
	dlock_call_release(own->remove);
	own->add = own->remove = NULL;
	dlock_surveying_end(&own->surveying);
	if (own->telling.masters) {
		dlock_route_end(&own->telling);
	}
	dlock_route_end(&own->route);
	own->task.at = own->confirming.at = own->looking.at = 0;
}

static dlock_loop *loop_of(const dlock_stock_question *own)
{
	return dlock_pool_loop(own->route.masters->pool);
}

static dlock_status ask_step(void *task, dlock_loop *loop, dlock_nanos now)
{
	return dlock_stock_ask_step(task, loop, now);
}

dlock_status dlock_stock_ask(
	dlock_stock_question *own, dlock_redis_stock *stock, dlock_arg key, dlock_call *call, dlock_error *error)
{
	dlock_stock_begin(own, stock, key, call, error);
	return dlock_loop_run(loop_of(own), ask_step, own, DLOCK_FOREVER, NULL);
}

typedef struct {
	dlock_stock_question *question;
	dlock_arg key;
	dlock_answer_kind kind;
} confirming;

static dlock_status confirm_step(void *task, dlock_loop *loop, dlock_nanos now)
{
	const confirming *own = task;

	return dlock_stock_confirm_step(own->question, own->key, own->kind, loop, now);
}

dlock_status dlock_stock_confirm_answer(dlock_stock_question *own, dlock_arg key, dlock_answer_kind kind)
{
	confirming confirming = { own, key, kind };

	return dlock_loop_run(loop_of(own), confirm_step, &confirming, DLOCK_FOREVER, NULL);
}

dlock_status dlock_stock_begin_lineage(dlock_redis_stock *stock, dlock_arg key, dlock_error *error)
{
	dlock_stock_question asked;

	if (stock->masters.replicas == 0) {
		return DLOCK_OK;
	}
	dlock_status status = dlock_stock_ask(&asked, stock, key, exists_call(key), error);
	asked.begins = true;
	if (status == DLOCK_OK) {
		status = dlock_stock_confirm_answer(&asked, key, DLOCK_ANSWER_ANY);
	}
	dlock_stock_end(&asked);
	return status;
}
