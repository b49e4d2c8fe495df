#include "lock.h"

#include <stdlib.h>
#include <string.h>

#include "../lock/backend.h"
#include "session.h"

typedef struct {
	dlock_renewal_round base;
	dlock_endpoint *server;
	dlock_db_call *call; /* of the round under way, or of the last round; NULL: none */
	dlock_description *description;
	char token[DLOCK_TOKEN_MAX + 1];
	size_t name_len;
	char name[];
} db_round;

/* Drops the call under way: the thread does not read its answer. */
static void discard_call(db_round *round)
{
	dlock_db_call_release(round->call);
	round->call = NULL;
}

static void begin(dlock_renewal_round *base, dlock_renewer *renewer, dlock_nanos ttl, bool extends)
{
	db_round *round = (db_round *) base;
	dlock_db_session *session = dlock_db_session_of(dlock_pool_renewer_pool(renewer), round->server,
		dlock_timeout_cap(round->server, extends ? base->within : DLOCK_TTL_MAX));

	discard_call(round);
	round->call = session ? dlock_db_call_new(
		extends ? DLOCK_DB_EXTEND : DLOCK_DB_LEFT, round->name, round->name_len, round->token) : NULL;
	if (round->call) {
		round->call->numbers[0] = dlock_db_ms(ttl);
		dlock_db_call_say(round->call, round->description);
		dlock_db_send(session, round->call);
	}
}

static dlock_round_result result(const dlock_renewal_round *base)
{
	const dlock_db_call *call = ((const db_round *) base)->call;

	if (!call || call->state != DLOCK_DB_ANSWERED) {
		return call && call->state == DLOCK_DB_PENDING ? DLOCK_ROUND_OPEN : DLOCK_ROUND_FAILED;
	}
	bool kept = call->function == DLOCK_DB_EXTEND ? call->answer[0] > 0 : call->answer[0] >= 0;
	return kept ? DLOCK_ROUND_KEPT : DLOCK_ROUND_GONE;
}

static bool has_calls(const dlock_renewal_round *round)
{
	return ((const db_round *) round)->call;
}

static dlock_nanos longest_wait(const dlock_renewal_round *base, dlock_nanos ttl)
{
	return dlock_answer_time(((const db_round *) base)->server, ttl);
}

static void free_round(dlock_renewal_round *base)
{
	db_round *round = (db_round *) base;

	discard_call(round);
	dlock_endpoint_release(round->server);
	dlock_description_release(round->description);
	free(round);
}

static const dlock_renewal_round_ops round_ops = {
	.renewer = &dlock_pool_renewer_ops,
	.begin = begin,
	.result = result,
	.has_calls = has_calls,
	.longest_wait = longest_wait,
	.free = free_round,
};

dlock_renewal_round *dlock_db_round_new(dlock_endpoint *server, const char *name, size_t name_len, const char *token,
	dlock_description *description)
{
	db_round *round = calloc(1, sizeof *round + name_len + 1);

	if (!round) {
		return NULL;
	}
	round->base.ops = &round_ops;
	round->server = dlock_endpoint_retain(server);
	round->description = dlock_description_retain(description);
	strcpy(round->token, token);
	round->name_len = name_len;
	memcpy(round->name, name, name_len);
	return &round->base;
}
