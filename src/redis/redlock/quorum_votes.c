#include "quorum_internal.h"

#include <stdlib.h>
#include <time.h>

/* Asks all servers for a lock, as in the Redlock algorithm
 * (https://redis.io/docs/latest/develop/use/patterns/distributed-locks/), but all at once. It has them agree on a
 * fencing token, which Redlock does not have; tests/models/fencing.pml checks that tokens rise. Without a majority it
 * rolls back. */

bool dlock_quorum_prepare(quorum_claim *claim)
{
	if (claim->base.count > 1 && !claim->several) {
		claim->several = dlock_key_builder_several(
			quorum_backend_of(claim)->keys, claim->base.names, claim->base.count);
	}
	return claim->base.count == 1 || claim->several;
}

/* For several resources, these are the first one's and `several`. */
dlock_keys dlock_quorum_keys(const quorum_claim *claim)
{
	const dlock_name *first = claim->base.names;
	dlock_keys keys = dlock_key_builder_keys(quorum_backend_of(claim)->keys, first->text, first->len);

	keys.several = claim->several;
	return keys;
}

void dlock_quorum_begin(quorum_backend *backend, dlock_ballot *votes, dlock_voter *voters, dlock_reader *read)
{
	for (int i = 0; i < backend->count; i++) {
		voters[i].conn = backend->members[i].conn;
		voters[i].outcome = &backend->members[i].outcome;
	}
	dlock_ballot_begin(votes, voters, backend->count, backend->quorum, read);
}

void dlock_quorum_begin_voting(quorum_claim *claim, dlock_ballot *votes, dlock_voter *voters, dlock_reader *read)
{
	dlock_quorum_begin(quorum_backend_of(claim), votes, voters, read);
	dlock_uptime_rule_begin(&votes->uptime_rule, quorum_backend_of(claim)->guard, claim->base.ttl);
}

void dlock_quorum_ask(const quorum_claim *claim, dlock_ballot *votes, int server, dlock_call *call)
{
	if (call) {
		call->needs_uptime = quorum_backend_of(claim)->guard > 0;
	}
	dlock_ballot_ask(votes, server, call);
}

bool dlock_quorum_leaves_out(dlock_ballot *votes, int server)
{
	dlock_voter *voter = &votes->voters[server];
	bool is_stuck = dlock_conn_drain_if_stuck(voter->conn);

	if (is_stuck) {
		*voter->outcome = (dlock_outcome) { true, voter->conn->error };
	}
	return is_stuck;
}

/* ---- fencing tokens ---- */

static int64_t wall_clock(void)
{
	struct timespec now;

	timespec_get(&now, TIME_UTC);
	return (int64_t) now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

dlock_status dlock_quorum_check_clock(dlock_error *error)
{
	int64_t micros = wall_clock();

	return micros < DLOCK_MOST_PROPOSED
		? DLOCK_OK
		: dlock_fail(error, DLOCK_FAILED,
			"The clock of this host is wrong, its year is %lld: set it, since fencing tokens are made of it",
			(long long) (1970 + micros / 1000000 / 31556952));
}

/* The clock makes tokens rise if all servers are restarted. One more than the last token makes them rise if the clock
 * does not. */
int64_t dlock_quorum_propose(const quorum_backend *backend)
{
	int64_t micros = wall_clock();

	return micros > backend->highest_token ? micros : backend->highest_token + 1;
}

/* Any lease in use is longer than this, with a request of its holder before it. If an attempt takes longer, its votes
 * are not simultaneous enough. A server may have voted, restarted without its vote, and be another holder's when the
 * last vote comes (tests/models/forgetting.pml). */
#define QUICK (100 * DLOCK_MS)

static int64_t largest_token(const dlock_ballot *votes)
{
	int64_t token = 0;

	for (int i = 0; i < votes->count; i++) {
		const dlock_voter *voter = &votes->voters[i];
		token = voter->vote == DLOCK_VOTE_YES && voter->response.fencing_token > token ? voter->response.fencing_token
																					   : token;
	}
	return token;
}

/* The votes carry the servers' fencing tokens. The largest is the lease's once a quorum has no smaller one. Any later
 * quorum shares a server with this one, and reads a larger token there. If fewer than a quorum have it, or the attempt
 * was not quick, the claim asks all voters to raise their tokens. A server does so only if the lock is still the
 * claim's there. Normally all agree, and nothing is left to do. */
static bool is_agreed(const quorum_agreement *own, dlock_nanos now)
{
	quorum_claim *claim = own->claim;
	quorum_backend *backend = quorum_backend_of(claim);
	int64_t token = largest_token(own->votes);
	int agree = 0;

	claim->base.fencing_token = token;
	backend->highest_token = token > backend->highest_token ? token : backend->highest_token;
	for (int i = 0; i < backend->count; i++) {
		const dlock_voter *voter = &own->votes->voters[i];
		agree += voter->vote == DLOCK_VOTE_YES && voter->response.fencing_token == token;
	}
	return agree >= backend->quorum && now - own->asked < QUICK;
}

static void ask_to_raise(quorum_agreement *own)
{
	quorum_claim *claim = own->claim;

	dlock_quorum_begin(quorum_backend_of(claim), &own->raise, own->voters, dlock_read_integer);
	for (int i = 0; i < own->raise.count; i++) {
		if (own->votes->voters[i].vote == DLOCK_VOTE_YES) {
			dlock_ballot_ask(&own->raise, i,
				dlock_quorum_request_raise(dlock_quorum_keys(claim), claim->base.token, claim->base.fencing_token));
		}
	}
}

dlock_status dlock_quorum_begin_agreement(
	quorum_agreement *own, quorum_claim *claim, const dlock_ballot *votes, dlock_nanos asked, dlock_nanos until)
{
	own->task.at = 0;
	own->claim = claim;
	own->votes = votes;
	own->asked = asked;
	own->until = until;
	return votes->yes >= votes->quorum ? DLOCK_OK : DLOCK_QUORUM;
}

dlock_status dlock_quorum_agree(quorum_agreement *own, dlock_loop *loop, dlock_nanos now)
{
	DLOCK_BEGIN(&own->task);
	if (is_agreed(own, now)) {
		own->raise.yes = own->votes->quorum;
	} else {
		ask_to_raise(own);
		DLOCK_AWAIT(&own->task, dlock_ballot_ends(&own->raise, own->until, loop, now));
		dlock_ballot_end(&own->raise);
	}
	DLOCK_END(&own->task);
	return own->raise.yes >= own->votes->quorum ? DLOCK_OK : DLOCK_QUORUM;
}

static int descending(const void *a, const void *b)
{
	int64_t x = *(const int64_t *) a, y = *(const int64_t *) b;

	return (x < y) - (x > y);
}

int64_t dlock_quorum_last(int64_t *ends, int count, int quorum)
{
	qsort(ends, (size_t) count, sizeof *ends, descending);
	return ends[quorum - 1];
}

/* ---- rolling back ---- */

void dlock_quorum_send_background(const quorum_claim *claim, int server, dlock_call *call, dlock_nanos now)
{
	dlock_conn_send_background(
		quorum_backend_of(claim)->members[server].conn, call, dlock_after(now, claim->base.ttl));
}

void dlock_quorum_roll_back(quorum_claim *claim, dlock_nanos now)
{
	const char *waiter = claim->ticket ? claim->waiter : NULL;

	dlock_quorum_cancel_stragglers(claim);
	for (int i = 0; i < quorum_backend_of(claim)->count; i++) {
		if (has_server(claim->holders, i)) {
			dlock_quorum_send_background(claim, i,
				dlock_quorum_request_release(dlock_quorum_keys(claim), claim->base.token, waiter), now);
		}
	}
	claim->holders = 0;
}

void dlock_quorum_leave(quorum_claim *claim, server_set except, dlock_nanos now)
{
	for (int i = 0; i < quorum_backend_of(claim)->count; i++) {
		if (has_server(claim->queued & ~except, i)) {
			dlock_quorum_send_straggler_once(claim, i);
			dlock_quorum_send_background(
				claim, i, dlock_quorum_request_leave(dlock_quorum_keys(claim), claim->waiter), now);
		}
	}
	claim->queued = claim->placed = 0;
	claim->ticket = 0;
	if (claim->base.state == DLOCK_CLAIM_WAITING) {
		dlock_claim_move(&claim->base, DLOCK_CLAIM_NEW);
	}
}
