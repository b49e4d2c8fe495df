#include "stocks.h"

#include <stddef.h>
#include <stdlib.h>

#include "../lock/wait.h"
#include "question.h"
#include "stocks_internal.h"

/* Reserves units, and waits in turn for units that other buyers have reserved. If the outcome is unknown, this cancels
 * nothing: the order has a name, and a second call finds it. */

/* The server's reply as an answer. */
static dlock_stock_answer answer_of(const dlock_reserve_response *response, const dlock_call *call)
{
	dlock_stock_answer answer = { .item = response->item,
		.units = response->units,
		.other_products = response->other_products,
		.sale = response->sale,
		.is_unknown = response->is_unknown,
		.generation = response->generation,
		.fencing_token = response->fencing_token };

	switch (response->result) {
	case DLOCK_RESERVE_HELD:
		answer.outcome = DLOCK_STOCK_DONE;
		answer.deadline = dlock_stock_deadline(call, response->ms);
		break;
	case DLOCK_RESERVE_SOLD:
		answer.outcome = DLOCK_STOCK_SOLD;
		answer.since = response->ms * DLOCK_MS;
		break;
	case DLOCK_RESERVE_LIMITED:
		answer.outcome = DLOCK_STOCK_LIMITED;
		break;
	case DLOCK_RESERVE_CONFLICT:
		answer.outcome = DLOCK_STOCK_CONFLICT;
		break;
	case DLOCK_RESERVE_CLOSED:
		answer.outcome = DLOCK_STOCK_CLOSED;
		break;
	default:
		answer.outcome = DLOCK_STOCK_SHORT;
	}
	return answer;
}

static dlock_answer_kind kind_of(const dlock_reserve_response *response)
{
	return response->result == DLOCK_RESERVE_HELD || response->result == DLOCK_RESERVE_SOLD ? DLOCK_ANSWER_WRITTEN
																							: DLOCK_ANSWER_NOTHING;
}

/* ---- the queue ---- */

/* A turn, which may wait for units. */
typedef struct {
	dlock_redis_stock *stock;
	const dlock_stock_turn *wants;
	dlock_products products;
	dlock_waiter waiter;
	bool may_wait;              /* there was time left to wait when the call under way began */
	bool queued;                /* the order may be in the queue */
	dlock_stock_answer *answer; /* for the call under way */
	dlock_task task;
	dlock_stock_question asked;
	dlock_reserve_response response;
	dlock_status said;
} reserving;

static reserving *turn_of(dlock_waiter *waiter)
{
	return (reserving *) ((char *) waiter - offsetof(reserving, waiter));
}

static dlock_stock_attempt attempt_of(const reserving *turn, bool queue)
{
	return (dlock_stock_attempt){ .id = turn->wants->order->id.text,
		.units = turn->wants->order->units[0], /* used for one product only */
		.ttl = turn->wants->ttl,
		.limit = turn->wants->limit,
		.strict = turn->wants->strict,
		.inbox = queue ? turn->waiter.inbox : NULL,
		.ticket = turn->waiter.ticket,
		.number = turn->waiter.number };
}

static dlock_arg key_of(const reserving *turn)
{
	return dlock_stock_key(turn->stock, DLOCK_STOCK_TURNS_PLACE, turn->wants->order->skus[0]);
}

/* Makes the keys of all products of the order. */
static void make_keys(const reserving *turn, dlock_arg keys[DLOCK_STOCKS_MAX])
{
	const dlock_order *order = turn->wants->order;

	for (int i = 0; i < order->count; i++) {
		keys[i] = dlock_stock_key(turn->stock, DLOCK_STOCK_TURNS_PLACE + i, order->skus[i]);
	}
}

static dlock_call *attempt_call(const reserving *turn)
{
	const dlock_order *order = turn->wants->order;
	dlock_stock_attempt attempt = attempt_of(turn, turn->waiter.queue);
	dlock_arg keys[DLOCK_STOCKS_MAX];

	make_keys(turn, keys);
	return order->count == 1
		? dlock_request_stock_reserve(keys[0], &attempt)
		: dlock_request_stock_basket(keys, order->count, &attempt, turn->products.text, order->units);
}

static dlock_call *leave_call(const reserving *turn)
{
	const dlock_order *order = turn->wants->order;
	dlock_stock_attempt attempt = attempt_of(turn, true);
	dlock_arg keys[DLOCK_STOCKS_MAX];

	make_keys(turn, keys);
	return dlock_request_stock_leave(keys, order->count, &attempt, order->count > 1, order->units);
}

static void begin_asking(reserving *turn)
{
	dlock_waiter *waiter = &turn->waiter;

	dlock_stock_begin(&turn->asked, turn->stock, key_of(turn), attempt_call(turn), waiter->error);
	turn->asked.route.until = waiter->until;
}

static void begin_attempt(reserving *turn)
{
	turn->waiter.number++;
	turn->queued |= turn->waiter.queue;
	begin_asking(turn);
}

static void read_attempt(reserving *turn)
{
	const dlock_route *route = &turn->asked.route;

	if (turn->said == DLOCK_OK) {
		turn->said = (turn->wants->order->count == 1 ? dlock_read_stock_reserve : dlock_read_stock_basket)(
			route->call, route->conn, &turn->response, turn->waiter.error);
	}
}

/* True: there is more to do than one script does, so the turn asks again, with the ticket that it has by now. */
static bool goes_on(reserving *turn, dlock_nanos now)
{
	dlock_waiter *waiter = &turn->waiter;

	if (turn->said != DLOCK_OK || turn->response.result != DLOCK_RESERVE_AGAIN) {
		return false;
	}
	if (waiter->queue && turn->response.refusal.ticket > 0) {
		waiter->ticket = turn->response.refusal.ticket;
	}
	if (now >= turn->asked.route.until) {
		turn->said = dlock_stock_explain_unfinished(turn->asked.route.conn, waiter->error);
		return false;
	}
	dlock_stock_end(&turn->asked);
	begin_asking(turn);
	return true;
}

/* If no buyer has reserved any units, none can become available, and the turn does not wait. It knows that once it has
 * asked to join the queue. */
static bool has_to_wait(const reserving *turn)
{
	return turn->said == DLOCK_OK && turn->response.result == DLOCK_RESERVE_SHORT
		&& (turn->waiter.queue ? turn->response.refusal.pttl >= 0 : turn->may_wait);
}

static void end_attempt(reserving *turn)
{
	dlock_waiter *waiter = &turn->waiter;
	const dlock_route *route = &turn->asked.route;
	dlock_reserve_response *response = &turn->response;

	if (turn->said == DLOCK_OK) {
		*turn->answer = answer_of(response, route->call);
		turn->answer->uncertain = turn->asked.uncertain;
		waiter->response = response->refusal;
		if (response->result == DLOCK_RESERVE_SHORT) {
			dlock_waiter_refused(waiter, route, &response->refusal);
		} else {
			turn->queued = false;
		}
		turn->said = has_to_wait(turn) ? DLOCK_TIMEOUT : DLOCK_OK;
	}
	waiter->transient = turn->said == DLOCK_CONNECTION && route->transient;
	dlock_stock_end(&turn->asked);
}

static dlock_status attempt(dlock_waiter *waiter, dlock_loop *loop, dlock_nanos now)
{
	reserving *turn = turn_of(waiter);

	DLOCK_BEGIN(&turn->task);
	begin_attempt(turn);
	do {
		DLOCK_JOIN(&turn->task, turn->said, dlock_stock_ask_step(&turn->asked, loop, now));
		read_attempt(turn);
	} while (goes_on(turn, now));
	if (turn->said == DLOCK_OK && !(has_to_wait(turn) && waiter->queue)) {
		DLOCK_JOIN(&turn->task, turn->said,
			dlock_stock_confirm_step(&turn->asked, key_of(turn), kind_of(&turn->response), loop, now));
	}
	end_attempt(turn);
	DLOCK_END(&turn->task);
	return turn->said;
}

static void begin_leaving(reserving *turn)
{
	dlock_waiter_begin_last_route(&turn->waiter);
	dlock_route_send(&turn->waiter.route, leave_call(turn), NULL);
}

static void take_left(reserving *turn)
{
	dlock_route *route = &turn->waiter.route;
	dlock_response response;

	if (turn->said == DLOCK_OK) {
		turn->said = dlock_read_integer(route->call, route->conn, &response, turn->waiter.error);
	}
	turn->said = turn->said == DLOCK_OK ? DLOCK_OK : DLOCK_TIMEOUT;
	turn->queued = false;
	dlock_route_end(route);
}

static dlock_status leave_queue(dlock_waiter *waiter, dlock_loop *loop, dlock_nanos now)
{
	reserving *turn = turn_of(waiter);

	DLOCK_BEGIN(&turn->task);
	turn->said = DLOCK_OK;
	if (turn->queued) {
		begin_leaving(turn);
		DLOCK_JOIN(&turn->task, turn->said, dlock_route_step(&waiter->route, loop, now));
		take_left(turn);
	}
	DLOCK_END(&turn->task);
	return turn->said;
}

/* A grant has a short time, and no replica confirms it: the turn asks again. */
static bool accept_hint(dlock_waiter *waiter, const dlock_grant *grant, dlock_nanos now)
{
	(void) now;
	(void) waiter;
	(void) grant;
	return false;
}

static void cancel(dlock_redis_stock *stock, const dlock_stock_turn *wants, int generation)
{
	dlock_order order = *wants->order;
	dlock_order_place place;

	order.generation = generation;
	dlock_stock_place(stock, &order, &place);
	dlock_conn *conn = dlock_masters_conn(&stock->masters, place.slot);
	if (conn) {
		dlock_conn_send_background(conn, dlock_request_stock_cancel(place.keys, place.count, &place.ref),
			dlock_after(dlock_now(), wants->ttl));
	}
}

void dlock_stock_give_back(const dlock_stock_turn *turn, const dlock_stock_answer *answer)
{
	cancel(dlock_redis_stock_of(turn->stock), turn, answer->generation);
}

/* Ends an attempt under way. If the turn had been refused before, cancels what that attempt may reserve. */
static void drop_attempt(reserving *turn)
{
	dlock_route_cancel(&turn->asked.route);
	if (turn->waiter.waited && dlock_request_may_take_effect(turn->asked.route.call)) {
		cancel(turn->stock, turn->wants, -1);
	}
	dlock_stock_end(&turn->asked);
}

/* Leaves the queue, whether the order was reserved or not, and frees the turn. */
static void leave(reserving *turn)
{
	dlock_conn *conn = turn->queued ? dlock_masters_conn(&turn->stock->masters, turn->waiter.slot) : NULL;

	if (conn) {
		dlock_conn_send_background(conn, leave_call(turn), dlock_after(dlock_now(), DLOCK_GRANT_TTL));
	}
	if (turn->task.at != 0 && turn->asked.route.call) {
		drop_attempt(turn);
	}
	if (turn->waiter.inbox) {
		dlock_waiter_drop(&turn->waiter);
	}
	free(turn);
}

void dlock_stock_leave(dlock_stock_turn *turn)
{
	if (turn->state) {
		leave(turn->state);
		turn->state = NULL;
	}
}

static dlock_status reserve_in_turn(
	reserving *turn, const dlock_wait *wait, dlock_stock_answer *answer, dlock_error *error)
{
	static const dlock_waiter_ops ops = { attempt, leave_queue, accept_hint };
	dlock_redis_stock *stock = turn->stock;
	dlock_waiter *waiter = &turn->waiter;

	turn->answer = answer;
	turn->may_wait = wait->deadline > dlock_now();
	waiter->ops = &ops;
	waiter->service = stock->service;
	waiter->masters = &stock->masters;
	waiter->slot = dlock_stock_slot(stock, key_of(turn));
	waiter->ttl = turn->wants->ttl;
	waiter->name = turn->wants->order->id.text;
	waiter->deadline = wait->deadline;
	waiter->is_strand = wait->suspend;
	waiter->error = error;
	dlock_status status = dlock_loop_run(
		dlock_pool_loop(stock->masters.pool), dlock_waiter_step, waiter, DLOCK_FOREVER, wait);
	if (status == DLOCK_TIMEOUT) {
		*answer = (dlock_stock_answer) { .outcome = DLOCK_STOCK_SHORT };
		status = DLOCK_OK;
	}
	return status;
}

dlock_status dlock_stock_reserve(
	dlock_stock_turn *turn, const dlock_wait *wait, dlock_stock_answer *answer, dlock_error *error)
{
	reserving *own = turn->state ? turn->state : calloc(1, sizeof *own);
	if (!own) {
		return dlock_out_of_memory(error);
	}
	own->stock = dlock_redis_stock_of(turn->stock);
	own->wants = turn;
	own->products = dlock_stock_products(turn->order);
	turn->state = own;
	dlock_status status = reserve_in_turn(own, wait, answer, error);
	turn->waited |= own->waiter.waited;
	if (status != DLOCK_INTERRUPTED) {
		dlock_stock_leave(turn);
	}
	return status;
}
