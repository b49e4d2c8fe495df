#include "quorum_internal.h"

#include <stddef.h>
#include <string.h>

/* Attaches a lease by its token. A majority of the servers exchange that token for the claim's own, so that it works
 * once. Their votes decide, as in an acquisition. tests/models/attach.pml checks it. */

/* A task. */
typedef struct {
	quorum_claim *claim;
	const char *token;
	dlock_error *error;
	dlock_task task, exchanging;
	int attempts;
	/* some servers granted it to this claim, and other servers perhaps to a claim that attaches it at the same time */
	bool split;
	dlock_nanos asked, split_until, until;
	dlock_status said, exchanged;
	dlock_ballot votes;
	dlock_voter voters[DLOCK_MOST_SERVERS];
	quorum_agreement agreement;
} attaching;

/* If the exchange were sent again because its script is unknown, it could follow a release. So it goes as text. */
static dlock_call *request_exchange(const attaching *own, int64_t least_fencing_token)
{
	dlock_call *call = dlock_quorum_request_exchange(
		dlock_quorum_keys(own->claim), own->token, own->claim->base.token, least_fencing_token);

	if (call) {
		dlock_call_use_source(call);
	}
	return call;
}

/* The uptime rule applies as in an acquisition. A restarted server may have come back with the key of a lease that was
 * released since, and whose lock another client holds. */
static void ask_for_exchange(attaching *own, dlock_nanos now)
{
	int64_t least_fencing_token = dlock_quorum_propose(quorum_backend_of(own->claim));

	own->asked = now;
	dlock_quorum_begin_voting(own->claim, &own->votes, own->voters, dlock_read_exchange);
	own->votes.tells_no = true;
	for (int i = 0; i < own->votes.count; i++) {
		if (!dlock_quorum_leaves_out(&own->votes, i)) {
			dlock_quorum_ask(own->claim, &own->votes, i, request_exchange(own, least_fencing_token));
		}
	}
}

static dlock_nanos exchanged_until(const dlock_ballot *votes)
{
	int64_t until[DLOCK_MOST_SERVERS];
	int holders = 0;

	for (int i = 0; i < votes->count; i++) {
		const dlock_voter *voter = &votes->voters[i];
		if (voter->vote == DLOCK_VOTE_YES) {
			dlock_nanos left = dlock_lease_left(voter->response.pttl);
			until[holders++] = voter->call->sent_at + left - dlock_drift(left);
		}
	}
	return dlock_quorum_last(until, holders, votes->quorum);
}

/* DLOCK_OK: a majority has exchanged the token. */
static dlock_status begin_agreement(attaching *own)
{
	const dlock_ballot *votes = &own->votes;

	own->split = votes->yes > 0 && votes->yes < votes->quorum && votes->no > 0;
	if (votes->yes < votes->quorum) {
		return dlock_ballot_outcome(votes, own->error) == DLOCK_LOST
			? dlock_claim_came_late(&own->claim->base, own->error) : DLOCK_QUORUM;
	}
	return dlock_quorum_begin_agreement(&own->agreement, own->claim, votes, own->asked, exchanged_until(votes));
}

static void accept_exchange(attaching *own)
{
	quorum_claim *claim = own->claim;
	dlock_claim *base = &claim->base;

	base->deadline = own->agreement.until;
	dlock_claim_move(base, DLOCK_CLAIM_HELD);
	claim->holders = ALL_SERVERS; /* any server may have it from before */
	/* A server that had no key before makes it incomplete, too. */
	base->incomplete = dlock_ballot_voters(&own->votes, DLOCK_VOTE_NO) != 0;
	base->unanswered = own->votes.pending > 0;
}

/* Servers that are late or out of reach exchange the token as soon as they can. Unlike an acquisition, this goes on
 * after a release. The release follows over the same connection, and so finds the token that it names. */
static void exchange_rest(attaching *own)
{
	quorum_claim *claim = own->claim;

	for (int i = 0; i < own->votes.count; i++) {
		const dlock_voter *voter = &own->votes.voters[i];
		if (voter->call && voter->call->state == DLOCK_CALL_PENDING) {
			claim->stragglers[i] = dlock_call_retain(voter->call);
		} else if (voter->call && voter->call->state == DLOCK_CALL_FAILED) {
			dlock_conn_send_background(voter->conn,
				dlock_quorum_request_exchange(
					dlock_quorum_keys(claim), own->token, claim->base.token, claim->base.fencing_token),
				claim->base.deadline);
		}
	}
}

static void leave_stragglers(quorum_claim *claim)
{
	for (int i = 0; i < quorum_backend_of(claim)->count; i++) {
		if (claim->stragglers[i]) {
			dlock_call_to_background(claim->stragglers[i], claim->base.deadline);
			dlock_call_release(claim->stragglers[i]);
			claim->stragglers[i] = NULL;
		}
	}
}

/* Reverses the exchange on each server that has executed it, or may yet do so. The exchange is not sent again, so that
 * no server executes it after this. */
static void exchange_back(attaching *own, dlock_nanos now)
{
	for (int i = 0; i < own->votes.count; i++) {
		const dlock_voter *voter = &own->votes.voters[i];
		if (voter->vote != DLOCK_VOTE_NO && dlock_request_may_take_effect(voter->call)) {
			dlock_call_cancel(voter->call);
			dlock_quorum_send_background(own->claim, i,
				dlock_quorum_request_exchange(
					dlock_quorum_keys(own->claim), own->claim->base.token, own->token, DLOCK_NO_NUMBER),
				now);
		}
	}
}

static dlock_status exchange(attaching *own, dlock_loop *loop, dlock_nanos now)
{
	DLOCK_BEGIN(&own->exchanging);
	ask_for_exchange(own, now);
	DLOCK_AWAIT(&own->exchanging, dlock_ballot_count(&own->votes));
	own->exchanged = begin_agreement(own);
	if (own->exchanged == DLOCK_OK) {
		DLOCK_JOIN(&own->exchanging, own->exchanged, dlock_quorum_agree(&own->agreement, loop, now));
		if (own->exchanged == DLOCK_OK) {
			accept_exchange(own);
			exchange_rest(own);
			own->until = now + DLOCK_LOGIN_TIME;
			DLOCK_AWAIT(&own->exchanging,
				dlock_quorum_has_logged_in(own->claim, now) || dlock_loop_is_time(loop, own->until, now));
			leave_stragglers(own->claim);
		} else {
			dlock_fail(own->error, DLOCK_QUORUM, "Too few servers have noted the fencing token of the lock \"%s\"",
				dlock_claim_name(&own->claim->base).text);
		}
	}
	if (own->exchanged != DLOCK_OK) {
		exchange_back(own, now);
	}
	dlock_ballot_end(&own->votes);
	DLOCK_END(&own->exchanging);
	return own->exchanged;
}

/* If several claims attach one lease at the same time, each may reach a minority only. Then each tries again, after
 * pauses that differ. */
#define SPLIT_ATTEMPTS 5
#define SPLIT_PAUSE 8000 /* µs, at most, after the first attempt; doubled after each further one */
#define SPLIT_TIME (200 * DLOCK_MS)

static dlock_status attach_step(void *task, dlock_loop *loop, dlock_nanos now)
{
	attaching *own = task;

	DLOCK_BEGIN(&own->task);
	own->split_until = now + SPLIT_TIME;
	for (own->attempts = 1;; own->attempts++) {
		DLOCK_JOIN(&own->task, own->said, exchange(own, loop, now));
		if (own->said == DLOCK_OK || !own->split || own->attempts == SPLIT_ATTEMPTS || now >= own->split_until) {
			break;
		}
		own->until = now + DLOCK_MS + dlock_jitter(SPLIT_PAUSE << (own->attempts - 1)) * DLOCK_US;
		DLOCK_AWAIT(&own->task, dlock_loop_is_time(loop, own->until, now));
		/* If the rollback is late, on a connection that was replaced meanwhile, it must not hit the next attempt. */
		if (dlock_claim_renew_token(&own->claim->base, own->error) != DLOCK_OK) {
			own->said = DLOCK_FAILED;
			break;
		}
	}
	DLOCK_END(&own->task);
	return own->said;
}

dlock_status dlock_quorum_attach(dlock_claim *base, const char *token, dlock_error *error)
{
	attaching own;

	if (!dlock_quorum_prepare((quorum_claim *) base)) {
		return dlock_out_of_memory(error);
	}
	memset(&own, 0, offsetof(attaching, voters));
	own.claim = (quorum_claim *) base;
	own.token = token;
	own.error = error;
	own.agreement.task.at = 0;
	return dlock_loop_run(quorum_backend_of(own.claim)->loop, attach_step, &own, DLOCK_FOREVER, NULL);
}
