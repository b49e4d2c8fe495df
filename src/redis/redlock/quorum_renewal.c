#include <stdlib.h>
#include <string.h>

#include "../lock/renewer.h"
#include "../request/inspect_requests.h"
#include "quorum_internal.h"

/* The rounds of the renewal thread for one lease; see lock/renewer.h. A round is a ballot: it asks all servers to
 * extend the lease, or whether they have it. After that, servers without the key are given it again. */

typedef struct {
	dlock_endpoint *server;
	dlock_call *repair;
	bool unanswered;  /* a repair was sent and not answered: it may yet set the key */
	bool counted;     /* it had the key when it last answered: the lease may rest upon it */
	dlock_nanos late; /* the shortest lease time that it may yet set after an answer; 0: none */
} round_server;

typedef struct {
	dlock_renewal_round base;
	dlock_ballot votes; /* of the round under way, or of the last one */
	dlock_keys keys; /* of the lock, and of what its holder says */
	dlock_description *description;
	char token[DLOCK_TOKEN_MAX + 1];
	int64_t fencing_token;
	round_server *servers;
	dlock_voter voters[]; /* behind them are the servers and the texts of the keys */
} quorum_round;

static quorum_round *round_of(const dlock_renewal_round *base)
{
	return (quorum_round *) base;
}

static void discard(dlock_call **call)
{
	dlock_call_release(*call);
	*call = NULL;
}

static void round_free(dlock_renewal_round *base)
{
	quorum_round *round = round_of(base);

	dlock_ballot_end(&round->votes);
	for (int i = 0; i < round->votes.count; i++) {
		discard(&round->servers[i].repair);
		dlock_endpoint_release(round->servers[i].server);
	}
	dlock_description_release(round->description);
	free((void *) round->keys.several);
	free(round);
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

static void cancel(dlock_renewal_round *base)
{
	quorum_round *round = round_of(base);

	for (int i = 0; i < round->votes.count; i++) {
		cancel_sending(round->voters[i].call);
		cancel_sending(round->servers[i].repair);
	}
}

/* The connection for this lease time. If a repair may have to be rolled back, its connection stays. */
static dlock_conn *conn_for(quorum_round *round, int server, dlock_pool *pool, dlock_nanos ttl)
{
	dlock_conn **conn = &round->voters[server].conn;
	dlock_nanos cap = dlock_timeout_cap(round->servers[server].server, ttl);

	if (!*conn || ((*conn)->timeout_cap != cap && !round->servers[server].unanswered)) {
		dlock_conn *other = dlock_pool_capped_conn(pool, round->servers[server].server, cap);
		*conn = other ? other : *conn;
	}
	return *conn;
}

/* Describes the holder to operators. inspect.lua uses the description only if the server has this holder. No caller
 * waits for the answer. */
static void describe(const quorum_round *round, dlock_conn *conn, dlock_nanos ttl)
{
	const dlock_several_keys *several = round->keys.several;
	dlock_holder_text text;
	char id[DLOCK_TOKEN_ID_LEN + 1];

	if (!round->description || !dlock_token_id(round->token, id)) {
		return;
	}
	dlock_write_holder_text(&text, round->base.since, round->fencing_token, round->description);
	for (int i = 0; i < (several ? several->lock_count : 1); i++) {
		dlock_keys keys = several ? (dlock_keys) { .lock = several->locks[i], .held = several->held[i] } : round->keys;
		dlock_conn_send_background(conn, dlock_request_describe(keys, id, text.text, ttl, false),
			dlock_after(round->base.started, ttl));
	}
}

static void begin(dlock_renewal_round *base, dlock_renewer *renewer, dlock_nanos ttl, bool extends)
{
	quorum_round *round = round_of(base);
	dlock_ballot *votes = &round->votes;

	for (int i = 0; i < votes->count; i++) {
		cancel_sending(round->voters[i].call);
	}
	dlock_ballot_end(votes);
	dlock_ballot_begin(votes, round->voters, votes->count, votes->quorum, dlock_read_integer);
	votes->tells_no = true;
	for (int i = 0; i < votes->count; i++) {
		/* The checks of all leases share one connection to a server. */
		if (conn_for(round, i, dlock_redis_renewer_pool(renewer), extends ? base->within : DLOCK_TTL_MAX)) {
			dlock_ballot_ask(votes, i, extends ? dlock_quorum_request_renew(round->keys, round->token, ttl)
											   : dlock_quorum_request_check(round->keys, round->token));
			if (extends && base->since != 0) {
				describe(round, round->voters[i].conn, ttl);
			}
		}
	}
}

static dlock_round_result result(const dlock_renewal_round *base)
{
	dlock_ballot *votes = &round_of(base)->votes;

	return !dlock_ballot_count(votes)                 ? DLOCK_ROUND_OPEN
		: votes->yes >= votes->quorum                 ? DLOCK_ROUND_KEPT
		: votes->no > votes->count - votes->quorum ? DLOCK_ROUND_GONE
													  : DLOCK_ROUND_FAILED;
}

static void note_late(dlock_renewal_round *base, const dlock_claim *claim)
{
	quorum_round *round = round_of(base);

	for (int i = 0; i < round->votes.count; i++) {
		round->servers[i].late = dlock_quorum_late_ttl((const quorum_claim *) claim, i);
	}
}

static dlock_nanos guaranteed(const dlock_renewal_round *base, dlock_nanos ttl)
{
	const quorum_round *round = round_of(base);
	int64_t left[DLOCK_MOST_SERVERS];
	int holders = 0;

	for (int i = 0; i < round->votes.count; i++) {
		if (round->voters[i].vote == DLOCK_VOTE_YES) {
			left[holders++] = dlock_quorum_left_if(round->servers[i].late, ttl);
		}
	}
	return dlock_quorum_last(left, holders, round->votes.quorum);
}

static bool is_gap(const quorum_round *round, int server)
{
	return round->voters[server].vote == DLOCK_VOTE_NO && !is_pending(round->servers[server].repair);
}

static bool has_gaps(const dlock_renewal_round *base)
{
	const quorum_round *round = round_of(base);
	int gaps = 0;

	for (int i = 0; i < round->votes.count; i++) {
		gaps += is_gap(round, i);
	}
	return gaps > 0;
}

/* Sets the key and raises the fence, once for each answer that there is no key. */
static void repair(dlock_renewal_round *base, dlock_nanos ttl)
{
	quorum_round *round = round_of(base);

	for (int i = 0; i < round->votes.count; i++) {
		round_server *server = &round->servers[i];
		if (!is_gap(round, i)) {
			continue;
		}
		round->voters[i].vote = DLOCK_VOTE_NONE;
		discard(&round->voters[i].call);
		discard(&server->repair);
		server->repair = dlock_quorum_request_repair(round->keys, round->token, ttl, round->fencing_token);
		if (server->repair) {
			dlock_conn_send(round->voters[i].conn, server->repair);
			server->unanswered |= server->repair->sent || is_pending(server->repair);
		}
	}
}

/* A call that was cancelled before it was sent is not under way. */
static bool is_under_way(const dlock_call *call)
{
	return is_pending(call) && (call->sent || call->wanted);
}

static bool collect(dlock_renewal_round *base, bool released)
{
	quorum_round *round = round_of(base);
	bool under_way = false;
	dlock_response response;
	dlock_error error;

	dlock_ballot_count(&round->votes);
	for (int i = 0; i < round->votes.count; i++) {
		round_server *server = &round->servers[i];
		dlock_voter *voter = &round->voters[i];
		under_way |= is_under_way(voter->call) || is_under_way(server->repair);
		if (server->repair && server->repair->state == DLOCK_CALL_ANSWERED) {
			base->refused |= dlock_read_integer(server->repair, voter->conn, &response, &error) == DLOCK_LOST;
			/* The server may have executed the repair after the release, however early its answer is read. */
			server->unanswered &= released;
			discard(&server->repair);
		}
		if (!released && (voter->vote == DLOCK_VOTE_YES || voter->vote == DLOCK_VOTE_NO)) {
			server->counted = voter->vote == DLOCK_VOTE_YES;
		}
	}
	return under_way;
}

static dlock_nanos longest_wait(const dlock_renewal_round *base, dlock_nanos ttl)
{
	const quorum_round *round = round_of(base);
	dlock_nanos longest = 0;

	for (int i = 0; i < round->votes.count; i++) {
		dlock_nanos wait = dlock_answer_time(round->servers[i].server, ttl);
		longest = wait > longest ? wait : longest;
	}
	return longest;
}

static bool has_calls(const dlock_renewal_round *base)
{
	const quorum_round *round = round_of(base);
	int calls = 0;

	for (int i = 0; i < round->votes.count; i++) {
		calls += round->voters[i].call || round->servers[i].repair;
	}
	return calls > 0;
}

static bool may_yet_repair(const dlock_renewal_round *base)
{
	const quorum_round *round = round_of(base);
	int repairs = 0;

	for (int i = 0; i < round->votes.count; i++) {
		repairs += round->servers[i].unanswered;
	}
	return repairs > 0;
}

/* The rollback follows the repair over the same connection, and the repair is not sent again. A lease of one
 * millisecond needs none of the lock's other keys. */
static void roll_back(dlock_renewal_round *base, dlock_nanos ttl, bool over)
{
	quorum_round *round = round_of(base);

	for (int i = 0; i < round->votes.count; i++) {
		round_server *server = &round->servers[i];
		if (server->unanswered && (over || !server->counted)) {
			cancel_sending(server->repair);
			dlock_conn_send_background(round->voters[i].conn,
				dlock_quorum_request_undo_repair(round->keys, round->token), dlock_after(dlock_now(), ttl));
		}
		server->unanswered = false;
	}
}

/* If a part is lost on a majority, the whole lease is lost. */
static void give_back(dlock_renewal_round *base)
{
	quorum_round *round = round_of(base);

	for (int i = 0; round->keys.several && i < round->votes.count; i++) {
		if (round->voters[i].conn) {
			cancel_sending(round->servers[i].repair);
			dlock_conn_send_background(round->voters[i].conn,
				dlock_quorum_request_release(round->keys, round->token, NULL),
				dlock_after(dlock_now(), base->within));
		}
	}
}

static const dlock_renewal_round_ops ops = {
	.renewer = &dlock_redis_renewer_ops,
	.give_back = give_back,
	.begin = begin,
	.result = result,
	.note_late = note_late,
	.guaranteed = guaranteed,
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

dlock_renewal_round *dlock_quorum_new_round(const dlock_claim *base)
{
	const quorum_claim *claim = (const quorum_claim *) base;
	const quorum_backend *backend = quorum_backend_of(claim);
	dlock_keys keys = dlock_quorum_keys(claim);
	keys.held = base->description ? dlock_key_builder_held(backend->keys, keys) : (dlock_arg) { "", 0 };
	size_t count = (size_t) backend->count, voters = count * sizeof(dlock_voter),
		   servers = count * sizeof(round_server);
	quorum_round *round = calloc(1, sizeof *round + voters + servers + keys.lock.len + keys.held.len);

	dlock_several_keys *several = claim->several
		? dlock_key_builder_several(backend->keys, base->names, base->count) : NULL;
	if (!round || (claim->several && !several)) {
		free(round);
		free(several);
		return NULL;
	}
	round->servers = (round_server *) (round->voters + count);
	char *room = memcpy(round->servers + count, keys.lock.text, keys.lock.len);
	round->keys = (dlock_keys) { .lock = { room, keys.lock.len }, .held = { room + keys.lock.len, keys.held.len },
		.several = several };
	memcpy(room + keys.lock.len, keys.held.text, keys.held.len);
	round->description = dlock_description_retain(base->description);
	round->base.ops = &ops;
	round->base.late_proves_nothing = backend->count > 1;
	round->base.repairable = backend->count > backend->quorum;
	memcpy(round->token, base->token, sizeof round->token);
	round->fencing_token = base->fencing_token;
	dlock_ballot_begin(&round->votes, round->voters, backend->count, backend->quorum, dlock_read_integer);
	for (size_t i = 0; i < count; i++) {
		round->servers[i].server = dlock_endpoint_retain(backend->members[i].conn->server);
	}
	note_late(&round->base, base);
	return &round->base;
}
