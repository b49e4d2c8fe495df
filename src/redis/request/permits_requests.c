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

static dlock_arg inbox_arg(const dlock_inbox *inbox)
{
	return inbox ? DLOCK_ARG(inbox->channel) : nothing;
}

dlock_call *dlock_request_permits(dlock_arg key, const dlock_permits_attempt *attempt)
{
	dlock_number permits, capacity, ttl, ticket, number;
	dlock_arg args[] = { key, DLOCK_ARG(attempt->id), dlock_number_arg(&permits, attempt->permits), dlock_number_arg(&capacity, attempt->capacity),
		ttl_arg(&ttl, attempt->ttl), inbox_arg(attempt->inbox), dlock_number_arg(&ticket, attempt->ticket), dlock_number_arg(&number, attempt->number),
		DLOCK_ARG("1") };

	return dlock_call_script(DLOCK_SCRIPT_PERMITS_ACQUIRE, args, attempt->fifo ? 9 : 8);
}

/* A script about one waiter, which is named by what it asked with. */
static dlock_call *waiter_call(dlock_script_id script, dlock_arg key, const dlock_permits_attempt *attempt)
{
	dlock_number permits, capacity;
	dlock_arg args[] = { key, DLOCK_ARG(attempt->id), dlock_number_arg(&permits, attempt->permits), dlock_number_arg(&capacity, attempt->capacity),
		inbox_arg(attempt->inbox) };

	return dlock_call_script(script, args, 5);
}

static dlock_call *id_call(dlock_script_id script, dlock_arg key, const char *id)
{
	dlock_arg args[] = { key, DLOCK_ARG(id) };

	return dlock_call_script(script, args, 2);
}

dlock_call *dlock_request_permits_release(dlock_arg key, const char *id)
{
	return id_call(DLOCK_SCRIPT_PERMITS_RELEASE, key, id);
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
	return id_call(DLOCK_SCRIPT_PERMITS_CHECK, key, id);
}

dlock_call *dlock_request_permits_exchange(dlock_arg key, const char *old, const char *new_id)
{
	dlock_arg args[] = { key, DLOCK_ARG(old), DLOCK_ARG(new_id) };

	return dlock_call_script(DLOCK_SCRIPT_PERMITS_EXCHANGE, args, 3);
}

dlock_call *dlock_request_permits_counts(dlock_arg key, int64_t capacity)
{
	dlock_number number;
	dlock_arg args[] = { key, dlock_number_arg(&number, capacity) };

	return dlock_call_script(DLOCK_SCRIPT_PERMITS_COUNTS, args, 2);
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

enum { REFUSED, HELD }; /* how the replies to acquire begin */

/* Of permits that the server has given. */
static dlock_status check_fencing_token(const dlock_permits_response *response, const dlock_conn *conn, dlock_error *error)
{
	return dlock_is_fencing_token(response->fencing_token) ? DLOCK_OK : dlock_unexpected_reply(conn, error);
}

/* {1, fencing token, permits, ms left}, {0, ms, position, ticket as text, new} */
dlock_status dlock_read_permits(const dlock_call *call, const dlock_conn *conn, dlock_permits_response *response, dlock_error *error)
{
	int64_t n[3] = { 0 };
	dlock_status status = read_numbers(call, conn, n, 3, error);

	*response = (dlock_permits_response) { 0 };
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
	return n[0] == HELD && dlock_integer_at(call->reply, 3, &response->pttl) ? check_fencing_token(response, conn, error) : dlock_unexpected_reply(conn, error);
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

/* {all, available, held, waiting} */
dlock_status dlock_read_permits_counts(const dlock_call *call, const dlock_conn *conn, dlock_permits_counts *counts, dlock_error *error)
{
	int64_t n[4] = { 0 };
	dlock_status status = read_numbers(call, conn, n, 4, error);

	*counts = (dlock_permits_counts) { n[0], n[1], n[2], n[3] };
	return status;
}
