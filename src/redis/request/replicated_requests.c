#include "replicated_requests.h"

#include <stdlib.h>

static const redisReply *element(const redisReply *reply, size_t index, int type)
{
	return index < reply->elements && reply->element[index]->type == type ? reply->element[index] : NULL;
}

/* Acquire replies {pttl, position, ticket, new, left, replid, settles}; for permits, a 0 comes first. Exchange replies
 * {2, left, replid, settles}, look {left, replid, settles, waited, attached}, unchanged {left, replid, settles}. */
dlock_epoch_state dlock_read_epoch(const dlock_call *call)
{
	const redisReply *reply = call && call->state == DLOCK_CALL_ANSWERED ? call->reply : NULL, *left, *replid, *settles,
					 *waited, *attached;
	bool looks = call && call->origin == &dlock_scripts[DLOCK_SCRIPT_EPOCH_OF];

	if (!reply || reply->type != REDIS_REPLY_ARRAY) {
		return (dlock_epoch_state) { 0 };
	}
	size_t at = looks || reply->elements == 3 ? 0 : reply->elements == 4 ? 1 : reply->elements == 8 ? 5 : 4;
	left = element(reply, at, REDIS_REPLY_INTEGER);
	replid = element(reply, at + 1, REDIS_REPLY_STRING);
	settles = element(reply, at + 2, REDIS_REPLY_STRING);
	waited = looks ? element(reply, at + 3, REDIS_REPLY_STRING) : NULL;
	attached = looks ? element(reply, at + 4, REDIS_REPLY_STRING) : NULL;
	if (!left || !replid || !settles || (looks && (!waited || !attached))) {
		return (dlock_epoch_state) { 0 };
	}
	return (dlock_epoch_state){ left->integer != 0, left->integer, replid->str, settles->str,
		waited ? strtoll(waited->str, NULL, 10) : 0, attached ? attached->str : NULL };
}

dlock_status dlock_read_keep(const dlock_call *call, const dlock_conn *conn, dlock_key_state *state, dlock_error *error)
{
	dlock_response response = { .value = 0 };
	dlock_status status = dlock_read_integer(call, conn, &response, error);

	*state = status == DLOCK_LOST ? DLOCK_KEY_FOREIGN : response.value == 1 ? DLOCK_KEY_OWN : DLOCK_KEY_MISSING;
	return status == DLOCK_LOST ? DLOCK_OK : status;
}

void dlock_explain_epoch(const dlock_conn *conn, int64_t left, dlock_error *error)
{
	static const char why[] =
		"was promoted, restarted or set up, or a replica attached, and may not know all leases yet";

	if (left < 0) {
		dlock_fail(error, DLOCK_TIMEOUT,
			"Redis at %s: %s: no lock is granted until replicas have confirmed that and the guard has ended",
			conn->server->label, why);
	} else {
		dlock_fail(error, DLOCK_TIMEOUT, "Redis at %s: %s: no lock is granted for another %.1f s", conn->server->label,
			why, (double) left / 1000);
	}
}
