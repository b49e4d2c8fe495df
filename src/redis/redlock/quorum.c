#include "quorum.h"

#include <stdlib.h>
#include <string.h>

#include "../lock/renewal_round.h"
#include "../wire/pool_source.h"
#include "quorum_internal.h"

/* A majority of independent Redis servers, by the Redlock algorithm
 * (https://redis.io/docs/latest/develop/use/patterns/distributed-locks/): the back end itself, and what is done with a
 * lease that is held. quorum_internal.h lists the other parts; ballot.h counts votes, and uptime_rule.h says which
 * servers have one. */

static void quorum_abandon(dlock_claim *base)
{
	quorum_claim *claim = (quorum_claim *) base;

	if (base->repaired) {
		claim->holders = ALL_SERVERS;
	}
	dlock_quorum_roll_back(claim);
	dlock_quorum_leave(claim, 0);
}

/* ---- while it is held ---- */

/* Makes the call for one server that may have the lock. */
typedef dlock_call *holder_request(const quorum_claim *claim, dlock_nanos ttl);

static dlock_call *request_extend(const quorum_claim *claim, dlock_nanos ttl)
{
	dlock_call *call = dlock_request_extend(dlock_quorum_keys(claim), claim->base.token, ttl);

	if (call) {
		dlock_call_use_source(call); /* a late server could report an unknown script when the caller is gone */
	}
	return call;
}

static dlock_call *request_check(const quorum_claim *claim, dlock_nanos ttl)
{
	(void) ttl;
	return dlock_request_check(dlock_quorum_keys(claim), claim->base.token);
}

static dlock_call *request_release(const quorum_claim *claim, dlock_nanos ttl)
{
	(void) ttl;
	return dlock_request_release(dlock_quorum_keys(claim), claim->base.token, false, NULL, false);
}

/* A release that finds nothing when it is sent again was done by the first sending, the answer to which was lost with a
 * connection that had been alive. */
static dlock_status read_release(
	const dlock_call *call, const dlock_conn *conn, dlock_response *response, dlock_error *error)
{
	dlock_status status = dlock_read_integer(call, conn, response, error);

	return status == DLOCK_LOST && call->repeated ? DLOCK_OK : status;
}

/* A release goes as text the first time on a connection: a late server could report an unknown script when the process
 * is gone. */
static void teach_release(dlock_conn *conn, dlock_call *call)
{
	if (call && conn->release_source_sent != conn->generation) {
		dlock_call_use_source(call);
		conn->release_source_sent = conn->generation;
	}
}

/* A release must reach a server that is late, too. A late extension could shorten what a later one has lengthened. True
 * where a server may execute a call without having answered. */
static bool end_holder_calls(const quorum_claim *claim, const dlock_ballot *votes, bool releasing)
{
	bool unanswered = false;

	for (int i = 0; i < votes->count; i++) {
		dlock_call *call = votes->calls[i];
		unanswered |= call && call->sent && call->state != DLOCK_CALL_ANSWERED;
		if (call && call->state == DLOCK_CALL_PENDING) {
			if (releasing) {
				dlock_call_to_background(call, dlock_after(dlock_now(), claim->base.ttl));
			} else {
				dlock_call_cancel(call);
			}
		}
	}
	return unanswered;
}

/* For how long a majority of those that have answered says that it has the lock; it is one that says yes. */
static dlock_nanos majority_left(const dlock_ballot *votes)
{
	int64_t left[DLOCK_MOST_SERVERS];
	int holders = 0;

	for (int i = 0; i < votes->count; i++) {
		if (votes->votes[i] == DLOCK_VOTE_YES) {
			left[holders++] = votes->responses[i].value;
		}
	}
	return dlock_lease_left(dlock_quorum_last(left, holders, votes->quorum));
}

/* Less than the holder relies on: one of the first to answer may have missed the last renewals, and the others not. */
static bool ends_early(const dlock_claim *base, const dlock_ballot *votes)
{
	return votes->yes >= votes->quorum && dlock_now() + majority_left(votes) < base->deadline;
}

/* Asks the servers that may have the lock. True where one may do what it was asked without having answered. */
static bool ask_holders(dlock_ballot *votes, quorum_claim *claim, holder_request *request, dlock_nanos ttl)
{
	quorum_backend *backend = quorum_backend_of(claim);
	bool releasing = request == request_release;

	if (claim->holders == 0 || claim->base.repaired) { /* acquired elsewhere, or repaired: any server may have it */
		claim->holders = ALL_SERVERS;
	}
	dlock_quorum_begin(backend, votes, releasing ? read_release : dlock_read_integer);
	for (int i = 0; i < backend->count; i++) {
		if (has_server(claim->holders, i)) {
			dlock_call *call = request(claim, ttl);
			if (releasing) {
				teach_release(backend->members[i].conn, call);
			}
			dlock_ballot_ask(votes, i, call);
		} else {
			dlock_ballot_absent(votes, i);
		}
	}
	votes->tells_no = !releasing; /* whether the lease is lost decides what its holder does */
	dlock_ballot_hold(votes, DLOCK_FOREVER);
	if (request == request_check && ends_early(&claim->base, votes)) {
		dlock_ballot_drain(votes, votes->count, DLOCK_FOREVER);
	}
	if (releasing && claim->needed > backend->quorum) {
		dlock_ballot_drain(
			votes, votes->count, dlock_now() + DLOCK_REST_OF_VOTES); /* the next holder needs all of them, too */
	}
	bool unanswered = end_holder_calls(claim, votes, releasing);
	dlock_ballot_end(votes);
	return unanswered;
}

/* Not where the lease ended before the answers came: see update() in lock/renewal.c. */
static void set_deadline(dlock_claim *base, dlock_nanos deadline)
{
	if (!dlock_claim_expire_if_due(base)) {
		base->deadline = deadline;
	}
}

static dlock_status quorum_extend(dlock_claim *base, dlock_nanos ttl, dlock_error *error)
{
	quorum_claim *claim = (quorum_claim *) base;
	dlock_nanos start = dlock_now(), guaranteed = dlock_claim_guaranteed_ttl(base, ttl);
	dlock_ballot votes;

	for (int i = 0; i < quorum_backend_of(claim)->count; i++) {
		dlock_quorum_send_straggler_once(claim, i); /* it would set the former lease time again */
	}
	bool unanswered = ask_holders(&votes, claim, request_extend, ttl);
	dlock_status status = dlock_ballot_outcome(&votes, error);
	if (status == DLOCK_OK) {
		base->ttl = ttl;
		set_deadline(base, start + guaranteed - dlock_drift(guaranteed));
		dlock_claim_move(base, DLOCK_CLAIM_HELD);
	} else {
		if (start + ttl - dlock_drift(ttl) < base->deadline) {
			base->deadline = start + ttl - dlock_drift(ttl); /* some servers may have taken the shorter lease */
		}
		if (unanswered) {
			dlock_claim_add_unacknowledged_ttl(base, ttl);
		}
	}
	if (status == DLOCK_LOST) {
		dlock_quorum_roll_back(claim); /* a minority may have it, and has just been asked to keep it */
	}
	return status;
}

static dlock_status quorum_check(dlock_claim *base, dlock_error *error)
{
	quorum_claim *claim = (quorum_claim *) base;
	dlock_nanos start = dlock_now();
	dlock_ballot votes;

	ask_holders(&votes, claim, request_check, 0);
	dlock_status status = dlock_ballot_outcome(&votes, error);
	if (status != DLOCK_OK) {
		return status;
	}
	dlock_nanos ttl = dlock_claim_guaranteed_ttl(base, majority_left(&votes));
	set_deadline(base, start + ttl - dlock_drift(ttl));
	dlock_claim_move(base, DLOCK_CLAIM_HELD);
	return DLOCK_OK;
}

static dlock_status quorum_release(dlock_claim *base, dlock_error *error)
{
	quorum_claim *claim = (quorum_claim *) base;
	dlock_ballot votes;

	dlock_quorum_cancel_stragglers(claim);
	ask_holders(&votes, claim, request_release, 0);
	dlock_status status = dlock_ballot_outcome(&votes, error);
	for (int i = 0; i < votes.count; i++) {
		base->handed_over |= votes.votes[i] == DLOCK_VOTE_YES && votes.responses[i].value > 1;
	}
	if (status == DLOCK_QUORUM) {
		dlock_quorum_roll_back(claim);
	}
	claim->holders = 0;
	return status;
}

/* ---- is it locked? ---- */

/* How many servers have the key for one and the same holder, as far as they have answered? */
static int most_for_one_holder(const dlock_ballot *ballot)
{
	int most = 0;

	for (int i = 0; i < ballot->count; i++) {
		int same = 0;
		for (int k = 0; ballot->votes[i] == DLOCK_VOTE_YES && k < ballot->count; k++) {
			const redisReply *a = ballot->calls[i]->reply,
							 *b = ballot->votes[k] == DLOCK_VOTE_YES ? ballot->calls[k]->reply : NULL;
			same += b && a->len == b->len && !memcmp(a->str, b->str, a->len);
		}
		most = same > most ? same : most;
	}
	return most;
}

/* True when one holder has a quorum, or none can have one any more. */
static bool count_holders(void *context)
{
	dlock_ballot *ballot = context;

	dlock_ballot_count(ballot);
	int most = most_for_one_holder(ballot);
	return most >= ballot->quorum || most + ballot->pending < ballot->quorum;
}

static dlock_status quorum_locked(
	dlock_backend *base, const char *resource, size_t len, bool *locked, dlock_error *error)
{
	quorum_backend *backend = (quorum_backend *) base;
	dlock_ballot votes;

	dlock_quorum_begin(backend, &votes, dlock_read_holder);
	for (int i = 0; i < backend->count; i++) {
		dlock_ballot_ask(&votes, i, dlock_request_holder(dlock_key_builder_keys(backend->keys, resource, len)));
	}
	dlock_loop_await(backend->loop, count_holders, &votes, DLOCK_FOREVER);
	*locked = most_for_one_holder(&votes) >= backend->quorum;
	dlock_status status = *locked || votes.yes + votes.no + votes.pending >= backend->quorum ? DLOCK_OK
		: dlock_ballot_no_quorum(&votes, error);
	dlock_ballot_end(&votes);
	return status;
}

/* ---- the back end itself ---- */

static dlock_renewal_round *quorum_new_round(const dlock_claim *base)
{
	const quorum_claim *claim = (const quorum_claim *) base;
	const quorum_backend *backend = quorum_backend_of(claim);
	dlock_endpoint *servers[DLOCK_MOST_SERVERS];

	for (int i = 0; i < backend->count; i++) {
		servers[i] = backend->members[i].conn->server;
	}
	dlock_keys keys = dlock_quorum_keys(claim);
	keys.held = dlock_key_builder_held(backend->keys, keys);
	return dlock_redis_round_new(base, servers, backend->count, backend->quorum, keys);
}

static bool is_member(const quorum_backend *backend, const dlock_endpoint *server)
{
	for (int i = 0; i < backend->count; i++) {
		if (dlock_endpoint_is_same(backend->members[i].conn->server, server)) {
			return true;
		}
	}
	return false;
}

static const char *quorum_refuse(const dlock_backend *backend, const char *resource, size_t len)
{
	return dlock_key_builder_refuse(((const quorum_backend *) backend)->keys, resource, len);
}

static bool quorum_is_same(const dlock_claim *claim, dlock_backend *backend, const char *resource, size_t len)
{
	quorum_backend *ours = (quorum_backend *) claim->backend, *other = (quorum_backend *) backend;

	if (ours->count != other->count
		|| !dlock_key_builder_is_same(ours->keys, claim->resource, claim->resource_len, other->keys, resource, len)) {
		return false;
	}
	for (int i = 0; ours != other && i < ours->count; i++) {
		if (!is_member(other, ours->members[i].conn->server)) {
			return false;
		}
	}
	return true;
}

static void quorum_dispose(dlock_claim *claim)
{
	dlock_quorum_cancel_stragglers((quorum_claim *) claim);
}

static void quorum_destroy(dlock_backend *base)
{
	quorum_backend *backend = (quorum_backend *) base;

	for (int i = 0; i < backend->count; i++) {
		dlock_pool_return(backend->members[i].conn, backend->inboxes[i]);
	}
	free(backend->keys);
	free(backend);
}

static const dlock_backend_ops quorum_ops = {
	.name = "quorum",
	.claim_size = sizeof(quorum_claim),
	.detachable = true,
	.refuse = quorum_refuse,
	.acquire = dlock_quorum_acquire,
	.attach = dlock_quorum_attach,
	.extend = quorum_extend,
	.check = quorum_check,
	.release = quorum_release,
	.abandon = quorum_abandon,
	.new_round = quorum_new_round,
	.is_same = quorum_is_same,
	.locked = quorum_locked,
	.inspect = dlock_quorum_inspect,
	.list = dlock_quorum_list,
	.break_claim = dlock_quorum_break,
	.dispose = quorum_dispose,
	.destroy = quorum_destroy,
};

dlock_backend *dlock_quorum_new(
	dlock_pool *pool, dlock_endpoint **servers, int count, dlock_nanos guard, const char *prefix, size_t prefix_len)
{
	quorum_backend *backend = calloc(1, sizeof *backend + (size_t) count * sizeof *backend->members);

	if (!backend) {
		return NULL;
	}
	dlock_backend_init(&backend->base, &quorum_ops, prefix, prefix_len);
	backend->loop = dlock_pool_loop(pool);
	backend->count = count;
	backend->guard = guard;
	backend->quorum = count / 2 + 1;
	backend->keys = dlock_key_builder_new(prefix, prefix_len, DLOCK_RESOURCE_MAX);
	bool good = backend->keys != NULL;
	for (int i = 0; good && i < count; i++) {
		good = dlock_pool_lend(pool, servers[i], &backend->members[i].conn, &backend->inboxes[i]);
	}
	if (!good) {
		quorum_destroy(&backend->base);
		return NULL;
	}
	return &backend->base;
}

int dlock_quorum_servers(const dlock_backend *backend)
{
	return ((const quorum_backend *) backend)->count;
}

const char *dlock_quorum_server_label(const dlock_backend *backend, int server)
{
	return ((const quorum_backend *) backend)->members[server].conn->server->label;
}

const char *dlock_quorum_server_error(const dlock_backend *backend, int server)
{
	const dlock_member *member = &((const quorum_backend *) backend)->members[server];
	const char *label, *text;

	if (!member->failed) {
		return NULL;
	}
	/* The message begins with the server, which the caller shows already. */
	label = member->conn->server->label;
	text = strstr(member->error.message, label);
	return text && !strncmp(text + strlen(label), ": ", 2) ? text + strlen(label) + 2 : member->error.message;
}
