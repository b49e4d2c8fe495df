#include "permits_requests.h"

#include <stdlib.h>

#include "../wire/reply.h"

/* DLOCK_OK: a list of numbers, that many of them in `out`. */
static dlock_status read_numbers(const dlock_call *call, const dlock_conn *conn, int64_t *out, size_t count, dlock_error *error)
{
	if (dlock_check_reply(call, conn, error) != DLOCK_OK) {
		return DLOCK_CONNECTION;
	}
	for (size_t i = 0; i < count; i++) {
		if (call->reply->type != REDIS_REPLY_ARRAY || !dlock_integer_at(call->reply, i, &out[i])) {
			return dlock_unexpected_reply(conn, error);
		}
	}
	return DLOCK_OK;
}

enum { LIMITED = -1, REFUSED, HELD, BOUGHT }; /* how the replies to acquire and reserve begin */

/* Of permits that the server has given. */
static dlock_status check_fencing_token(const dlock_permits_response *response, const dlock_conn *conn, dlock_error *error)
{
	return dlock_is_fencing_token(response->fencing_token) ? DLOCK_OK : dlock_unexpected_reply(conn, error);
}

/* {1, fencing token, permits, ms left}, {2, 0, permits, 0}, {-1, 0, the buyer's pieces, 0}, {0, ms, position, ticket as text, new} */
dlock_status dlock_read_permits(const dlock_call *call, const dlock_conn *conn, dlock_permits_response *response, dlock_error *error)
{
	int64_t n[3] = { 0 };
	dlock_status status = read_numbers(call, conn, n, 3, error);

	*response = (dlock_permits_response) { .bought = n[0] == BOUGHT, .limited = n[0] == LIMITED };
	if (status != DLOCK_OK) {
		return status;
	}
	if (n[0] == REFUSED) {
		const redisReply *reply = call->reply;
		if (!dlock_integer_at(reply, 4, &response->refusal.new_in_queue) || reply->element[3]->type != REDIS_REPLY_STRING) {
			return dlock_unexpected_reply(conn, error);
		}
		response->refusal.pttl = n[1];
		response->refusal.position = n[2];
		response->refusal.ticket = strtoll(reply->element[3]->str, NULL, 10);
		return DLOCK_LOST;
	}
	response->fencing_token = n[1];
	response->permits = n[2];
	if (n[0] == HELD) {
		return dlock_integer_at(call->reply, 3, &response->pttl) ? check_fencing_token(response, conn, error) : dlock_unexpected_reply(conn, error);
	}
	return response->limited ? DLOCK_LOST : response->bought ? DLOCK_OK : dlock_unexpected_reply(conn, error);
}

/* The pieces of each stock are what follows. False: they are something else. */
static bool read_pieces(const redisReply *reply, int64_t pieces[DLOCK_STOCKS_MAX])
{
	size_t count = reply->elements - 4;

	for (size_t i = 0; i < count && count <= DLOCK_STOCKS_MAX; i++) {
		if (!dlock_integer_at(reply, 4 + i, &pieces[i])) {
			return false;
		}
	}
	return count <= DLOCK_STOCKS_MAX;
}

/* {1, fencing token, 0, ms left, pieces…}, {2, 0, 0, 0, pieces…}, {0, stock, 0, 0}, {-1, stock, the buyer's pieces, 0}; stocks from 1 */
dlock_status dlock_read_permits_reserve(const dlock_call *call, const dlock_conn *conn, dlock_permits_response *response, dlock_error *error)
{
	int64_t n[4] = { 0 };
	dlock_status status = read_numbers(call, conn, n, 4, error);

	*response = (dlock_permits_response) { .bought = n[0] == BOUGHT, .limited = n[0] == LIMITED, .permits = n[2], .pttl = n[3] };
	if (status != DLOCK_OK) {
		return status;
	}
	if (!read_pieces(call->reply, response->pieces)) {
		return dlock_unexpected_reply(conn, error);
	}
	if (n[0] == BOUGHT) {
		return DLOCK_OK;
	}
	if (n[0] == HELD) {
		response->fencing_token = n[1];
		return check_fencing_token(response, conn, error);
	}
	response->stock = (int) n[1] - 1;
	return n[1] >= 1 && n[1] <= DLOCK_STOCKS_MAX ? DLOCK_LOST : dlock_unexpected_reply(conn, error);
}

/* {1, fencing token, ms left, permits} or {0} */
dlock_status dlock_read_permits_exchange(const dlock_call *call, const dlock_conn *conn, dlock_permits_response *response, dlock_error *error)
{
	int64_t n[4] = { 0 };
	dlock_status status = read_numbers(call, conn, n, 1, error);

	*response = (dlock_permits_response) { 0 };
	if (status != DLOCK_OK || n[0] != 1) {
		return status == DLOCK_OK ? DLOCK_LOST : status;
	}
	status = read_numbers(call, conn, n, 4, error);
	response->fencing_token = n[1];
	response->pttl = n[2];
	response->permits = n[3];
	return status == DLOCK_OK ? check_fencing_token(response, conn, error) : status;
}

/* {ms left, permits} */
dlock_status dlock_read_permits_check(const dlock_call *call, const dlock_conn *conn, dlock_permits_response *response, dlock_error *error)
{
	int64_t n[2] = { 0 };
	dlock_status status = read_numbers(call, conn, n, 2, error);

	*response = (dlock_permits_response) { .pttl = n[0], .permits = n[1] };
	return status == DLOCK_OK && n[0] <= 0 ? DLOCK_LOST : status;
}

/* {1, 2 or 3, 0} or {0, stock}; stocks from 1 */
dlock_status dlock_read_permits_confirm(const dlock_call *call, const dlock_conn *conn, dlock_confirmation *confirmation, int *stock, dlock_error *error)
{
	int64_t n[2] = { 0 };
	dlock_status status = read_numbers(call, conn, n, 2, error);

	if (status != DLOCK_OK) {
		return status;
	}
	*stock = n[0] == 0 ? (int) n[1] - 1 : -1;
	*confirmation = n[0] == 2 ? DLOCK_CONFIRMED_BEFORE : n[0] == 3 ? DLOCK_CONFIRMED_LATE : DLOCK_CONFIRMED;
	return n[0] >= 1 && n[0] <= 3 ? DLOCK_OK : n[0] == 0 ? DLOCK_LOST : dlock_unexpected_reply(conn, error);
}

/* {all, available, held, sold, waiting} */
dlock_status dlock_read_permits_counts(const dlock_call *call, const dlock_conn *conn, dlock_permits_counts *counts, dlock_error *error)
{
	int64_t n[5] = { 0 };
	dlock_status status = read_numbers(call, conn, n, 5, error);

	*counts = (dlock_permits_counts) { n[0], n[1], n[2], n[3], n[4] };
	return status;
}

/* {change, pieces in all} */
dlock_status dlock_read_permits_restock(const dlock_call *call, const dlock_conn *conn, int64_t *changed, dlock_error *error)
{
	return read_numbers(call, conn, changed, 1, error);
}
