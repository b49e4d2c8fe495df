#include "requests.h"

#include <stdlib.h>
#include <string.h>

#include "../wire/reply.h"

dlock_nanos dlock_lease_left(int64_t pttl)
{
	return pttl < DLOCK_TTL_MAX / DLOCK_MS ? pttl * DLOCK_MS : DLOCK_TTL_MAX;
}

/* ---- requests ---- */

/* Redis counts whole milliseconds, and a lease of none is none at all. */
static int64_t milliseconds(dlock_nanos ttl)
{
	return ttl < DLOCK_MS ? 1 : ttl / DLOCK_MS;
}

static dlock_arg token_arg(const char *token)
{
	return DLOCK_ARG(token);
}

static dlock_arg flag_arg(bool flag)
{
	return (dlock_arg) { flag ? "1" : "0", 1 };
}

static dlock_arg fence_of(dlock_keys keys)
{
	return keys.fence.len > 0 ? keys.fence : DLOCK_ARG(DLOCK_FENCE_KEY);
}

static const dlock_arg nothing = { "", 0 };

/* The scripts take what is left out at the end for ''. */
static dlock_call *script_call(dlock_script_id script, const dlock_arg *args, int count)
{
	while (args[count - 1].len == 0) {
		count--;
	}
	return dlock_call_script(script, args, count);
}

/* The script's rule for a lock whose next holder is another waiter. */
static dlock_arg hand_over_arg(bool grant)
{
	return grant ? nothing : flag_arg(false);
}

dlock_call *dlock_request_acquire(dlock_keys keys, const dlock_attempt *attempt)
{
	dlock_number lease, least, ticket, own;
	dlock_arg args[] = { keys.lock, fence_of(keys), keys.queue, keys.waiters, token_arg(attempt->token),
		dlock_number_arg(&lease, milliseconds(attempt->ttl)),
		attempt->may_count ? nothing : dlock_number_arg(&least, attempt->least_fencing_token),
		hand_over_arg(attempt->grant), attempt->inbox ? DLOCK_ARG(attempt->inbox->channel) : nothing,
		attempt->ticket ? dlock_number_arg(&ticket, attempt->ticket) : nothing,
		attempt->inbox ? dlock_number_arg(&own, attempt->number) : nothing,
		attempt->waiter ? token_arg(attempt->waiter) : nothing, attempt->legacy ? flag_arg(true) : nothing,
		attempt->unnotified ? flag_arg(true) : nothing };

	return script_call(DLOCK_SCRIPT_ACQUIRE, args, sizeof args / sizeof *args);
}

dlock_call *dlock_request_release(dlock_keys keys, const char *token, bool grant, const char *waiter, bool leaves)
{
	dlock_arg args[] = { keys.lock, fence_of(keys), keys.queue, keys.waiters, token_arg(token), hand_over_arg(grant),
		waiter ? token_arg(waiter) : nothing, leaves ? flag_arg(true) : nothing };

	return script_call(DLOCK_SCRIPT_RELEASE, args, sizeof args / sizeof *args);
}

dlock_call *dlock_request_leave(dlock_keys keys, const char *waiter, bool grant)
{
	dlock_arg args[] = { keys.lock, fence_of(keys), keys.queue, keys.waiters, token_arg(waiter), hand_over_arg(grant) };

	return script_call(DLOCK_SCRIPT_LEAVE, args, sizeof args / sizeof *args);
}

static dlock_call *lease_time_call(dlock_script_id script, dlock_keys keys, const char *token, dlock_nanos ttl)
{
	dlock_number lease;
	dlock_arg args[] = { keys.lock, token_arg(token), dlock_number_arg(&lease, milliseconds(ttl)) };

	return dlock_call_script(script, args, 3);
}

dlock_call *dlock_request_extend(dlock_keys keys, const char *token, dlock_nanos ttl)
{
	return lease_time_call(DLOCK_SCRIPT_EXTEND, keys, token, ttl);
}

dlock_call *dlock_request_renew(dlock_keys keys, const char *token, dlock_nanos ttl)
{
	return lease_time_call(DLOCK_SCRIPT_RENEW, keys, token, ttl);
}

dlock_call *dlock_request_check(dlock_keys keys, const char *token)
{
	dlock_arg args[] = { keys.lock, token_arg(token) };

	return dlock_call_script(DLOCK_SCRIPT_CHECK, args, 2);
}

dlock_call *dlock_request_raise(dlock_keys keys, const char *token, int64_t fencing_token)
{
	dlock_number fence;
	dlock_arg args[] = { keys.lock, fence_of(keys), token_arg(token), dlock_number_arg(&fence, fencing_token) };

	return dlock_call_script(DLOCK_SCRIPT_RAISE, args, 4);
}

dlock_call *dlock_request_repair(dlock_keys keys, const char *token, dlock_nanos ttl, int64_t fencing_token)
{
	dlock_number lease, fence;
	dlock_arg args[] = { keys.lock, fence_of(keys), token_arg(token), dlock_number_arg(&lease, milliseconds(ttl)),
		dlock_number_arg(&fence, fencing_token) };

	return dlock_call_script(DLOCK_SCRIPT_REPAIR, args, 5);
}

dlock_call *dlock_request_holder(dlock_keys keys)
{
	dlock_arg args[] = { DLOCK_ARG("GET"), keys.lock };

	return dlock_call_command(args, 2);
}

static dlock_call *exchange_call(dlock_keys keys, const char *from, const char *to, dlock_arg least)
{
	dlock_arg args[] = { keys.lock, fence_of(keys), token_arg(from), token_arg(to), least };

	return dlock_call_script(DLOCK_SCRIPT_EXCHANGE, args, 5);
}

dlock_call *dlock_request_exchange(dlock_keys keys, const char *old, const char *new_token, int64_t least_fencing_token)
{
	dlock_number least;

	return exchange_call(keys, old, new_token, dlock_number_arg(&least, least_fencing_token));
}

dlock_call *dlock_request_exchange_back(dlock_keys keys, const char *old, const char *new_token)
{
	return exchange_call(keys, new_token, old, nothing);
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

/* Of a lock that the server has given. */
static dlock_status check_fencing_token(const dlock_response *response, const dlock_conn *conn, dlock_error *error)
{
	return dlock_is_fencing_token(response->fencing_token)
		? DLOCK_OK
		: dlock_fail(error, DLOCK_CONNECTION,
			"Redis at %s: its fencing tokens cannot rise any more; the key " DLOCK_FENCE_KEY
			" must be a number from 1 to 9007199254740990, and normally is its time in us",
			conn->server->label);
}

/* The fencing token, or {pttl, position, ticket, new}; the ticket is a sorted set's score, which comes as text. */
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
