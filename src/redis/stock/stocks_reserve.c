#include "stocks.h"

#include <stddef.h>
#include <string.h>

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
	dlock_stock_question asked;
	dlock_permits_response response;

	for (int i = 0; i < order->count; i++) {
		keys[i] = dlock_stock_key(turn->stock, i, order->articles[i]);
	}
	dlock_status status = dlock_stock_ask(&asked, &turn->stock->masters, dlock_stock_slot(turn->stock, keys[0]),
		dlock_request_permits_reserve(keys, order->count, order->id.text, turn->ttl, turn->limit, order->pieces), error);
	if (status == DLOCK_OK) {
		status = dlock_read_permits_reserve(asked.route.call, asked.route.conn, &response, error);
	}
	if (status == DLOCK_OK) { /* what was bought before is not written again */
		status = dlock_stock_confirm_answer(&asked, keys[0], false);
	}
	if (status == DLOCK_OK || status == DLOCK_LOST) {
		answer_of(status, &response, asked.route.call, answer);
		status = DLOCK_OK;
	}
	dlock_stock_end(&asked);
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

static dlock_arg key_of(const dlock_stock_turn *turn)
{
	return dlock_stock_key(turn->stock, 0, turn->order->articles[0]);
}

static void begin_attempt(dlock_stock_turn *turn)
{
	dlock_waiter *waiter = &turn->waiter;

	waiter->number++;
	turn->queued |= waiter->queue;
	dlock_permits_attempt attempt = attempt_of(turn, waiter->queue);
	dlock_stock_begin(&turn->asked, &turn->stock->masters, waiter->slot, dlock_request_permits_acquire(key_of(turn), &attempt), waiter->error);
	turn->asked.route.until = waiter->until;
}

static void read_attempt(dlock_stock_turn *turn)
{
	const dlock_route *route = &turn->asked.route;

	if (turn->said == DLOCK_OK) {
		turn->said = dlock_read_permits(route->call, route->conn, &turn->response, turn->waiter.error);
	}
}

/* Where nobody has reserved any, none can come back: there is nothing to wait for. */
static void end_attempt(dlock_stock_turn *turn)
{
	dlock_waiter *waiter = &turn->waiter;
	const dlock_route *route = &turn->asked.route;
	dlock_permits_response *response = &turn->response;

	if (turn->said == DLOCK_LOST && !response->limited) {
		dlock_waiter_refused(waiter, route, &response->refusal);
	}
	if (turn->said == DLOCK_OK || turn->said == DLOCK_LOST) {
		response->pieces[0] = response->permits;
		turn->said = answer_of(turn->said, response, route->call, turn->answer);
		waiter->response = response->refusal;
		turn->queued = turn->queued && turn->said == DLOCK_TIMEOUT;
		turn->said = turn->said == DLOCK_TIMEOUT && response->refusal.pttl < 0 ? DLOCK_OK : turn->said;
	}
	waiter->transient = turn->said == DLOCK_CONNECTION && route->transient;
	dlock_stock_end(&turn->asked);
}

static dlock_status attempt(dlock_waiter *waiter, dlock_loop *loop, dlock_nanos now)
{
	dlock_stock_turn *turn = turn_of(waiter);

	DLOCK_BEGIN(&turn->task);
	begin_attempt(turn);
	DLOCK_JOIN(&turn->task, turn->said, dlock_stock_ask_step(&turn->asked, loop, now));
	read_attempt(turn);
	if (turn->said == DLOCK_OK) {
		DLOCK_JOIN(&turn->task, turn->said,
			dlock_stock_confirm_step(&turn->asked, key_of(turn), !turn->response.bought, loop, now));
	}
	end_attempt(turn);
	DLOCK_END(&turn->task);
	return turn->said;
}

static void begin_leaving(dlock_stock_turn *turn, dlock_nanos now)
{
	dlock_permits_attempt attempt = attempt_of(turn, true);

	dlock_waiter_begin_last_route(&turn->waiter, now);
	dlock_route_send(&turn->waiter.route, dlock_request_permits_leave(key_of(turn), &attempt), NULL);
}

static void take_left(dlock_stock_turn *turn)
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
	dlock_stock_turn *turn = turn_of(waiter);

	DLOCK_BEGIN(&turn->task);
	turn->said = DLOCK_OK;
	if (turn->queued) {
		begin_leaving(turn, now);
		DLOCK_JOIN(&turn->task, turn->said, dlock_route_step(&waiter->route, loop, now));
		take_left(turn);
	}
	DLOCK_END(&turn->task);
	return turn->said;
}

/* What was granted has a short lease, and is confirmed by nobody: it is asked for again. */
static bool accept_hint(dlock_waiter *waiter, const dlock_grant *grant, dlock_nanos now)
{
	(void) now;
	(void) waiter;
	(void) grant;
	return false;
}

void dlock_stock_leave(dlock_stock_turn *turn)
{
	dlock_conn *conn = turn->queued ? dlock_masters_conn(&turn->stock->masters, turn->waiter.slot) : NULL;

	if (conn) {
		dlock_permits_attempt attempt = attempt_of(turn, true);
		dlock_arg key = dlock_stock_key(turn->stock, 0, turn->order->articles[0]);
		dlock_conn_send_background(conn, dlock_request_permits_leave(key, &attempt), dlock_after(dlock_now(), DLOCK_GRANT_TTL));
	}
	turn->queued = false;
	if (turn->waiter.inbox) {
		dlock_waiter_drop(&turn->waiter);
	}
	turn->task.at = 0;
}

static dlock_status reserve_in_turn(dlock_stock_turn *turn, const dlock_wait *wait, dlock_stock_answer *answer, dlock_error *error)
{
	static const dlock_waiter_ops ops = { attempt, leave_queue, accept_hint };
	dlock_stock *stock = turn->stock;
	dlock_waiter *waiter = &turn->waiter;

	turn->answer = answer;
	waiter->ops = &ops;
	waiter->service = stock->service;
	waiter->masters = &stock->masters;
	waiter->slot = dlock_stock_slot(stock, dlock_stock_key(stock, 0, turn->order->articles[0]));
	waiter->ttl = turn->ttl;
	waiter->name = turn->order->id.text;
	waiter->deadline = wait->deadline;
	waiter->error = error;
	dlock_status status = dlock_loop_run(
		dlock_pool_loop(stock->masters.pool), dlock_waiter_step, waiter, DLOCK_FOREVER, wait);
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
