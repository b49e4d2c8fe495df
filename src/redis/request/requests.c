#include "requests.h"

#include <stdlib.h>
#include <string.h>

#include "../wire/reply.h"

dlock_nanos dlock_lease_left(int64_t pttl)
{
	if (pttl <= 0) {
		return 0;
	}
	return pttl < DLOCK_TTL_MAX / DLOCK_MS ? pttl * DLOCK_MS : DLOCK_TTL_MAX;
}

/* ---- requests ---- */

dlock_call *dlock_request_holder(dlock_keys keys)
{
	dlock_arg args[] = { DLOCK_ARG("GET"), keys.lock };

	return dlock_call_command(args, 2);
}

/* ---- responses ---- */

bool dlock_request_may_take_effect(const dlock_call *call)
{
	if (!call || (!call->sent && call->state != DLOCK_CALL_PENDING)) {
		return false;
	}
	return call->state != DLOCK_CALL_ANSWERED || call->reply->type != REDIS_REPLY_ERROR
		|| (strncmp(call->reply->str, "NOAUTH", 6)
			&& strncmp(call->reply->str, DLOCK_REPLY_UNAUTHENTICATED, strlen(DLOCK_REPLY_UNAUTHENTICATED)));
}

bool dlock_request_has_acquired(const dlock_call *call)
{
	return call && call->state == DLOCK_CALL_ANSWERED && call->reply->type == REDIS_REPLY_INTEGER;
}

dlock_status dlock_read_integer(
	const dlock_call *call, const dlock_conn *conn, dlock_response *response, dlock_error *error)
{
	if (dlock_check_reply(call, conn, error) != DLOCK_OK) {
		return DLOCK_CONNECTION;
	}
	if (call->reply->type != REDIS_REPLY_INTEGER || call->reply->integer < 0) {
		return dlock_unexpected_reply(conn, error);
	}
	response->value = call->reply->integer;
	return response->value > 0 ? DLOCK_OK : DLOCK_LOST;
}

dlock_status dlock_read_holder(
	const dlock_call *call, const dlock_conn *conn, dlock_response *response, dlock_error *error)
{
	(void) response;
	if (dlock_check_reply(call, conn, error) != DLOCK_OK) {
		return DLOCK_CONNECTION;
	}
	return call->reply->type == REDIS_REPLY_STRING ? DLOCK_OK
		: call->reply->type == REDIS_REPLY_NIL     ? DLOCK_LOST
												   : dlock_unexpected_reply(conn, error);
}

/* For a lock that the server has granted. */
static dlock_status check_fencing_token(const dlock_response *response, const dlock_conn *conn, dlock_error *error)
{
	return dlock_is_fencing_token(response->fencing_token)
		? DLOCK_OK
		: dlock_fail(error, DLOCK_CONNECTION,
			"Redis at %s: its fencing tokens cannot rise any more; the key " DLOCK_FENCE_KEY
			" must be a number from 1 to 9007199254740990, and normally is its time in us",
			conn->server->label);
}

/* The fencing token, or {pttl, position, ticket, new}. The ticket is text, because it is a score of a sorted set. */
dlock_status dlock_read_acquire(
	const dlock_call *call, const dlock_conn *conn, dlock_response *response, dlock_error *error)
{
	if (dlock_check_reply(call, conn, error) != DLOCK_OK) {
		return DLOCK_CONNECTION;
	}
	const redisReply *reply = call->reply;
	if (reply->type == REDIS_REPLY_INTEGER) {
		response->fencing_token = reply->integer;
		return check_fencing_token(response, conn, error);
	}
	if (reply->type == REDIS_REPLY_ARRAY && dlock_integer_at(reply, 0, &response->pttl)
		&& dlock_integer_at(reply, 1, &response->position) && dlock_integer_at(reply, 3, &response->new_in_queue)
		&& reply->element[2]->type == REDIS_REPLY_STRING) {
		response->ticket = strtoll(reply->element[2]->str, NULL, 10);
		return DLOCK_LOST;
	}
	return dlock_unexpected_reply(conn, error);
}

/* {1, fencing token, pttl} or {0}. */
dlock_status dlock_read_exchange(
	const dlock_call *call, const dlock_conn *conn, dlock_response *response, dlock_error *error)
{
	int64_t exchanged;

	if (dlock_check_reply(call, conn, error) != DLOCK_OK) {
		return DLOCK_CONNECTION;
	}
	if (call->reply->type == REDIS_REPLY_ARRAY && dlock_integer_at(call->reply, 0, &exchanged)) {
		if (exchanged == 1 && dlock_integer_at(call->reply, 1, &response->fencing_token)
			&& dlock_integer_at(call->reply, 2, &response->pttl) && response->pttl > 0) {
			return check_fencing_token(response, conn, error);
		}
		if (exchanged == 0) {
			return DLOCK_LOST;
		}
	}
	return dlock_unexpected_reply(conn, error);
}
