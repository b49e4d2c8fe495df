#include "replicated_requests.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../script/slot.h"

static dlock_arg time_arg(dlock_number *out, dlock_nanos time)
{
	return dlock_number_arg(out, time > 0 && time < DLOCK_MS ? 1 : time / DLOCK_MS);
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

static dlock_arg copies_arg(dlock_guard guard)
{
	return guard.resyncs ? nothing : DLOCK_ARG("-");
}

dlock_call *dlock_request_acquire_replicated(dlock_keys keys, const dlock_attempt *attempt, dlock_guard guard)
{
	dlock_number lease, longest, ticket, own;
	dlock_arg args[] = { keys.lock, fence_of(keys), keys.queue, keys.waiters, era_of(keys), DLOCK_ARG(attempt->token),
		time_arg(&lease, attempt->ttl), time_arg(&longest, guard.time), copies_arg(guard),
		attempt->inbox ? DLOCK_ARG(attempt->inbox->channel) : nothing,
		attempt->ticket ? dlock_number_arg(&ticket, attempt->ticket) : nothing,
		attempt->inbox ? dlock_number_arg(&own, attempt->number) : nothing };

	return dlock_call_script(DLOCK_SCRIPT_ACQUIRE_REPLICATED, args, attempt->inbox ? 12 : guard.resyncs ? 8 : 9);
}

dlock_call *dlock_request_unchanged(dlock_keys keys, const char *token, const char *old, dlock_guard guard)
{
	dlock_number longest;
	dlock_arg args[] = { keys.lock, era_of(keys), DLOCK_ARG(token), time_arg(&longest, guard.time),
		old ? DLOCK_ARG(old) : nothing };

	return dlock_call_script(DLOCK_SCRIPT_UNCHANGED, args, old ? 5 : 4);
}

dlock_call *dlock_request_settle(dlock_keys keys, const dlock_era *era, dlock_guard guard, const dlock_era *with)
{
	dlock_number longest, left, waited;
	dlock_arg args[] = { fence_of(keys), era_of(keys), DLOCK_ARG(era->replid), time_arg(&longest, guard.time),
		DLOCK_ARG(era->settles), dlock_number_arg(&left, with ? with->left : 0),
		dlock_number_arg(&waited, with ? with->waited : 0), with ? DLOCK_ARG(with->copies) : nothing };

	return dlock_call_script(DLOCK_SCRIPT_SETTLE, args, with ? 8 : 5);
}

dlock_call *dlock_request_look(dlock_keys keys, dlock_guard guard, int slot, const dlock_era *era)
{
	dlock_number longest;
	char number[16], slots[sizeof DLOCK_ERA_KEY ":{}:slots" + DLOCK_SLOT_TAG_LEN];

	snprintf(slots, sizeof slots, "%.*s:slots", (int) keys.era.len, keys.era.text);
	snprintf(number, sizeof number, "%d", slot);
	dlock_arg args[] = { keys.era, DLOCK_ARG(slots), time_arg(&longest, guard.time), copies_arg(guard),
		DLOCK_ARG(number), DLOCK_ARG(era->settles) };
	return dlock_call_script(DLOCK_SCRIPT_LOOK, args, sizeof args / sizeof *args);
}

dlock_call *dlock_request_keep(dlock_keys keys, const char *token, dlock_nanos ttl, bool shortens)
{
	dlock_number lease;
	dlock_arg args[] = { keys.lock, DLOCK_ARG(token), time_arg(&lease, ttl), DLOCK_ARG(shortens ? "1" : "0") };

	return dlock_call_script(DLOCK_SCRIPT_KEEP, args, 4);
}

dlock_call *dlock_request_restore(
	dlock_keys keys, const char *token, dlock_nanos ttl, int64_t fencing_token, dlock_nanos guard)
{
	dlock_number lease, fence, longest;
	dlock_arg args[] = { keys.lock, fence_of(keys), era_of(keys), DLOCK_ARG(token), time_arg(&lease, ttl),
		dlock_number_arg(&fence, fencing_token), time_arg(&longest, guard) };

	return dlock_call_script(DLOCK_SCRIPT_RESTORE, args, 7);
}

dlock_call *dlock_request_drop(dlock_keys keys, const char *token)
{
	dlock_arg args[] = { keys.lock, DLOCK_ARG(token) };

	return dlock_call_script(DLOCK_SCRIPT_DROP, args, 2);
}

dlock_call *dlock_request_exchange_replicated(
	dlock_keys keys, const char *old, const char *new_token, dlock_guard guard)
{
	dlock_number longest;
	dlock_arg args[] = { keys.lock, fence_of(keys), era_of(keys), DLOCK_ARG(old), DLOCK_ARG(new_token), DLOCK_ARG("0"),
		time_arg(&longest, guard.time), copies_arg(guard) };

	return dlock_call_script(DLOCK_SCRIPT_EXCHANGE_REPLICATED, args, guard.resyncs ? 7 : 8);
}

/* ---- responses ---- */

static const redisReply *element(const redisReply *reply, size_t index, int type)
{
	return index < reply->elements && reply->element[index]->type == type ? reply->element[index] : NULL;
}

/* {pttl, position, ticket, new, left, replid, settles}, {2, left, replid, settles}, {left, replid, settles, waited,
 * copies}, {left, replid, settles}; of permits {0, pttl, position, ticket, new, left, replid, settles} */
dlock_era dlock_read_era(const dlock_call *call)
{
	const redisReply *reply = call && call->state == DLOCK_CALL_ANSWERED ? call->reply : NULL, *left, *replid, *settles,
					 *waited, *copies;
	bool looks = call && call->origin == &dlock_scripts[DLOCK_SCRIPT_LOOK];

	if (!reply || reply->type != REDIS_REPLY_ARRAY) {
		return (dlock_era) { 0 };
	}
	size_t at = looks || reply->elements == 3 ? 0 : reply->elements == 4 ? 1 : reply->elements == 8 ? 5 : 4;
	left = element(reply, at, REDIS_REPLY_INTEGER);
	replid = element(reply, at + 1, REDIS_REPLY_STRING);
	settles = element(reply, at + 2, REDIS_REPLY_STRING);
	waited = looks ? element(reply, at + 3, REDIS_REPLY_STRING) : NULL;
	copies = looks ? element(reply, at + 4, REDIS_REPLY_STRING) : NULL;
	if (!left || !replid || !settles || (looks && (!waited || !copies))) {
		return (dlock_era) { 0 };
	}
	return (dlock_era){ left->integer != 0, left->integer, replid->str, settles->str,
		waited ? strtoll(waited->str, NULL, 10) : 0, copies ? copies->str : NULL };
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
		dlock_fail(error, DLOCK_TIMEOUT,
			"Redis at %s: was promoted, restarted or set up just now, or a replica took a full copy of it, and "
			"its replicas have not confirmed that "
			"yet: no lock is granted for another %.1f s from then on",
			conn->server->label, (double) guard / DLOCK_SECOND);
	} else {
		dlock_fail(error, DLOCK_TIMEOUT,
			"Redis at %s: was promoted, restarted or set up %.1f s ago, or a replica took a full copy of it: "
			"no lock is granted for another %.1f s",
			conn->server->label, ago > 0 ? ago : 0, more);
	}
}
