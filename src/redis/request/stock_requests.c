#include "stock_requests.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../wire/reply.h"

/* DLOCK_OK: the reply is a list that begins with `count` numbers, which are now in `out`. */
static dlock_status read_numbers(
	const redisReply *reply, const dlock_conn *conn, int64_t *out, size_t count, dlock_error *error)
{
	for (size_t i = 0; i < count; i++) {
		if (reply->type != REDIS_REPLY_ARRAY || !dlock_integer_at(reply, i, &out[i])) {
			return dlock_unexpected_reply(conn, error);
		}
	}
	return DLOCK_OK;
}

static const char *text_at(const redisReply *reply, size_t index)
{
	return reply->type == REDIS_REPLY_ARRAY && index < reply->elements
			&& reply->element[index]->type == REDIS_REPLY_STRING
		? reply->element[index]->str
		: NULL;
}

bool dlock_stock_is_unfinished(const dlock_call *call)
{
	int64_t first;

	if (call->state != DLOCK_CALL_ANSWERED || call->reply->type != REDIS_REPLY_ARRAY) {
		return false;
	}
	const char *text = text_at(call->reply, 0);
	return text ? !strcmp(text, "again") : call->origin != &dlock_scripts[DLOCK_SCRIPT_STOCK_RESTOCK]
		&& dlock_integer_at(call->reply, 0, &first) && first == DLOCK_RESERVE_AGAIN;
}

bool dlock_stock_reserves(const dlock_call *call)
{
	return call->origin == &dlock_scripts[DLOCK_SCRIPT_STOCK_RESERVE]
		|| call->origin == &dlock_scripts[DLOCK_SCRIPT_STOCK_BASKET];
}

bool dlock_stock_finds_nothing(const dlock_call *call)
{
	bool reserves = dlock_stock_reserves(call);
	const redisReply *reply = call->reply;
	int64_t first, why;

	if (reply->type == REDIS_REPLY_INTEGER) {
		return call->origin == &dlock_scripts[DLOCK_SCRIPT_STOCK_SALE] && reply->integer == 3;
	}
	if (call->origin == &dlock_scripts[DLOCK_SCRIPT_STOCK_ORDERS]) {
		return reply->type == REDIS_REPLY_ARRAY && reply->elements == 0;
	}
	if (reply->type == REDIS_REPLY_ARRAY && reply->elements > 0 && reply->element[0]->type == REDIS_REPLY_ARRAY) {
		reply = reply->element[0]; /* counts, or states: the stocks of a call are at one server */
		return dlock_integer_at(reply, 0, &first) && first == 0;
	}
	return dlock_integer_at(reply, 0, &first) && first == (reserves ? DLOCK_RESERVE_CLOSED : 0)
		&& dlock_integer_at(reply, reserves ? 1 : 2, &why) && why == 0;
}

/* {1, fencing token, units, ms left, generation} or {2, fencing token, units, ms ago, generation} */
static dlock_status read_held(
	const redisReply *reply, const dlock_conn *conn, dlock_reserve_response *response, dlock_error *error)
{
	int64_t n[5] = { 0 };

	if (read_numbers(reply, conn, n, 5, error) != DLOCK_OK) {
		return DLOCK_CONNECTION;
	}
	response->fencing_token = n[1];
	response->units = n[2];
	response->ms = n[3];
	response->generation = (int) n[4];
	return dlock_is_fencing_token(n[1]) ? DLOCK_OK : dlock_unexpected_reply(conn, error);
}

static void read_closed(dlock_reserve_response *response, int64_t sale)
{
	response->is_unknown = sale == 0;
	response->sale = sale == 2 ? DLOCK_SALE_ENDED : DLOCK_SALE_CLOSED;
}

/* {0, ms, position, ticket as text, new}; `first`: the index of the ms */
static dlock_status read_refusal(const redisReply *reply, size_t first, const dlock_conn *conn,
	dlock_reserve_response *response, dlock_error *error)
{
	dlock_response *refusal = &response->refusal;
	const char *ticket = text_at(reply, first + 2);

	if (!dlock_integer_at(reply, first, &refusal->pttl) || !dlock_integer_at(reply, first + 1, &refusal->position)
		|| !ticket || !dlock_integer_at(reply, first + 3, &refusal->new_in_queue)) {
		return dlock_unexpected_reply(conn, error);
	}
	refusal->ticket = strtoll(ticket, NULL, 10);
	return DLOCK_OK;
}

/* {-2, ticket as text} */
static int64_t ticket_of_again(const redisReply *reply)
{
	return text_at(reply, 1) ? strtoll(text_at(reply, 1), NULL, 10) : 0;
}

dlock_status dlock_read_stock_reserve(
	const dlock_call *call, const dlock_conn *conn, dlock_reserve_response *response, dlock_error *error)
{
	int64_t n[3] = { 0 };

	*response = (dlock_reserve_response) { .refusal = { .pttl = -1, .position = -1 } };
	if (dlock_check_reply(call, conn, error) != DLOCK_OK) {
		return DLOCK_CONNECTION;
	}
	const redisReply *reply = call->reply;
	if (reply->type == REDIS_REPLY_INTEGER && reply->integer == DLOCK_RESERVE_SHORT) {
		return DLOCK_OK;
	}
	if (read_numbers(reply, conn, n, 1, error) != DLOCK_OK) {
		return DLOCK_CONNECTION;
	}
	response->result = (dlock_reserve_result) n[0];
	switch (response->result) {
	case DLOCK_RESERVE_HELD:
	case DLOCK_RESERVE_SOLD:
		return read_held(reply, conn, response, error);
	case DLOCK_RESERVE_SHORT:
		return read_refusal(reply, 1, conn, response, error);
	case DLOCK_RESERVE_AGAIN:
		response->refusal.ticket = ticket_of_again(reply);
		return DLOCK_OK;
	case DLOCK_RESERVE_CANCELLED:
		return DLOCK_OK;
	case DLOCK_RESERVE_LIMITED:
	case DLOCK_RESERVE_CLOSED:
		read_numbers(reply, conn, n, 2, error);
		response->units = n[1];
		read_closed(response, n[1]);
		return DLOCK_OK;
	case DLOCK_RESERVE_CONFLICT:
		read_numbers(reply, conn, n, 3, error);
		response->units = n[1];
		response->other_products = n[2] != 0;
		return DLOCK_OK;
	}
	return dlock_unexpected_reply(conn, error);
}

/* {0, stock}, with the rest of a refusal behind it if the order waits; {-1, units, stock}; {-4, units, stock, other};
 * {-5, sale, stock}. Stocks count from 1. */
dlock_status dlock_read_stock_basket(
	const dlock_call *call, const dlock_conn *conn, dlock_reserve_response *response, dlock_error *error)
{
	int64_t n[4] = { 0 };

	*response = (dlock_reserve_response) { .refusal = { .pttl = -1, .position = -1 } };
	if (dlock_check_reply(call, conn, error) != DLOCK_OK || read_numbers(call->reply, conn, n, 1, error) != DLOCK_OK) {
		return DLOCK_CONNECTION;
	}
	response->result = (dlock_reserve_result) n[0];
	if (n[0] == DLOCK_RESERVE_AGAIN || n[0] == DLOCK_RESERVE_CANCELLED) {
		response->refusal.ticket = n[0] == DLOCK_RESERVE_AGAIN ? ticket_of_again(call->reply) : 0;
		return DLOCK_OK;
	}
	if (n[0] == DLOCK_RESERVE_HELD || n[0] == DLOCK_RESERVE_SOLD) {
		return read_held(call->reply, conn, response, error);
	}
	size_t numbers = n[0] == DLOCK_RESERVE_SHORT ? 2 : n[0] == DLOCK_RESERVE_CONFLICT ? 4 : 3;
	if (read_numbers(call->reply, conn, n, numbers, error) != DLOCK_OK
		|| (n[0] == DLOCK_RESERVE_SHORT && call->reply->elements > 2
			&& read_refusal(call->reply, 2, conn, response, error) != DLOCK_OK)) {
		return DLOCK_CONNECTION;
	}
	int64_t item = n[0] == DLOCK_RESERVE_SHORT ? n[1] : n[2];
	response->item = (int) item - 1;
	response->units = n[1];
	response->other_products = n[3] != 0;
	read_closed(response, n[1]);
	return item >= 1 && item <= DLOCK_STOCKS_MAX ? DLOCK_OK : dlock_unexpected_reply(conn, error);
}

dlock_status dlock_read_stock_order(
	const dlock_call *call, const dlock_conn *conn, dlock_order_response *response, dlock_error *error)
{
	int64_t n[4] = { 0 };

	*response = (dlock_order_response) { 0 };
	if (dlock_check_reply(call, conn, error) != DLOCK_OK || read_numbers(call->reply, conn, n, 1, error) != DLOCK_OK) {
		return DLOCK_CONNECTION;
	}
	response->result = (int) n[0];
	if (n[0] > 0) {
		dlock_integer_at(call->reply, 1, &response->number);
		return n[0] <= 3 ? DLOCK_OK : dlock_unexpected_reply(conn, error);
	}
	if (read_numbers(call->reply, conn, n, 3, error) != DLOCK_OK) {
		return DLOCK_CONNECTION;
	}
	dlock_integer_at(call->reply, 3, &response->number);
	response->item = (int) n[1] - 1;
	response->reason = (dlock_order_reason) n[2];
	bool good = n[1] >= 1 && n[1] <= DLOCK_STOCKS_MAX && n[2] >= DLOCK_ORDER_UNKNOWN && n[2] <= DLOCK_ORDER_SHORT;
	return good ? DLOCK_OK : dlock_unexpected_reply(conn, error);
}

/* Does the list have one element for each stock? */
static bool is_list_of(const redisReply *reply, int count)
{
	return reply->type == REDIS_REPLY_ARRAY && reply->elements == (size_t) count;
}

dlock_status dlock_read_stock_status(
	const dlock_call *call, const dlock_conn *conn, int count, dlock_order_status *status, dlock_error *error)
{
	int64_t n[4] = { 0 };

	if (dlock_check_reply(call, conn, error) != DLOCK_OK) {
		return DLOCK_CONNECTION;
	}
	for (int i = 0; i < count; i++) {
		if (!is_list_of(call->reply, count) || read_numbers(call->reply->element[i], conn, n, 4, error) != DLOCK_OK) {
			return dlock_unexpected_reply(conn, error);
		}
		status[i] = (dlock_order_status){
			.state = (dlock_order_state) n[0], .units = n[1], .ms = n[2], .generation = (int) n[3]
		};
		dlock_integer_at(call->reply->element[i], 5, &status[i].at);
		const char *products = text_at(call->reply->element[i], 4);
		snprintf(status[i].products, sizeof status[i].products, "%s", products ? products : "");
	}
	return DLOCK_OK;
}

dlock_status dlock_read_stock_counts(const dlock_call *call, const dlock_conn *conn, int count,
	dlock_stock_counts *counts, bool *unfinished, dlock_error *error)
{
	int64_t n[6] = { 0 };

	*unfinished = false;
	if (dlock_check_reply(call, conn, error) != DLOCK_OK) {
		return DLOCK_CONNECTION;
	}
	for (int i = 0; i < count; i++) {
		if (!is_list_of(call->reply, count) || read_numbers(call->reply->element[i], conn, n, 6, error) != DLOCK_OK) {
			return dlock_unexpected_reply(conn, error);
		}
		counts[i] = (dlock_stock_counts){ n[0] > 0, n[0] > 1 ? (dlock_sale) (n[0] - 1) : DLOCK_SALE_OPEN, n[1], n[2],
			n[3], n[4], 0 };
		*unfinished |= n[5] != 0;
	}
	return DLOCK_OK;
}

dlock_status dlock_read_stock_restock(
	const dlock_call *call, const dlock_conn *conn, int64_t *changed, dlock_error *error)
{
	return dlock_check_reply(call, conn, error) == DLOCK_OK ? read_numbers(call->reply, conn, changed, 1, error)
															: DLOCK_CONNECTION;
}

dlock_status dlock_read_stock_lineage(const dlock_call *call, const dlock_conn *conn, dlock_lineage_state *state,
	int64_t *since, dlock_error *error)
{
	int64_t n[2] = { 0 };

	if (dlock_check_reply(call, conn, error) != DLOCK_OK || read_numbers(call->reply, conn, n, 2, error) != DLOCK_OK) {
		return DLOCK_CONNECTION;
	}
	*state = (dlock_lineage_state) n[0];
	*since = n[1];
	return n[0] >= 0 && n[0] <= 2 && n[1] >= 0 ? DLOCK_OK : dlock_unexpected_reply(conn, error);
}

/* {{id, number, units, ms left}, …}, and at the end {number, id} if there may be more */
dlock_status dlock_read_stock_orders(const dlock_call *call, const dlock_conn *conn, int *count,
	const char **next_number, const char **next_id, dlock_error *error)
{
	*next_number = *next_id = NULL;
	if (dlock_check_reply(call, conn, error) != DLOCK_OK) {
		return DLOCK_CONNECTION;
	}
	const redisReply *reply = call->reply;
	if (reply->type != REDIS_REPLY_ARRAY) {
		return dlock_unexpected_reply(conn, error);
	}
	*count = (int) reply->elements;
	for (size_t i = 0; i < reply->elements; i++) {
		const redisReply *entry = reply->element[i];
		int64_t units;
		if (!text_at(entry, 0) || !text_at(entry, 1)) {
			return dlock_unexpected_reply(conn, error);
		}
		if (i + 1 == reply->elements && entry->elements == 2) {
			*next_number = text_at(entry, 0);
			*next_id = text_at(entry, 1);
			(*count)--;
		} else if (!dlock_integer_at(entry, 2, &units)) {
			return dlock_unexpected_reply(conn, error);
		}
	}
	return DLOCK_OK;
}

/* stock_pool.lua has the ranges. */
static dlock_order_state state_of(int64_t number)
{
	static const dlock_order_state states[] = { DLOCK_STATE_RESERVED, DLOCK_STATE_SOLD, DLOCK_STATE_ENDED,
		DLOCK_STATE_CANCELLED, DLOCK_STATE_REFUNDED };
	int64_t range = number / 10000000000000;

	return range >= 0 && range <= 4 ? states[range] : DLOCK_STATE_NONE;
}

dlock_listed_order dlock_read_stock_order_at(const dlock_call *call, int index)
{
	const redisReply *entry = call->reply->element[index];
	int64_t number = strtoll(text_at(entry, 1), NULL, 10); /* drops the 64ths */
	dlock_listed_order order = { .id = text_at(entry, 0), .state = state_of(number), .at = number % 10000000000000 };

	dlock_integer_at(entry, 2, &order.units);
	dlock_integer_at(entry, 3, &order.left);
	if (order.state == DLOCK_STATE_RESERVED && order.left < 0) {
		order.state = DLOCK_STATE_ENDED;
	}
	return order;
}
