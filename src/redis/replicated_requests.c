#include "replicated_requests.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

typedef struct {
	char text[24];
} number;

static dlock_arg number_arg(number *out, int64_t value)
{
	int len = snprintf(out->text, sizeof out->text, "%" PRId64, value);

	return (dlock_arg) { out->text, (size_t) len };
}

static dlock_arg time_arg(number *out, dlock_nanos time)
{
	return number_arg(out, time > 0 && time < DLOCK_MS ? 1 : time / DLOCK_MS);
}

static const dlock_arg nothing = { "", 0 };

static dlock_arg fence_of(dlock_keys keys)
{
	return keys.fence.len > 0 ? keys.fence : DLOCK_ARG(DLOCK_FENCE_KEY);
}

static dlock_arg era_of(dlock_keys keys)
{
	return keys.era.len > 0 ? keys.era : DLOCK_ARG(DLOCK_ERA_KEY);
}

/* ---- requests ---- */

dlock_call *dlock_request_acquire_replicated(dlock_keys keys, const dlock_attempt *attempt, dlock_nanos guard)
{
	number lease, longest, ticket, own;
	dlock_arg args[] = { keys.lock, fence_of(keys), keys.queue, keys.waiters, era_of(keys), DLOCK_ARG(attempt->token),
		time_arg(&lease, attempt->ttl), time_arg(&longest, guard), nothing, attempt->inbox ? DLOCK_ARG(attempt->inbox->channel) : nothing,
		attempt->ticket ? number_arg(&ticket, attempt->ticket) : nothing, attempt->inbox ? number_arg(&own, attempt->number) : nothing };

	return dlock_call_script(DLOCK_SCRIPT_ACQUIRE_REPLICATED, args, attempt->inbox ? 12 : 8);
}

dlock_call *dlock_request_settle(dlock_keys keys, const char *replication_id, dlock_nanos guard)
{
	number longest;
	dlock_arg args[] = { fence_of(keys), era_of(keys), DLOCK_ARG(replication_id), time_arg(&longest, guard) };

	return dlock_call_script(DLOCK_SCRIPT_SETTLE, args, 4);
}

dlock_call *dlock_request_keep(dlock_keys keys, const char *token, dlock_nanos ttl, bool shortens)
{
	number lease;
	dlock_arg args[] = { keys.lock, DLOCK_ARG(token), time_arg(&lease, ttl), DLOCK_ARG(shortens ? "1" : "0") };

	return dlock_call_script(DLOCK_SCRIPT_KEEP, args, 4);
}

dlock_call *dlock_request_restore(dlock_keys keys, const char *token, dlock_nanos ttl, int64_t fencing_token, dlock_nanos guard)
{
	number lease, fence, longest;
	dlock_arg args[] = { keys.lock, fence_of(keys), era_of(keys), DLOCK_ARG(token), time_arg(&lease, ttl), number_arg(&fence, fencing_token),
		time_arg(&longest, guard) };

	return dlock_call_script(DLOCK_SCRIPT_RESTORE, args, 7);
}

dlock_call *dlock_request_exchange_replicated(dlock_keys keys, const char *old, const char *new_token, dlock_nanos guard)
{
	number longest;
	dlock_arg args[] = { keys.lock, fence_of(keys), era_of(keys), DLOCK_ARG(old), DLOCK_ARG(new_token), DLOCK_ARG("0"),
		time_arg(&longest, guard) };

	return dlock_call_script(DLOCK_SCRIPT_EXCHANGE_REPLICATED, args, 7);
}

/* ---- responses ---- */

static const redisReply *element(const redisReply *reply, size_t index, int type)
{
	return index < reply->elements && reply->element[index]->type == type ? reply->element[index] : NULL;
}

/* {pttl, position, ticket, new, left, replid}, {2, left, replid} */
dlock_era dlock_read_era(const dlock_call *call)
{
	const redisReply *reply = call && call->state == DLOCK_CALL_ANSWERED ? call->reply : NULL, *left, *opened;

	if (!reply || reply->type != REDIS_REPLY_ARRAY) {
		return (dlock_era) { 0 };
	}
	size_t at = reply->elements == 3 ? 1 : 4;
	left = element(reply, at, REDIS_REPLY_INTEGER);
	opened = element(reply, at + 1, REDIS_REPLY_STRING);
	return left && opened && (at == 4 || reply->element[0]->integer == 2)
		? (dlock_era) { true, left->integer, opened->str } : (dlock_era) { 0 };
}

dlock_status dlock_read_keep(const dlock_call *call, const dlock_conn *conn, dlock_key_state *state, dlock_error *error)
{
	dlock_response response = { .value = 0 };
	dlock_status status = dlock_read_integer(call, conn, &response, error);

	*state = status == DLOCK_LOST ? DLOCK_KEY_FOREIGN : response.value == 1 ? DLOCK_KEY_OWN : DLOCK_KEY_MISSING;
	return status == DLOCK_LOST ? DLOCK_OK : status;
}

void dlock_explain_era(const dlock_conn *conn, int64_t left, dlock_nanos guard, dlock_error *error)
{
	double ago = (double) (guard / DLOCK_MS - left) / 1000, more = (double) left / 1000;

	if (left < 0) {
		dlock_fail(error, DLOCK_TIMEOUT, "Redis at %s: was promoted, restarted or set up just now, and its replicas have not confirmed that yet: no lock is "
			"granted for another %.1f s from then on", conn->server->label, (double) guard / DLOCK_SECOND);
	} else {
		dlock_fail(error, DLOCK_TIMEOUT, "Redis at %s: was promoted, restarted or set up %.1f s ago: no lock is granted for another %.1f s",
			conn->server->label, ago > 0 ? ago : 0, more);
	}
}
