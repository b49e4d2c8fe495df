#include "quorum_internal.h"

/* To take up a lease by its token, which is exchanged for the claim's own on a majority of the servers, so that it
 * works once: compare and exchange, decided by votes as an acquire is. tests/models/attach.pml checks it. */

typedef struct {
	const char *token;
	int64_t least_fencing_token;
} question;

static dlock_call *request_exchange(const quorum_claim *claim, int server, const void *context)
{
	const question *question = context;
	dlock_call *call = dlock_request_exchange(
		dlock_quorum_keys(claim), question->token, claim->base.token, question->least_fencing_token);

	(void) server;
	if (call) {
		dlock_call_use_source(call); /* sent again since its script is unknown, it could follow a release */
	}
	return call;
}

/* The restart guard judges as it does for an acquire: a server that was restarted may have come back with an old key,
 * of a lease that was released since, and whose lock is another's. */
static void ask_exchange(quorum_claim *claim, const char *token, dlock_ballot *votes)
{
	question question = { token, dlock_quorum_propose(quorum_backend_of(claim)) };

	dlock_quorum_ask_all(claim, votes, dlock_read_exchange, request_exchange, &question);
	votes->tells_no = true;
	dlock_ballot_hold(votes, DLOCK_FOREVER);
}

static dlock_nanos exchanged_until(const dlock_ballot *votes)
{
	int64_t until[DLOCK_MOST_SERVERS];
	int holders = 0;

	for (int i = 0; i < votes->count; i++) {
		if (votes->votes[i] == DLOCK_VOTE_YES) {
			dlock_nanos left = dlock_lease_left(votes->responses[i].pttl);
			until[holders++] = votes->calls[i]->sent_at + left - dlock_drift(left);
		}
	}
	return dlock_quorum_last(until, holders, votes->quorum);
}

/* Servers that are late, or out of reach, exchange it too as soon as they can. Unlike an acquire this goes on after a
 * release, which is sent after it over the same connection and so finds the token that it names. */
static void exchange_rest(quorum_claim *claim, const char *token, const dlock_ballot *votes)
{
	quorum_backend *backend = quorum_backend_of(claim);
	dlock_nanos until = claim->base.deadline;

	for (int i = 0; i < backend->count; i++) {
		dlock_call *call = votes->calls[i];
		if (call && call->state == DLOCK_CALL_PENDING) {
			claim->stragglers[i] = dlock_call_retain(call);
		} else if (call && call->state == DLOCK_CALL_FAILED) {
			dlock_conn_send_background(backend->members[i].conn,
				dlock_request_exchange(dlock_quorum_keys(claim), token, claim->base.token, claim->base.fencing_token),
				until);
		}
	}
	dlock_quorum_log_in_stragglers(claim);
	for (int i = 0; i < backend->count; i++) {
		if (claim->stragglers[i]) {
			dlock_call_to_background(claim->stragglers[i], until);
			dlock_call_release(claim->stragglers[i]);
			claim->stragglers[i] = NULL;
		}
	}
}

/* On each server where it was, or may yet be, exchanged. The exchange is not sent again, so that it is not executed
 * after this. */
static void exchange_back(quorum_claim *claim, const char *token, const dlock_ballot *votes)
{
	for (int i = 0; i < votes->count; i++) {
		if (votes->votes[i] != DLOCK_VOTE_NO && dlock_request_may_take_effect(votes->calls[i])) {
			dlock_call_cancel(votes->calls[i]);
			dlock_quorum_send_background(
				claim, i, dlock_request_exchange_back(dlock_quorum_keys(claim), token, claim->base.token));
		}
	}
}

/* `split`: some servers gave it to this claim, and others perhaps to another that takes it up in the same moment. */
static dlock_status exchange(quorum_claim *claim, const char *token, bool *split, dlock_error *error)
{
	dlock_claim *base = &claim->base;
	int quorum = quorum_backend_of(claim)->quorum;
	dlock_status status;
	dlock_ballot votes;

	dlock_nanos asked = dlock_now();
	ask_exchange(claim, token, &votes);
	*split = votes.yes > 0 && votes.yes < quorum && votes.no > 0;
	dlock_nanos deadline = votes.yes >= quorum ? exchanged_until(&votes) : 0;
	if (votes.yes < quorum) {
		status = dlock_ballot_outcome(&votes, error) == DLOCK_LOST ? dlock_claim_came_late(base, error) : DLOCK_QUORUM;
	} else if (dlock_quorum_confirm(claim, &votes, asked, deadline)) {
		base->deadline = deadline;
		dlock_claim_move(base, DLOCK_CLAIM_HELD);
		claim->holders = ALL_SERVERS; /* from before, any may have it */
		base->incomplete = dlock_ballot_voters(&votes, DLOCK_VOTE_NO)
			!= 0; /* one that did not have it before, either */
		base->unanswered = votes.pending > 0;
		exchange_rest(claim, token, &votes);
		status = DLOCK_OK;
	} else {
		status = dlock_fail(error, DLOCK_QUORUM, "Too few servers have noted the fencing token of the lock \"%s\"",
			dlock_claim_name(base).text);
	}
	if (status != DLOCK_OK) {
		exchange_back(claim, token, &votes);
	}
	dlock_ballot_end(&votes);
	return status;
}

/* Of several that take up one lease in the same moment each may get a minority. Then each tries again, after pauses
 * that differ. */
#define SPLIT_ATTEMPTS 5
#define SPLIT_PAUSE 8000 /* us, at most, after the first attempt; twice as much after each further one */
#define SPLIT_TIME (200 * DLOCK_MS)

dlock_status dlock_quorum_attach(dlock_claim *base, const char *token, dlock_error *error)
{
	quorum_claim *claim = (quorum_claim *) base;
	dlock_nanos until = dlock_now() + SPLIT_TIME;
	bool split;

	for (int attempts = 1;; attempts++) {
		dlock_status status = exchange(claim, token, &split, error);
		if (status == DLOCK_OK || !split || attempts == SPLIT_ATTEMPTS || dlock_now() >= until) {
			return status;
		}
		dlock_loop_pause(quorum_backend_of(claim)->loop,
			dlock_now() + DLOCK_MS + dlock_jitter(SPLIT_PAUSE << (attempts - 1)) * DLOCK_US, NULL);
		/* Should what rolls back be late, on a connection that was replaced meanwhile, it must not hit the next
		 * attempt. */
		if (dlock_claim_renew_token(base, error) != DLOCK_OK) {
			return DLOCK_FAILED;
		}
	}
}
