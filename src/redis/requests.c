#include "requests.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

dlock_nanos dlock_lease_left(int64_t pttl)
{
	return pttl < DLOCK_TTL_MAX / DLOCK_MS ? pttl * DLOCK_MS : DLOCK_TTL_MAX;
}

/* ---- requests ---- */

typedef struct {
	char text[24];
} number;

static dlock_arg number_arg(number *out, int64_t value)
{
	int len = snprintf(out->text, sizeof out->text, "%" PRId64, value);

	return (dlock_arg) { out->text, (size_t) len };
}

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
	number lease, least, ticket, own;
	dlock_arg args[] = { keys.lock, fence_of(keys), keys.queue, keys.waiters, token_arg(attempt->token),
		number_arg(&lease, milliseconds(attempt->ttl)),
		attempt->may_count ? nothing : number_arg(&least, attempt->least_fencing_token), hand_over_arg(attempt->grant),
		attempt->inbox ? DLOCK_ARG(attempt->inbox->channel) : nothing, attempt->ticket ? number_arg(&ticket, attempt->ticket) : nothing,
		attempt->inbox ? number_arg(&own, attempt->number) : nothing, attempt->waiter ? token_arg(attempt->waiter) : nothing,
		attempt->legacy ? flag_arg(true) : nothing, attempt->unnotified ? flag_arg(true) : nothing };

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
	number lease;
	dlock_arg args[] = { keys.lock, token_arg(token), number_arg(&lease, milliseconds(ttl)) };

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
	number fence;
	dlock_arg args[] = { keys.lock, fence_of(keys), token_arg(token), number_arg(&fence, fencing_token) };

	return dlock_call_script(DLOCK_SCRIPT_RAISE, args, 4);
}

dlock_call *dlock_request_repair(dlock_keys keys, const char *token, dlock_nanos ttl, int64_t fencing_token)
{
	number lease, fence;
	dlock_arg args[] = { keys.lock, fence_of(keys), token_arg(token), number_arg(&lease, milliseconds(ttl)),
		number_arg(&fence, fencing_token) };

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
	number least;

	return exchange_call(keys, old, new_token, number_arg(&least, least_fencing_token));
}

dlock_call *dlock_request_exchange_back(dlock_keys keys, const char *old, const char *new_token)
{
	return exchange_call(keys, new_token, old, nothing);
}

/* ---- responses ---- */

/* The reply to a long command before AUTH. */
#define UNAUTHENTICATED "ERR Protocol error: unauthenticated"

bool dlock_request_may_take_effect(const dlock_call *call)
{
	if (!call || (!call->sent && call->state != DLOCK_CALL_PENDING)) {
		return false;
	}
	return call->state != DLOCK_CALL_ANSWERED || call->reply->type != REDIS_REPLY_ERROR
		|| (strncmp(call->reply->str, "NOAUTH", 6) && strncmp(call->reply->str, UNAUTHENTICATED, strlen(UNAUTHENTICATED)));
}

bool dlock_request_has_acquired(const dlock_call *call)
{
	return call && call->state == DLOCK_CALL_ANSWERED && call->reply->type == REDIS_REPLY_INTEGER;
}

#define NEEDED_PASSWORD "; give the password in the server's specification"
#define NEEDED_RIGHTS "; the user needs the commands, and the keys by their prefix, that docs/operations.md lists"
#define NO_CLUSTER "; it is a node of a Redis Cluster: locks need one server, or RedLock"

/* What a user can do about the errors that are not about the lock itself. */
static const char *advice(const char *reply)
{
	static const struct {
		const char *code, *text;
	} known[] = {
		{ "NOAUTH", NEEDED_PASSWORD },
		{ UNAUTHENTICATED, NEEDED_PASSWORD },
		{ "ERR time is refused", NEEDED_RIGHTS },
		{ "NOPERM", NEEDED_RIGHTS }, { "ERR INFO: ", NEEDED_RIGHTS }, { "ERR The user executing the script", NEEDED_RIGHTS },
		{ "ERR ACL failure in script", NEEDED_RIGHTS }, /* Redis 7.2 and later, Valkey */
		{ "READONLY", "; it is a replica: locks are taken on the master" },
		{ "MOVED", NO_CLUSTER }, { "CROSSSLOT", NO_CLUSTER },
		{ "OOM", "; maxmemory is reached" },
		{ "LOADING", "; try again when it has loaded its data" },
		{ "BUSY", "; a script has been running for too long there" },
		{ "WRONGTYPE", "; the key is used for something else than a lock" },
	};

	for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
		if (!strncmp(reply, known[i].code, strlen(known[i].code))) {
			return known[i].text;
		}
	}
	return "";
}

/* DLOCK_OK: there is a reply that is no error. */
static dlock_status check_reply(const dlock_call *call, const dlock_conn *conn, dlock_error *error)
{
	char reason[250];

	if (!call) {
		return dlock_fail(error, DLOCK_CONNECTION, "Out of memory");
	}
	if (call->state == DLOCK_CALL_FAILED) {
		*error = conn->error;
		return DLOCK_CONNECTION;
	}
	if (call->state == DLOCK_CALL_PENDING) {
		return dlock_fail(error, DLOCK_CONNECTION, "Redis at %s: no answer in the time allowed", conn->server->label);
	}
	if (call->reply->type == REDIS_REPLY_ERROR) {
		dlock_server_quote(conn->server, call->reply->str, reason, sizeof reason);
		return dlock_fail(error, DLOCK_CONNECTION, "Redis at %s: %s%s", conn->server->label, reason, advice(call->reply->str));
	}
	return DLOCK_OK;
}

static dlock_status unexpected(const dlock_conn *conn, dlock_error *error)
{
	return dlock_fail(error, DLOCK_CONNECTION, "Redis at %s: an answer of an unexpected form", conn->server->label);
}

dlock_status dlock_read_integer(const dlock_call *call, const dlock_conn *conn, dlock_response *response, dlock_error *error)
{
	if (check_reply(call, conn, error) != DLOCK_OK) {
		return DLOCK_CONNECTION;
	}
	if (call->reply->type != REDIS_REPLY_INTEGER || call->reply->integer < 0) {
		return unexpected(conn, error);
	}
	response->value = call->reply->integer;
	return response->value > 0 ? DLOCK_OK : DLOCK_LOST;
}

dlock_status dlock_read_holder(const dlock_call *call, const dlock_conn *conn, dlock_response *response, dlock_error *error)
{
	(void) response;
	if (check_reply(call, conn, error) != DLOCK_OK) {
		return DLOCK_CONNECTION;
	}
	return call->reply->type == REDIS_REPLY_STRING ? DLOCK_OK : DLOCK_LOST;
}

static bool integer_at(const redisReply *reply, size_t index, int64_t *out)
{
	if (index >= reply->elements || reply->element[index]->type != REDIS_REPLY_INTEGER) {
		return false;
	}
	*out = reply->element[index]->integer;
	return true;
}

/* Of a lock that the server has given. */
static dlock_status check_fencing_token(const dlock_response *response, const dlock_conn *conn, dlock_error *error)
{
	return dlock_is_fencing_token(response->fencing_token) ? DLOCK_OK
		: dlock_fail(error, DLOCK_CONNECTION, "Redis at %s: its fencing tokens cannot rise any more; the key " DLOCK_FENCE_KEY
			" must be a number from 1 to 9007199254740990, and normally is its time in us", conn->server->label);
}

/* The fencing token, or {pttl, position, ticket, new}; the ticket is a sorted set's score, which comes as text. */
dlock_status dlock_read_acquire(const dlock_call *call, const dlock_conn *conn, dlock_response *response, dlock_error *error)
{
	if (check_reply(call, conn, error) != DLOCK_OK) {
		return DLOCK_CONNECTION;
	}
	const redisReply *reply = call->reply;
	if (reply->type == REDIS_REPLY_INTEGER) {
		response->fencing_token = reply->integer;
		return check_fencing_token(response, conn, error);
	}
	if (reply->type == REDIS_REPLY_ARRAY && integer_at(reply, 0, &response->pttl) && integer_at(reply, 1, &response->position)
			&& integer_at(reply, 3, &response->new_in_queue) && reply->element[2]->type == REDIS_REPLY_STRING) {
		response->ticket = strtoll(reply->element[2]->str, NULL, 10);
		return DLOCK_LOST;
	}
	return unexpected(conn, error);
}

/* {1, fencing token, pttl} or {0}. */
dlock_status dlock_read_exchange(const dlock_call *call, const dlock_conn *conn, dlock_response *response, dlock_error *error)
{
	int64_t exchanged;

	if (check_reply(call, conn, error) != DLOCK_OK) {
		return DLOCK_CONNECTION;
	}
	if (call->reply->type == REDIS_REPLY_ARRAY && integer_at(call->reply, 0, &exchanged)) {
		if (exchanged == 1 && integer_at(call->reply, 1, &response->fencing_token) && integer_at(call->reply, 2, &response->pttl)
				&& response->pttl > 0) {
			return check_fencing_token(response, conn, error);
		}
		if (exchanged == 0) {
			return DLOCK_LOST;
		}
	}
	return unexpected(conn, error);
}
