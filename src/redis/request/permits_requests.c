#include "permits_requests.h"

#include <stdlib.h>
#include <string.h>

#include "../wire/reply.h"

/* ---- requests ---- */

static const dlock_arg nothing = { "", 0 };

static dlock_arg ttl_arg(dlock_number *out, dlock_nanos ttl)
{
	return dlock_number_arg(out, ttl < DLOCK_MS ? 1 : ttl / DLOCK_MS);
}

/* 0 is what the scripts take '' for. */
static dlock_arg optional_arg(dlock_number *out, int64_t value)
{
	return value > 0 ? dlock_number_arg(out, value) : nothing;
}

static dlock_arg inbox_arg(const dlock_inbox *inbox)
{
	return inbox ? DLOCK_ARG(inbox->channel) : nothing;
}

dlock_call *dlock_request_permits(dlock_arg key, const dlock_permits_attempt *attempt)
{
	dlock_number permits, capacity, ttl, limit, ticket, number;
	dlock_arg args[] = { key, DLOCK_ARG(attempt->id), dlock_number_arg(&permits, attempt->permits), optional_arg(&capacity, attempt->capacity),
		ttl_arg(&ttl, attempt->ttl), optional_arg(&limit, attempt->limit), inbox_arg(attempt->inbox), dlock_number_arg(&ticket, attempt->ticket),
		dlock_number_arg(&number, attempt->number), DLOCK_ARG("1") };

	return dlock_call_script(DLOCK_SCRIPT_PERMITS_ACQUIRE, args, attempt->fifo ? 10 : 9);
}

/* A script about one waiter, which is named by what it asked with. */
static dlock_call *waiter_call(dlock_script_id script, dlock_arg key, const dlock_permits_attempt *attempt)
{
	dlock_number permits, capacity, limit;
	dlock_arg args[] = { key, DLOCK_ARG(attempt->id), dlock_number_arg(&permits, attempt->permits), optional_arg(&capacity, attempt->capacity),
		optional_arg(&limit, attempt->limit), inbox_arg(attempt->inbox) };

	return dlock_call_script_on(script, 1, args, 6);
}

static dlock_call *id_call(dlock_script_id script, const dlock_arg *keys, int count, const char *id)
{
	dlock_arg args[DLOCK_STOCKS_MAX + 1];

	memcpy(args, keys, (size_t) count * sizeof *keys);
	args[count] = DLOCK_ARG(id);
	return dlock_call_script_on(script, count, args, count + 1);
}

dlock_call *dlock_request_permits_release(dlock_arg key, const char *id)
{
	return id_call(DLOCK_SCRIPT_PERMITS_RELEASE, &key, 1, id);
}

dlock_call *dlock_request_permits_abandon(dlock_arg key, const dlock_permits_attempt *attempt)
{
	return attempt->inbox ? waiter_call(DLOCK_SCRIPT_PERMITS_RELEASE, key, attempt) : dlock_request_permits_release(key, attempt->id);
}

dlock_call *dlock_request_permits_leave(dlock_arg key, const dlock_permits_attempt *attempt)
{
	return waiter_call(DLOCK_SCRIPT_PERMITS_LEAVE, key, attempt);
}

dlock_call *dlock_request_permits_renew(dlock_arg key, const char *id, dlock_nanos ttl, bool only_longer)
{
	dlock_number lease;
	dlock_arg args[] = { key, DLOCK_ARG(id), ttl_arg(&lease, ttl), DLOCK_ARG(only_longer ? "1" : "0") };

	return dlock_call_script(DLOCK_SCRIPT_PERMITS_RENEW, args, 4);
}

dlock_call *dlock_request_permits_check(dlock_arg key, const char *id)
{
	return id_call(DLOCK_SCRIPT_PERMITS_CHECK, &key, 1, id);
}

dlock_call *dlock_request_permits_exchange(dlock_arg key, const char *old, const char *new_id)
{
	dlock_arg args[] = { key, DLOCK_ARG(old), DLOCK_ARG(new_id) };

	return dlock_call_script(DLOCK_SCRIPT_PERMITS_EXCHANGE, args, 3);
}

dlock_call *dlock_request_permits_counts(dlock_arg key, int64_t capacity)
{
	dlock_number number;
	dlock_arg args[] = { key, optional_arg(&number, capacity) };

	return dlock_call_script(DLOCK_SCRIPT_PERMITS_COUNTS, args, 2);
}

dlock_call *dlock_request_permits_reserve(const dlock_arg *keys, int count, const char *id, dlock_nanos ttl, const int64_t *pieces, int64_t limit)
{
	dlock_number lease, most, number[DLOCK_STOCKS_MAX];
	dlock_arg args[2 * DLOCK_STOCKS_MAX + 3];
	int n = count;

	memcpy(args, keys, (size_t) count * sizeof *keys);
	args[n++] = DLOCK_ARG(id);
	args[n++] = ttl_arg(&lease, ttl);
	args[n++] = optional_arg(&most, limit);
	for (int i = 0; i < count; i++) {
		args[n++] = dlock_number_arg(&number[i], pieces[i]);
	}
	return dlock_call_script_on(DLOCK_SCRIPT_PERMITS_RESERVE, count, args, n);
}

dlock_call *dlock_request_permits_confirm(const dlock_arg *keys, int count, const char *id)
{
	return id_call(DLOCK_SCRIPT_PERMITS_CONFIRM, keys, count, id);
}

dlock_call *dlock_request_permits_cancel(const dlock_arg *keys, int count, const char *id)
{
	return id_call(DLOCK_SCRIPT_PERMITS_RELEASE, keys, count, id);
}

dlock_call *dlock_request_permits_restock(dlock_arg key, int64_t pieces, const char *change)
{
	dlock_number number;
	dlock_arg args[] = { key, dlock_number_arg(&number, pieces), change ? DLOCK_ARG(change) : nothing };

	return dlock_call_script(DLOCK_SCRIPT_PERMITS_RESTOCK, args, 3);
}

/* ---- responses ---- */

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
