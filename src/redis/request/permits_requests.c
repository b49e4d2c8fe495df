#include "permits_requests.h"

#include <stdlib.h>
#include <string.h>

#include "../wire/reply.h"

/* DLOCK_OK: the reply begins with `count` numbers, which are now in `out`. */
static dlock_status read_numbers(
	const dlock_call *call, const dlock_conn *conn, int64_t *out, size_t count, dlock_error *error)
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

enum { REFUSED, HELD }; /* how replies to acquire begin */

/* For permits that the server has granted. */
static dlock_status check_fencing_token(
	const dlock_permits_response *response, const dlock_conn *conn, dlock_error *error)
{
	return dlock_is_fencing_token(response->fencing_token) ? DLOCK_OK : dlock_unexpected_reply(conn, error);
}

/* {1, fencing token, permits, ms left} or {0, ms, position, ticket as text, new} */
dlock_status dlock_read_permits(
	const dlock_call *call, const dlock_conn *conn, dlock_permits_response *response, dlock_error *error)
{
	int64_t n[3] = { 0 };
	dlock_status status = read_numbers(call, conn, n, 3, error);

	*response = (dlock_permits_response) { 0 };
	if (status != DLOCK_OK) {
		return status;
	}
	if (n[0] == REFUSED) {
		const redisReply *reply = call->reply;
		if (!dlock_integer_at(reply, 4, &response->refusal.new_in_queue)
			|| reply->element[3]->type != REDIS_REPLY_STRING) {
			return dlock_unexpected_reply(conn, error);
		}
		response->refusal.pttl = n[1];
		response->refusal.position = n[2];
		response->refusal.ticket = strtoll(reply->element[3]->str, NULL, 10);
		return DLOCK_LOST;
	}
	response->fencing_token = n[1];
	response->permits = n[2];
	return n[0] == HELD && dlock_integer_at(call->reply, 3, &response->pttl)
		? check_fencing_token(response, conn, error)
		: dlock_unexpected_reply(conn, error);
}

/* {1, fencing token, ms left, permits} or {0} */
dlock_status dlock_read_permits_exchange(
	const dlock_call *call, const dlock_conn *conn, dlock_permits_response *response, dlock_error *error)
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
dlock_status dlock_read_permits_check(
	const dlock_call *call, const dlock_conn *conn, dlock_permits_response *response, dlock_error *error)
{
	int64_t n[2] = { 0 };
	dlock_status status = read_numbers(call, conn, n, 2, error);

	*response = (dlock_permits_response) { .pttl = n[0], .permits = n[1] };
	return status == DLOCK_OK && n[0] <= 0 ? DLOCK_LOST : status;
}

/* {all, available, held, waiting} */
dlock_status dlock_read_permits_counts(
	const dlock_call *call, const dlock_conn *conn, dlock_permits_counts *counts, dlock_error *error)
{
	int64_t n[4] = { 0 };
	dlock_status status = read_numbers(call, conn, n, 4, error);

	*counts = (dlock_permits_counts) { n[0], n[1], n[2], n[3] };
	return status;
}
