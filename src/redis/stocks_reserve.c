#include "stocks.h"

#include <stddef.h>
#include <string.h>

#include "stocks_internal.h"
#include "waiting.h"

/* Reserving units, and waiting in turn for those that others have reserved. Where the outcome is not known, nothing is taken back: the order has a name,
 * and who asks again finds it. */

/* What the servers said, as an answer. */
static dlock_stock_answer answer_of(const dlock_reserve_response *response, const dlock_call *call)
{
	dlock_stock_answer answer = { .item = response->item, .units = response->units, .other_products = response->other_products, .sale = response->sale,
		.is_unknown = response->is_unknown, .generation = response->generation, .fencing_token = response->fencing_token };

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
	return response->result == DLOCK_RESERVE_HELD || response->result == DLOCK_RESERVE_SOLD ? DLOCK_ANSWER_WRITTEN : DLOCK_ANSWER_NOTHING;
}

/* ---- several products ---- */

static dlock_status reserve_all(const dlock_stock_turn *turn, dlock_stock_answer *answer, dlock_error *error)
{
	const dlock_order *order = turn->order;
	const dlock_route *route = &turn->stock->route;
	dlock_order_place place;
	dlock_delivery delivery;
	dlock_reserve_response response;

	dlock_stock_place(turn->stock, order, &place);
	dlock_status status = dlock_stock_ask(route, place.slot, dlock_request_stock_basket(&place.ref, order->units, turn->ttl, turn->limit), &delivery, error);
	if (status == DLOCK_OK) {
		status = dlock_read_stock_basket(delivery.call, delivery.conn, &response, error);
	}
	if (status == DLOCK_OK) {
		status = dlock_stock_confirm_answer(route, &delivery, place.keys[0], kind_of(&response), error);
	}
	if (status == DLOCK_OK) {
		*answer = answer_of(&response, delivery.call);
	}
	dlock_delivery_end(&delivery);
	return status;
}

/* ---- one product, and its queue ---- */

static dlock_stock_turn *turn_of(dlock_waiter *waiter)
{
	return (dlock_stock_turn *) ((char *) waiter - offsetof(dlock_stock_turn, waiter));
}

static dlock_stock_attempt attempt_of(const dlock_stock_turn *turn, bool queue)
{
	return (dlock_stock_attempt) { .id = turn->order->id.text, .units = turn->order->units[0], .ttl = turn->ttl, .limit = turn->limit, .strict = turn->strict,
		.inbox = queue ? turn->waiter.inbox : NULL, .ticket = turn->waiter.ticket, .number = turn->waiter.number };
}

/* Asks; again with the ticket that it has meanwhile, as long as there is more to do than one script does. */
static dlock_status ask_in_turn(dlock_stock_turn *turn, const dlock_route *route, dlock_arg key, bool queue, dlock_delivery *delivery,
	dlock_reserve_response *response, dlock_error *error)
{
	dlock_waiter *waiter = &turn->waiter;

	for (;;) {
		dlock_stock_attempt attempt = attempt_of(turn, queue);
		dlock_status status = dlock_stock_ask(route, waiter->slot, dlock_request_stock_reserve(key, &attempt), delivery, error);
		if (status == DLOCK_OK) {
			status = dlock_read_stock_reserve(delivery->call, delivery->conn, response, error);
		}
		if (status != DLOCK_OK || response->result != DLOCK_RESERVE_AGAIN) {
			return status;
		}
		waiter->ticket = queue && response->refusal.ticket > 0 ? response->refusal.ticket : waiter->ticket;
		if (dlock_now() >= route->until) {
			return dlock_fail(error, DLOCK_CONNECTION, "Redis at %s: more reservations have ended than were swept in the time allowed; ask again",
				delivery->conn->server->label);
		}
		dlock_delivery_end(delivery);
	}
}

/* Where nobody has reserved any, none can become available: there is nothing to wait for. That is known once it has asked to be in the queue. */
static dlock_status attempt(dlock_waiter *waiter, const dlock_route *route, bool queue, dlock_response *refusal, bool *transient, dlock_error *error)
{
	dlock_stock_turn *turn = turn_of(waiter);
	dlock_arg key = dlock_stock_key(turn->stock, 0, turn->order->skus[0]);
	dlock_delivery delivery;
	dlock_reserve_response response;

	waiter->number++;
	turn->queued |= queue;
	dlock_status status = ask_in_turn(turn, route, key, queue, &delivery, &response, error);
	bool waits = status == DLOCK_OK && response.result == DLOCK_RESERVE_SHORT && (queue ? response.refusal.pttl >= 0 : turn->may_wait);
	if (status == DLOCK_OK && !(waits && queue)) {
		status = dlock_stock_confirm_answer(route, &delivery, key, kind_of(&response), error);
	}
	if (status == DLOCK_OK) {
		*turn->answer = answer_of(&response, delivery.call);
		*refusal = response.refusal;
		if (response.result == DLOCK_RESERVE_SHORT) {
			dlock_waiter_refused(waiter, &delivery, queue, refusal);
		} else {
			turn->queued = false;
		}
		status = waits ? DLOCK_TIMEOUT : DLOCK_OK;
	}
	*transient = status == DLOCK_CONNECTION && delivery.transient;
	dlock_delivery_end(&delivery);
	return status;
}

static dlock_status leave_queue(dlock_waiter *waiter, dlock_error *error)
{
	dlock_stock_turn *turn = turn_of(waiter);
	dlock_stock_attempt attempt = attempt_of(turn, true);
	dlock_route route = dlock_waiter_last_route(waiter);
	dlock_delivery delivery;
	dlock_response response;

	if (!turn->queued) {
		return DLOCK_OK;
	}
	dlock_arg key = dlock_stock_key(turn->stock, 0, turn->order->skus[0]);
	dlock_status status = dlock_deliver(&delivery, &route, waiter->slot, dlock_request_stock_leave(key, &attempt), error);
	if (status == DLOCK_OK) {
		status = dlock_read_integer(delivery.call, delivery.conn, &response, error);
	}
	dlock_delivery_end(&delivery);
	turn->queued = false;
	return status == DLOCK_OK ? DLOCK_OK : DLOCK_TIMEOUT;
}

/* What was granted has a short time, and is confirmed by nobody: it is asked for again. */
static bool accept_hint(dlock_waiter *waiter, const dlock_grant *grant)
{
	(void) waiter;
	(void) grant;
	return false;
}

void dlock_stock_leave(dlock_stock_turn *turn)
{
	dlock_conn *conn = turn->queued ? dlock_route_conn(&turn->stock->route, turn->waiter.slot) : NULL;

	if (conn) {
		dlock_stock_attempt attempt = attempt_of(turn, true);
		dlock_arg key = dlock_stock_key(turn->stock, 0, turn->order->skus[0]);
		dlock_conn_send_background(conn, dlock_request_stock_leave(key, &attempt), dlock_after(dlock_now(), DLOCK_GRANT_TTL));
	}
	turn->queued = false;
}

static dlock_status reserve_in_turn(dlock_stock_turn *turn, const dlock_wait *wait, dlock_stock_answer *answer, dlock_error *error)
{
	static const dlock_waiter_ops ops = { attempt, leave_queue, accept_hint };
	dlock_stock *stock = turn->stock;
	dlock_waiter *waiter = &turn->waiter;

	turn->answer = answer;
	turn->may_wait = wait->deadline > dlock_now();
	waiter->ops = &ops;
	waiter->service = stock->service;
	waiter->route = &stock->route;
	waiter->slot = dlock_stock_slot(stock, dlock_stock_key(stock, 0, turn->order->skus[0]));
	waiter->ttl = turn->ttl;
	waiter->name = turn->order->id.text;
	dlock_status status = dlock_waiter_acquire(waiter, wait, error);
	if (status == DLOCK_TIMEOUT) {
		*answer = (dlock_stock_answer) { .outcome = DLOCK_STOCK_SHORT };
		status = DLOCK_OK;
	}
	if (status != DLOCK_INTERRUPTED) {
		dlock_stock_leave(turn);
	}
	return status;
}

dlock_status dlock_stock_reserve(dlock_stock_turn *turn, const dlock_wait *wait, dlock_stock_answer *answer, dlock_error *error)
{
	return turn->order->count == 1 ? reserve_in_turn(turn, wait, answer, error) : reserve_all(turn, answer, error);
}
