#include "quorum.h"

#include <stdlib.h>
#include <string.h>

#include "../wire/pool.h"
#include "quorum_internal.h"

/* A majority of independent Redis servers, by the Redlock algorithm
 * (https://redis.io/docs/latest/develop/use/patterns/distributed-locks/): the back end itself, and what a holder does
 * with its lease. quorum_internal.h lists the other parts; ballot.h counts votes, and uptime_rule.h says which servers
 * have one. */

static void quorum_abandon(dlock_claim *base)
{
	quorum_claim *claim = (quorum_claim *) base;

	dlock_quorum_drop(claim, dlock_now());
	if (base->repaired) {
		claim->holders = ALL_SERVERS;
	}
	dlock_quorum_roll_back(claim, dlock_now());
	dlock_quorum_leave(claim, 0, dlock_now());
}

/* ---- while it is held ---- */

/* A task that asks the servers that may have the lock. */
typedef struct {
	quorum_claim *claim;
	enum { EXTEND, CHECK, RELEASE } what;
	dlock_nanos ttl, started, until;
	dlock_task task;
	dlock_ballot votes;
	dlock_voter voters[DLOCK_MOST_SERVERS];
} asking;

/* If a release finds nothing when it is sent again, its first sending has released the lock. That answer was lost with
 * a connection that had been alive. */
static dlock_status read_release(
	const dlock_call *call, const dlock_conn *conn, dlock_response *response, dlock_error *error)
{
	dlock_status status = dlock_read_integer(call, conn, response, error);

	return status == DLOCK_LOST && call->repeated ? DLOCK_OK : status;
}

/* If a server is late, perhaps no caller is left to read that it does not know a script. So an extension goes as text,
 * and a release does the first time on a connection. */
static dlock_call *request(const asking *own, dlock_conn *conn)
{
	const char *token = own->claim->base.token;
	dlock_keys keys = dlock_quorum_keys(own->claim);
	unsigned long *source_sent = &conn->release_source_sent[keys.several != NULL];
	dlock_call *call = own->what == EXTEND ? dlock_quorum_request_extend(keys, token, own->ttl)
		: own->what == CHECK               ? dlock_quorum_request_check(keys, token)
										   : dlock_quorum_request_release(keys, token, NULL);

	if (call && (own->what == EXTEND || (own->what == RELEASE && *source_sent != conn->generation))) {
		dlock_call_use_source(call);
		*source_sent = own->what == RELEASE ? conn->generation : *source_sent;
	}
	return call;
}

/* For how long a majority keeps the lock, as far as servers have answered. A majority must have said yes. A server that
 * may yet execute an earlier request for a shorter lease time is relied on for no more than that. */
static dlock_nanos majority_left(const asking *own)
{
	const dlock_ballot *votes = &own->votes;
	int64_t left[DLOCK_MOST_SERVERS];
	int holders = 0;

	for (int i = 0; i < votes->count; i++) {
		if (votes->voters[i].vote == DLOCK_VOTE_YES) {
			dlock_nanos has = own->what == EXTEND ? own->ttl : dlock_lease_left(votes->voters[i].response.value);
			left[holders++] = dlock_quorum_left_if(own->claim->late_ttls[i], has);
		}
	}
	return dlock_quorum_last(left, holders, votes->quorum);
}

static void ask_holders(asking *own)
{
	quorum_claim *claim = own->claim;

	if (claim->holders == 0 || claim->base.repaired) { /* acquired elsewhere, or repaired: any server may have it */
		claim->holders = ALL_SERVERS;
	}
	dlock_quorum_begin(quorum_backend_of(claim), &own->votes, own->voters,
		own->what == RELEASE ? read_release : dlock_read_integer);
	own->votes.tells_no = own->what != RELEASE; /* what its holder does depends on whether the lease is lost */
	for (int i = 0; i < own->votes.count; i++) {
		if (has_server(claim->holders, i)) {
			dlock_ballot_ask(&own->votes, i, request(own, own->voters[i].conn));
		} else {
			dlock_ballot_absent(&own->votes, i);
		}
	}
}

/* Until when the task waits for the remaining servers; 0: it does not. If a majority leaves less than the holder relies
 * on, the first servers may have missed the last renewals, and the remaining ones not. If it leaves less than was
 * requested, the remaining ones may leave more. After a release, the next holder may need all servers. */
static dlock_nanos rest_wanted_until(const asking *own, dlock_nanos now)
{
	const dlock_ballot *votes = &own->votes;

	if (own->what == RELEASE) {
		return own->claim->needed > votes->quorum ? now + DLOCK_REST_OF_VOTES : 0;
	}
	if (votes->yes < votes->quorum) {
		return 0;
	}
	dlock_quorum_review_stragglers(own->claim, votes, 0);
	dlock_nanos left = majority_left(own);
	if (own->what == EXTEND) {
		return left < own->ttl ? now + DLOCK_REST_OF_VOTES : 0;
	}
	return now + left < own->claim->base.deadline ? DLOCK_FOREVER : 0;
}

/* A release must also reach a server that is late. A late extension could shorten what a later one has lengthened. */
static void end_holder_calls(asking *own, dlock_nanos now)
{
	for (int i = 0; i < own->votes.count; i++) {
		dlock_call *call = own->voters[i].call;
		if (call && call->state == DLOCK_CALL_PENDING) {
			if (own->what == RELEASE) {
				dlock_call_to_background(call, dlock_after(now, own->claim->base.ttl));
			} else {
				dlock_call_cancel(call);
			}
		}
	}
	if (own->what != RELEASE) {
		dlock_quorum_review_stragglers(own->claim, &own->votes, own->ttl);
	}
	dlock_ballot_end(&own->votes);
}

static dlock_status ask_step(void *task, dlock_loop *loop, dlock_nanos now)
{
	asking *own = task;

	DLOCK_BEGIN(&own->task);
	own->started = now;
	ask_holders(own);
	DLOCK_AWAIT(&own->task, dlock_ballot_count(&own->votes));
	own->until = rest_wanted_until(own, now);
	if (own->until != 0) {
		DLOCK_AWAIT(&own->task, dlock_ballot_drains(&own->votes, own->votes.count, own->until, loop, now));
	}
	end_holder_calls(own, now);
	DLOCK_END(&own->task);
	return DLOCK_OK;
}

static void ask(asking *own, dlock_claim *base, int what, dlock_nanos ttl)
{
	own->claim = (quorum_claim *) base;
	own->what = what;
	own->ttl = ttl;
	own->task.at = 0;
	dlock_loop_run(quorum_backend_of(own->claim)->loop, ask_step, own, DLOCK_FOREVER, NULL);
}

/* A majority has said yes. If the lease ended before the answers came, it stays lost: see update() in
 * lock/renewal_list.c. */
static void keep_holding(asking *own)
{
	dlock_claim *base = &own->claim->base;
	dlock_nanos ttl = majority_left(own);

	if (!dlock_claim_expire_if_due(base)) {
		base->deadline = own->started + ttl - dlock_drift(ttl);
	}
	dlock_claim_move(base, DLOCK_CLAIM_HELD);
}

/* For a process that attaches the lease: it knows nothing of the requests that servers have not answered. */
static void note_unacknowledged(quorum_claim *claim)
{
	claim->base.unacknowledged_ttl = 0;
	for (int i = 0; i < quorum_backend_of(claim)->count; i++) {
		dlock_nanos ttl = dlock_quorum_late_ttl(claim, i);
		if (ttl > 0 && ttl < claim->base.ttl) {
			dlock_claim_add_unacknowledged_ttl(&claim->base, ttl);
		}
	}
}

static dlock_status quorum_extend(dlock_claim *base, dlock_nanos ttl, dlock_error *error)
{
	quorum_claim *claim = (quorum_claim *) base;
	asking own;

	for (int i = 0; i < quorum_backend_of(claim)->count; i++) {
		dlock_quorum_send_straggler_once(claim, i); /* it would set the former lease time again */
	}
	ask(&own, base, EXTEND, ttl);
	dlock_status status = dlock_ballot_outcome(&own.votes, error);
	if (status == DLOCK_OK) {
		base->ttl = ttl;
		keep_holding(&own);
	} else if (own.started + ttl - dlock_drift(ttl) < base->deadline) {
		base->deadline = own.started + ttl - dlock_drift(ttl); /* some servers may have set the shorter lease */
	}
	note_unacknowledged(claim);
	if (status == DLOCK_LOST) { /* a minority may have it, and was just asked to extend it */
		dlock_quorum_roll_back(claim, dlock_now());
	}
	return status;
}

static dlock_status quorum_check(dlock_claim *base, dlock_error *error)
{
	asking own;

	ask(&own, base, CHECK, 0);
	dlock_status status = dlock_ballot_outcome(&own.votes, error);
	if (status == DLOCK_OK) {
		keep_holding(&own);
	}
	note_unacknowledged(own.claim);
	return status;
}

static dlock_status quorum_release(dlock_claim *base, dlock_error *error)
{
	quorum_claim *claim = (quorum_claim *) base;
	asking own;

	dlock_quorum_cancel_stragglers(claim);
	ask(&own, base, RELEASE, 0);
	dlock_status status = dlock_ballot_outcome(&own.votes, error);
	for (int i = 0; i < own.votes.count; i++) {
		base->handed_over |= own.voters[i].vote == DLOCK_VOTE_YES && own.voters[i].response.value > 1;
	}
	if (status == DLOCK_QUORUM) {
		dlock_quorum_roll_back(claim, dlock_now());
	}
	claim->holders = 0;
	return status;
}

/* ---- is it locked? ---- */

/* How many servers have the key for the same holder, as far as they have answered? */
static int most_for_one_holder(const dlock_ballot *ballot)
{
	int most = 0;

	for (int i = 0; i < ballot->count; i++) {
		int same = 0;
		for (int k = 0; ballot->voters[i].vote == DLOCK_VOTE_YES && k < ballot->count; k++) {
			const dlock_voter *other = &ballot->voters[k];
			const redisReply *a = ballot->voters[i].call->reply,
							 *b = other->vote == DLOCK_VOTE_YES ? other->call->reply : NULL;
			same += b && a->len == b->len && !memcmp(a->str, b->str, a->len);
		}
		most = same > most ? same : most;
	}
	return most;
}

/* A condition: one holder has a quorum, or no holder can reach one. */
static bool is_known_whose(void *context)
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
	dlock_voter voters[DLOCK_MOST_SERVERS];
	dlock_ballot votes;

	dlock_quorum_begin(backend, &votes, voters, dlock_read_holder);
	for (int i = 0; i < backend->count; i++) {
		dlock_ballot_ask(&votes, i, dlock_request_holder(dlock_key_builder_keys(backend->keys, resource, len)));
	}
	dlock_loop_await(backend->loop, is_known_whose, &votes, DLOCK_FOREVER);
	*locked = most_for_one_holder(&votes) >= backend->quorum;
	dlock_status status = *locked || votes.yes + votes.no + votes.pending >= backend->quorum ? DLOCK_OK
		: dlock_ballot_no_quorum(&votes, error);
	dlock_ballot_end(&votes);
	return status;
}

/* ---- the back end itself ---- */

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

static bool quorum_is_same(const dlock_backend *a, const dlock_backend *b)
{
	const quorum_backend *one = (const quorum_backend *) a, *other = (const quorum_backend *) b;
	bool is_same = one->count == other->count;

	for (int i = 0; is_same && i < one->count; i++) {
		is_same = is_member(other, one->members[i].conn->server);
	}
	return is_same;
}

static void quorum_dispose(dlock_claim *claim)
{
	dlock_quorum_drop((quorum_claim *) claim, dlock_now());
	dlock_quorum_cancel_stragglers((quorum_claim *) claim);
	free(((quorum_claim *) claim)->several);
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
	.new_round = dlock_quorum_new_round,
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
	size_t size = sizeof(quorum_backend) + (size_t) count * sizeof(quorum_member);
	quorum_backend *backend = dlock_backend_new(&quorum_ops, size, prefix, prefix_len);

	if (!backend) {
		return NULL;
	}
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
	const quorum_member *member = &((const quorum_backend *) backend)->members[server];
	const char *label, *text;

	if (!member->outcome.failed) {
		return NULL;
	}
	/* The message begins with the server, which the caller shows already. */
	label = member->conn->server->label;
	text = strstr(member->outcome.error.message, label);
	return text && !strncmp(text + strlen(label), ": ", 2) ? text + strlen(label) + 2 : member->outcome.error.message;
}
