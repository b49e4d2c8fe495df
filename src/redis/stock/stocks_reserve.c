#include "stocks.h"

#include <stddef.h>
#include <string.h>

#include "../lock/waiting.h"
#include "stocks_internal.h"

/* Reserving pieces, and waiting in turn for those that others have reserved. Where the outcome is not known, nothing is taken back: the order has a name,
 * and who asks again finds it. */

/* What the servers said, as an answer. DLOCK_OK: it is one. DLOCK_TIMEOUT: not enough. */
static dlock_status answer_of(dlock_status status, const dlock_permits_response *response, const dlock_call *call, dlock_stock_answer *answer)
{
	*answer = (dlock_stock_answer) { .article = response->stock };
	if (status == DLOCK_LOST) {
		answer->limited_pieces = response->permits;
		answer->outcome = response->limited ? DLOCK_STOCK_LIMITED : DLOCK_STOCK_SHORT;
		return response->limited ? DLOCK_OK : DLOCK_TIMEOUT;
	}
	answer->outcome = response->bought ? DLOCK_STOCK_BOUGHT : DLOCK_STOCK_RESERVED;
	memcpy(answer->pieces, response->pieces, sizeof answer->pieces);
	if (!response->bought) {
		answer->fencing_token = response->fencing_token;
		answer->deadline = dlock_stock_deadline(call, response->pttl);
	}
	return DLOCK_OK;
}

/* ---- several articles ---- */

static dlock_status reserve_all(const dlock_stock_turn *turn, dlock_stock_answer *answer, dlock_error *error)
{
	const dlock_order *order = turn->order;
	dlock_arg keys[DLOCK_STOCKS_MAX];
	dlock_delivery delivery;
	dlock_permits_response response;

	for (int i = 0; i < order->count; i++) {
		keys[i] = dlock_stock_key(turn->stock, i, order->articles[i]);
	}
	dlock_status status = dlock_stock_ask(&turn->stock->route, dlock_stock_slot(turn->stock, keys[0]),
		dlock_request_permits_reserve(keys, order->count, order->id.text, turn->ttl, order->pieces, turn->limit), &delivery, error);
	if (status == DLOCK_OK) {
		status = dlock_read_permits_reserve(delivery.call, delivery.conn, &response, error);
	}
	if (status == DLOCK_OK) { /* what was bought before is not written again */
		status = dlock_stock_confirm_answer(&turn->stock->route, &delivery, keys[0], false, error);
	}
	if (status == DLOCK_OK || status == DLOCK_LOST) {
		answer_of(status, &response, delivery.call, answer);
		status = DLOCK_OK;
	}
	dlock_delivery_end(&delivery);
	return status;
}

/* ---- one article, and its queue ---- */

static dlock_stock_turn *turn_of(dlock_waiter *waiter)
{
	return (dlock_stock_turn *) ((char *) waiter - offsetof(dlock_stock_turn, waiter));
}

static dlock_permits_attempt attempt_of(const dlock_stock_turn *turn, bool queue)
{
	return (dlock_permits_attempt) { .id = turn->order->id.text, .permits = turn->order->pieces[0], .ttl = turn->ttl, .limit = turn->limit,
		.inbox = queue ? turn->waiter.inbox : NULL, .ticket = turn->waiter.ticket, .number = turn->waiter.number };
}

/* Where nobody has reserved any, none can come back: there is nothing to wait for. */
static dlock_status attempt(dlock_waiter *waiter, const dlock_route *route, bool queue, dlock_response *refusal, bool *transient, dlock_error *error)
{
	dlock_stock_turn *turn = turn_of(waiter);
	dlock_arg key = dlock_stock_key(turn->stock, 0, turn->order->articles[0]);
	dlock_delivery delivery;
	dlock_permits_response response;

	waiter->number++;
	turn->queued |= queue;
	dlock_permits_attempt attempt = attempt_of(turn, queue);
	dlock_status status = dlock_stock_ask(route, waiter->slot, dlock_request_permits(key, &attempt), &delivery, error);
	if (status == DLOCK_OK) {
		status = dlock_read_permits(delivery.call, delivery.conn, &response, error);
	}
	if (status == DLOCK_OK) {
		status = dlock_stock_confirm_answer(route, &delivery, key, !response.bought, error);
	}
	if (status == DLOCK_LOST && !response.limited) {
		dlock_waiter_refused(waiter, &delivery, queue, &response.refusal);
	}
	if (status == DLOCK_OK || status == DLOCK_LOST) {
		response.pieces[0] = response.permits;
		status = answer_of(status, &response, delivery.call, turn->answer);
		*refusal = response.refusal;
		turn->queued = turn->queued && status == DLOCK_TIMEOUT;
		status = status == DLOCK_TIMEOUT && response.refusal.pttl < 0 ? DLOCK_OK : status;
	}
	*transient = status == DLOCK_CONNECTION && delivery.transient;
	dlock_delivery_end(&delivery);
	return status;
}

static dlock_status leave_queue(dlock_waiter *waiter, dlock_error *error)
{
	dlock_stock_turn *turn = turn_of(waiter);
	dlock_permits_attempt attempt = attempt_of(turn, true);
	dlock_route route = dlock_waiter_last_route(waiter);
	dlock_delivery delivery;
	dlock_response response;

	if (!turn->queued) {
		return DLOCK_OK;
	}
	dlock_arg key = dlock_stock_key(turn->stock, 0, turn->order->articles[0]);
	dlock_status status = dlock_deliver(&delivery, &route, waiter->slot, dlock_request_permits_leave(key, &attempt), error);
	if (status == DLOCK_OK) {
		status = dlock_read_integer(delivery.call, delivery.conn, &response, error);
	}
	dlock_delivery_end(&delivery);
	turn->queued = false;
	return status == DLOCK_OK ? DLOCK_OK : DLOCK_TIMEOUT;
}

/* What was granted has a short lease, and is confirmed by nobody: it is asked for again. */
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
		dlock_permits_attempt attempt = attempt_of(turn, true);
		dlock_arg key = dlock_stock_key(turn->stock, 0, turn->order->articles[0]);
		dlock_conn_send_background(conn, dlock_request_permits_leave(key, &attempt), dlock_after(dlock_now(), DLOCK_GRANT_TTL));
	}
	turn->queued = false;
}

static dlock_status reserve_in_turn(dlock_stock_turn *turn, const dlock_wait *wait, dlock_stock_answer *answer, dlock_error *error)
{
	static const dlock_waiter_ops ops = { attempt, leave_queue, accept_hint };
	dlock_stock *stock = turn->stock;
	dlock_waiter *waiter = &turn->waiter;

	turn->answer = answer;
	waiter->ops = &ops;
	waiter->service = stock->service;
	waiter->route = &stock->route;
	waiter->slot = dlock_stock_slot(stock, dlock_stock_key(stock, 0, turn->order->articles[0]));
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
