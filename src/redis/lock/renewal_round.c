#include "renewal_round.h"

#include <stdlib.h>
#include <string.h>

#include "../request/inspect_requests.h"
#include "renewer.h"

typedef struct {
	dlock_endpoint *server;
	dlock_conn *conn;      /* NULL: none yet */
	dlock_call *extension; /* of the round under way or last decided, or the question in its place; NULL: none */
	dlock_call *repair;
	bool unanswered;        /* a repair was sent, and has not been answered: it may yet set the key */
	bool counted;          /* it had the key when it last answered: the lease may rest upon it */
} round_server;

typedef struct {
	dlock_renewal_round base;
	int quorum, count;
	dlock_keys keys; /* the lock's, and that of what is held */
	dlock_description *description;
	char token[DLOCK_TOKEN_MAX + 1];
	int64_t fencing_token;
	round_server servers[];
} redis_round;

static void discard(dlock_call **call)
{
	dlock_call_release(*call);
	*call = NULL;
}

static void round_free(dlock_renewal_round *base)
{
	redis_round *round = (redis_round *) base;

	for (int i = 0; i < round->count; i++) {
		discard(&round->servers[i].extension);
		discard(&round->servers[i].repair);
		dlock_endpoint_release(round->servers[i].server);
	}
	free((char *) round->keys.lock.text);
	dlock_description_release(round->description);
	free(round);
}

static dlock_keys keys_of(const redis_round *round)
{
	return round->keys;
}

/* The connection for this lease time; but what may have to be rolled back stays where it was sent. */
static void have_conn(round_server *member, dlock_pool *pool, dlock_nanos ttl)
{
	dlock_nanos cap = dlock_timeout_cap(member->server, ttl);

	if (!member->conn || (member->conn->timeout_cap != cap && !member->unanswered)) {
		dlock_conn *conn = dlock_pool_capped_conn(pool, member->server, cap);
		member->conn = conn ? conn : member->conn;
	}
}

static bool is_pending(const dlock_call *call)
{
	return call && call->state == DLOCK_CALL_PENDING;
}

static void cancel_sending(dlock_call *call)
{
	if (is_pending(call)) {
		dlock_call_cancel_sending(call);
	}
}

/* For those who look, who believe it only of the holder that the server has. Nobody waits for the answer. */
static void describe(const redis_round *round, round_server *member, dlock_nanos ttl)
{
	dlock_holder_text text;
	char id[DLOCK_TOKEN_ID_LEN + 1];

	if (round->description && dlock_token_id(round->token, id)) {
		dlock_write_holder_text(&text, round->base.since, round->fencing_token, round->description);
		dlock_conn_send_background(member->conn, dlock_request_describe(round->keys, id, text.text, ttl, false),
			dlock_after(dlock_now(), ttl));
	}
}

static void begin(dlock_renewal_round *base, dlock_renewer *renewer, dlock_nanos ttl, bool extends)
{
	redis_round *round = (redis_round *) base;

	for (int i = 0; i < round->count; i++) {
		round_server *member = &round->servers[i];
		cancel_sending(member->extension);
		discard(&member->extension);
		have_conn(member, dlock_redis_renewer_pool(renewer),
			extends ? base->within : DLOCK_TTL_MAX); /* one connection for all that are only asked about */
		member->extension = extends ? dlock_request_renew(keys_of(round), round->token, ttl)
									: dlock_request_check(keys_of(round), round->token);
		if (!member->conn || !member->extension) {
			discard(&member->extension);
			continue;
		}
		dlock_conn_send(member->conn, member->extension);
		if (extends && base->since != 0) {
			describe(round, member, ttl);
		}
	}
}

typedef enum { NO_ANSWER, HAS_KEY, HAS_NOT } answer;

static answer answer_of(const round_server *member)
{
	dlock_response response;
	dlock_error error;
	dlock_status status = member->extension ? dlock_read_integer(member->extension, member->conn, &response, &error)
											: DLOCK_CONNECTION;

	return status == DLOCK_OK ? HAS_KEY : status == DLOCK_LOST ? HAS_NOT : NO_ANSWER;
}

static dlock_round_result result(const dlock_renewal_round *base)
{
	const redis_round *round = (const redis_round *) base;
	int yes = 0, no = 0, pending = 0;

	for (int i = 0; i < round->count; i++) {
		if (is_pending(round->servers[i].extension)) {
			pending++;
		} else {
			yes += answer_of(&round->servers[i]) == HAS_KEY;
			no += answer_of(&round->servers[i]) == HAS_NOT;
		}
	}
	if (yes >= round->quorum) {
		return DLOCK_ROUND_KEPT;
	}
	if (no > round->count - round->quorum) {
		return DLOCK_ROUND_GONE;
	}
	/* One more answer may yet tell that it is gone. */
	bool in_vain = yes + pending < round->quorum && no + pending <= round->count - round->quorum;
	return in_vain ? DLOCK_ROUND_FAILED : DLOCK_ROUND_OPEN;
}

static bool is_gap(const round_server *member)
{
	return member->extension && !is_pending(member->extension) && !is_pending(member->repair)
		&& answer_of(member) == HAS_NOT;
}

static bool has_gaps(const dlock_renewal_round *base)
{
	const redis_round *round = (const redis_round *) base;

	for (int i = 0; i < round->count; i++) {
		if (is_gap(&round->servers[i])) {
			return true;
		}
	}
	return false;
}

/* Sets the key, and raises the fence; once for each answer that there is no key. */
static void repair(dlock_renewal_round *base, dlock_nanos ttl)
{
	redis_round *round = (redis_round *) base;

	for (int i = 0; i < round->count; i++) {
		round_server *member = &round->servers[i];
		if (!is_gap(member)) {
			continue;
		}
		discard(&member->extension);
		discard(&member->repair);
		member->repair = dlock_request_repair(keys_of(round), round->token, ttl, round->fencing_token);
		if (member->repair) {
			dlock_conn_send(member->conn, member->repair);
			member->unanswered |= member->repair->sent || is_pending(member->repair);
		}
	}
}

/* What was cancelled before it was sent is not. */
static bool is_under_way(const dlock_call *call)
{
	return is_pending(call) && (call->sent || call->wanted);
}

static bool collect(dlock_renewal_round *base, bool released)
{
	redis_round *round = (redis_round *) base;
	bool under_way = false;
	dlock_response response;
	dlock_error error;

	for (int i = 0; i < round->count; i++) {
		round_server *member = &round->servers[i];
		under_way |= is_under_way(member->extension) || is_under_way(member->repair);
		if (member->repair && member->repair->state == DLOCK_CALL_ANSWERED) {
			base->refused |= dlock_read_integer(member->repair, member->conn, &response, &error) == DLOCK_LOST;
			/* It may have been executed after the release, however early its answer is read. */
			member->unanswered &= released;
			discard(&member->repair);
		}
		if (!released && answer_of(member) != NO_ANSWER) {
			member->counted = answer_of(member) == HAS_KEY;
		}
	}
	return under_way;
}

static void cancel(dlock_renewal_round *base)
{
	redis_round *round = (redis_round *) base;

	for (int i = 0; i < round->count; i++) {
		cancel_sending(round->servers[i].extension);
		cancel_sending(round->servers[i].repair);
	}
}

static dlock_nanos longest_wait(const dlock_renewal_round *base, dlock_nanos ttl)
{
	const redis_round *round = (const redis_round *) base;
	dlock_nanos longest = 0;

	for (int i = 0; i < round->count; i++) {
		const dlock_endpoint *server = round->servers[i].server;
		dlock_nanos cap = dlock_timeout_cap(server, ttl);
		cap = cap < server->read_timeout ? cap : server->read_timeout;
		longest = cap > longest ? cap : longest;
	}
	return longest;
}

static bool has_calls(const dlock_renewal_round *base)
{
	const redis_round *round = (const redis_round *) base;

	for (int i = 0; i < round->count; i++) {
		if (round->servers[i].extension || round->servers[i].repair) {
			return true;
		}
	}
	return false;
}

static bool may_yet_repair(const dlock_renewal_round *base)
{
	const redis_round *round = (const redis_round *) base;

	for (int i = 0; i < round->count; i++) {
		if (round->servers[i].unanswered) {
			return true;
		}
	}
	return false;
}

/* On the same connection, so after the repair, which is not sent again. A lease of a millisecond needs no more of the
 * key's companions. */
static void roll_back(dlock_renewal_round *base, dlock_nanos ttl, bool over)
{
	redis_round *round = (redis_round *) base;

	for (int i = 0; i < round->count; i++) {
		round_server *member = &round->servers[i];
		if (member->unanswered && (over || !member->counted)) {
			cancel_sending(member->repair);
			dlock_conn_send_background(member->conn, dlock_request_extend(keys_of(round), round->token, DLOCK_MS),
				dlock_after(dlock_now(), ttl));
		}
		member->unanswered = false;
	}
}

static const dlock_renewal_round_ops ops = {
	.renewer = &dlock_redis_renewer_ops,
	.begin = begin,
	.result = result,
	.collect = collect,
	.cancel = cancel,
	.has_calls = has_calls,
	.longest_wait = longest_wait,
	.has_gaps = has_gaps,
	.repair = repair,
	.may_yet_repair = may_yet_repair,
	.roll_back = roll_back,
	.free = round_free,
};

dlock_renewal_round *dlock_redis_round_new(
	const dlock_claim *claim, dlock_endpoint **servers, int count, int quorum, dlock_keys keys)
{
	redis_round *round = calloc(1, sizeof *round + (size_t) count * sizeof *round->servers);
	char *copy = malloc(keys.lock.len + keys.held.len);

	if (!round || !copy) {
		free(round);
		free(copy);
		return NULL;
	}
	memcpy(copy, keys.lock.text, keys.lock.len);
	memcpy(copy + keys.lock.len, keys.held.text, keys.held.len);
	round->base.ops = &ops;
	round->base.late_proves_nothing = count > 1;
	round->base.repairable = count > quorum;
	round->quorum = quorum;
	round->keys = (dlock_keys) { .lock = { copy, keys.lock.len }, .held = { copy + keys.lock.len, keys.held.len } };
	round->description = dlock_description_retain(claim->description);
	memcpy(round->token, claim->token, sizeof round->token);
	round->fencing_token = claim->fencing_token;
	for (round->count = 0; round->count < count; round->count++) {
		round->servers[round->count].server = dlock_endpoint_retain(servers[round->count]);
	}
	return &round->base;
}
