#include "quorum_internal.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../lock/wait.h"

/* Acquires a lock on a majority of the servers. An attempt asks all servers for their votes, as in the Redlock
 * algorithm (https://redis.io/docs/latest/develop/use/patterns/distributed-locks/), and rolls back without a majority.
 * Between attempts, a claim waits in the queues of all servers until enough of them notify it. Its ticket gives it one
 * position in all queues (Lamport's bakery: docs/hand-over.md, tests/models/tickets.pml). */

/* A task. */
typedef struct dlock_quorum_acquiring {
	quorum_claim *claim;
	const dlock_wait *wait;
	dlock_error *error;
	dlock_task task, attempting, voting;
	bool last, queue; /* of the attempt: it is the last one; the claim queues at servers that refuse it */
	bool received, paused, listens;
	server_set open;  /* the inboxes that were open when a pause began */
	unsigned long pushes; /* messages to all inboxes when the claim last looked for its own */
	dlock_nanos asked, deadline, until;
	dlock_nanos over_since; /* when the claim has noticed that its time is up; 0: not yet */
	dlock_nanos longest;    /* when the attempt ends, whatever is still to come */
	dlock_opening opening;
	dlock_status said, voted; /* the outcome of all attempts; of one */
	dlock_ballot votes;
	/* The members from here on are not zeroed. */
	dlock_voter voters[DLOCK_MOST_SERVERS];
	quorum_agreement agreement;
} acquiring;

/* ---- votes ---- */

/* Has the server granted the lock, whether its vote counts or not? */
static bool gives(const dlock_voter *voter)
{
	return voter->vote == DLOCK_VOTE_YES || voter->vote == DLOCK_VOTE_VOID;
}

/* Returns the ticket for the queues. Two attempts that a quorum has answered share a server. So the ticket is larger
 * than that of each claim that had queued before at a server that answered this attempt. This attempt did not queue;
 * see acquire.lua. 0: too few servers have answered, or tickets for several locks have become too large because a clock
 * was far ahead. */
static int64_t next_ticket(const quorum_claim *claim, const dlock_ballot *votes)
{
	const quorum_backend *backend = quorum_backend_of(claim);
	int64_t largest = 0, limit = claim->base.count > 1 ? DLOCK_ASLEEP : DLOCK_EXACT;
	int answered = 0;

	for (int i = 0; i < backend->count; i++) {
		const dlock_voter *voter = &votes->voters[i];
		int64_t next = gives(voter)            ? voter->response.fencing_token + 1
			: voter->vote == DLOCK_VOTE_NO ? voter->response.ticket
										   : 0;
		if (next > 0 && next < limit) {
			largest = next > largest ? next : largest;
			answered++;
		}
	}
	return answered >= backend->quorum ? largest : 0;
}

/* If the other servers could not be raised to a token, it is no vote, wherever it comes from. The claim goes on without
 * that server. */
static dlock_status read_vote(
	const dlock_call *call, const dlock_conn *conn, dlock_response *response, dlock_error *error)
{
	dlock_status status = dlock_read_acquire(call, conn, response, error);

	if (status == DLOCK_OK && response->fencing_token >= DLOCK_MOST_RAISED) {
		return dlock_fail(error, DLOCK_CONNECTION,
			"Redis at %s: its fencing tokens cannot rise any more; over several servers the key " DLOCK_FENCE_KEY
			" must be a number from 1 to 7881299347898366, and normally is a time in us",
			conn->server->label);
	}
	return status;
}

/* The attempt was refused, and there is time. If the claim does not wait for a server's answer now, it has to send a
 * release there: as much again as the attempt itself. A claim that has yet to queue also needs the tickets of a quorum,
 * while fewer answers are enough to fail. */
static bool is_rest_wanted(const acquiring *own)
{
	const dlock_ballot *votes = &own->votes;

	return !own->last && votes->yes < votes->quorum
		&& (own->queue ? votes->yes == 0 : dlock_ballot_turnout(votes) < votes->quorum);
}

/* How long a claim waits for the tickets of a quorum that has not answered together before. */
#define LATE_TICKETS (500 * DLOCK_MS)

/* If a server has granted the lock, the claim must release it soon, and waits for no ticket. */
static bool are_tickets_wanted(const acquiring *own)
{
	return !own->queue && own->claim->attempts > 0 && own->votes.yes == 0;
}

static server_set open_inboxes(const quorum_backend *backend)
{
	server_set open = 0;

	for (int i = 0; i < backend->count; i++) {
		open |= (server_set) dlock_inbox_is_open(backend->inboxes[i]) << i;
	}
	return open;
}

/* Asks all servers. With `queue`, the claim queues at each server that refuses it. */
static void ask_for_votes(acquiring *own, dlock_nanos now)
{
	quorum_claim *claim = own->claim;
	quorum_backend *backend = quorum_backend_of(claim);
	dlock_attempt attempt = { .token = claim->base.token,
		.ttl = claim->base.ttl,
		.least_fencing_token = dlock_quorum_propose(backend),
		.waiter = claim->waiter,
		.ticket = claim->ticket,
		.description = dlock_description_text(claim->base.description) };

	claim->listening = own->queue ? open_inboxes(backend) : 0; /* an answer may open another inbox meanwhile */
	own->until = dlock_earlier(own->longest, now + claim->base.ttl - dlock_drift(claim->base.ttl));
	dlock_quorum_begin_voting(claim, &own->votes, own->voters, read_vote);
	for (int i = 0; i < backend->count; i++) {
		dlock_inbox *inbox = backend->inboxes[i];
		if (dlock_quorum_leaves_out(&own->votes, i)) {
			continue;
		}
		attempt.inbox = has_server(claim->listening, i) ? inbox : NULL;
		attempt.unnotified = attempt.inbox && !dlock_inbox_can_notify(inbox);
		if (attempt.inbox) {
			dlock_inbox_try_publishing(inbox, own->voters[i].conn);
		}
		dlock_quorum_ask(claim, &own->votes, i, dlock_quorum_request_acquire(dlock_quorum_keys(claim), &attempt));
	}
}

/* Notes in which queues the claim is after this attempt. */
static void note_queues(quorum_claim *claim, const dlock_ballot *votes)
{
	for (int i = 0; i < votes->count; i++) {
		dlock_inbox *inbox = quorum_backend_of(claim)->inboxes[i];
		const dlock_voter *voter = &votes->voters[i];
		const dlock_call *call = voter->call;
		server_set server = UINT64_C(1) << i;
		dlock_inbox_update(inbox);
		if (gives(voter)) {
			/* A holder is in no queue, even if the attempt is rolled back. */
			claim->queued &= ~server;
			claim->placed &= ~server;
		} else if (claim->listening & server && call && (call->sent || call->state == DLOCK_CALL_PENDING)) {
			claim->queued |= server;
			if (voter->vote == DLOCK_VOTE_NO && claim->placed & server && voter->response.new_in_queue) {
				/* The server has removed the claim from its queue: it found no subscriber of the inbox, even if that is
				 * open here. If other waiters have opened another connection since, the inbox keeps that one. */
				if (claim->placed_over[i] == inbox->conn->generation) {
					dlock_inbox_discard(inbox);
				}
				claim->placed &= ~server;
			} else if (voter->vote == DLOCK_VOTE_NO) {
				claim->placed |= server;
				claim->placed_over[i] = inbox->conn->generation;
			}
		}
	}
}

/* A server that refuses the claim does not hold the lock for it. But if a request for several locks was sent again, a
 * part of what it had acquired may be left. */
static bool may_hold(const quorum_claim *claim, const dlock_voter *voter)
{
	bool has_nothing = voter->vote == DLOCK_VOTE_NO && !(claim->several && voter->call && voter->call->repeated);

	return !has_nothing && dlock_request_may_take_effect(voter->call);
}

/* Notes which servers may have the lock. Returns when the first server that granted it was asked, because connecting
 * may have taken a while before. */
static dlock_nanos note_holders(quorum_claim *claim, const dlock_ballot *votes)
{
	dlock_nanos first = DLOCK_FOREVER;

	for (int i = 0; i < votes->count; i++) {
		const dlock_voter *voter = &votes->voters[i];
		dlock_call *call = voter->call;
		if (may_hold(claim, voter)) {
			claim->holders |= UINT64_C(1) << i;
		}
		dlock_quorum_keep_straggler(claim, i, call, claim->base.ttl);
		first = gives(voter) && call->first_sent_at < first ? call->first_sent_at : first;
	}
	return first;
}

static void take_votes(acquiring *own)
{
	quorum_claim *claim = own->claim;

	note_queues(claim, &own->votes);
	own->asked = note_holders(claim, &own->votes);
	own->deadline = dlock_after(own->asked, claim->base.ttl - dlock_drift(claim->base.ttl));
	claim->needed = dlock_ballot_needed(&own->votes);
	dlock_ballot_end(&own->votes);
}

static dlock_status collect_votes(acquiring *own, dlock_loop *loop, dlock_nanos now)
{
	DLOCK_BEGIN(&own->voting);
	ask_for_votes(own, now);
	DLOCK_AWAIT(&own->voting, dlock_ballot_ends(&own->votes, own->until, loop, now));
	if (is_rest_wanted(own)) {
		own->until = now + DLOCK_REST_OF_VOTES;
		DLOCK_AWAIT(&own->voting, dlock_ballot_drains(&own->votes, own->votes.count, own->until, loop, now));
		if (are_tickets_wanted(own)) {
			own->until += LATE_TICKETS - DLOCK_REST_OF_VOTES;
			own->until = dlock_earlier(own->until, own->wait->deadline);
			DLOCK_AWAIT(&own->voting, dlock_ballot_drains(&own->votes, own->votes.quorum, own->until, loop, now));
		}
	}
	take_votes(own);
	DLOCK_END(&own->voting);
	return DLOCK_OK;
}

/* ---- one attempt ---- */

/* Notes whether a server has refused the lock. The answer of a straggler may have arrived by now. If other clients want
 * the lock, an answer that is still to come may be a refusal. */
static void note_missing(quorum_claim *claim, const dlock_ballot *votes)
{
	quorum_backend *backend = quorum_backend_of(claim);
	dlock_claim *base = &claim->base;
	dlock_response response;
	dlock_error error;

	base->incomplete = dlock_ballot_voters(votes, DLOCK_VOTE_NO) != 0;
	base->unanswered = false;
	for (int i = 0; i < backend->count; i++) {
		dlock_call *call = claim->stragglers[i];
		if (call) {
			dlock_conn_peek(backend->members[i].conn);
			base->unanswered |= call->state == DLOCK_CALL_PENDING;
			base->incomplete |= call->state == DLOCK_CALL_ANSWERED
				&& dlock_read_acquire(call, backend->members[i].conn, &response, &error) == DLOCK_LOST;
		}
	}
	base->incomplete |= base->unanswered && base->waited;
}

/* If a server without a vote has the lock, it keeps the lock. So it refuses other clients, and is asked to release it
 * with the other servers. */
static void accept_votes(acquiring *own)
{
	dlock_claim *base = &own->claim->base;

	base->deadline = own->deadline;
	dlock_claim_move(base, DLOCK_CLAIM_HELD);
	base->received = own->received;
	note_missing(own->claim, &own->votes);
}

/* One server with two votes would be a majority of three. */
static dlock_status check_independence(const quorum_backend *backend, dlock_error *error)
{
	for (int i = 0; i < backend->count; i++) {
		for (int k = 0; k < i; k++) {
			const dlock_conn *one = backend->members[k].conn, *other = backend->members[i].conn;
			const char *id = one->handshake.uptime.run_id;
			if (*id && !strcmp(id, other->handshake.uptime.run_id)) {
				return dlock_fail(error, DLOCK_FAILED,
					"Redis at %s and at %s is one server with two names, and would have two votes; RedLock needs each "
					"server once",
					one->server->label, other->server->label);
			}
		}
	}
	return DLOCK_OK;
}

/* DLOCK_TIMEOUT: a quorum has answered, but not with yes. */
static dlock_status take_refusal(acquiring *own, dlock_nanos now)
{
	quorum_claim *claim = own->claim;
	const dlock_ballot *votes = &own->votes;

	dlock_quorum_roll_back(claim, now);
	claim->next_ticket = own->queue ? 0 : next_ticket(claim, votes);
	if (claim->ticket) {
		dlock_claim_move(&claim->base, DLOCK_CLAIM_WAITING);
	}
	/* If a release is late, on a connection that was replaced meanwhile, it must not hit the next attempt. */
	if (dlock_claim_renew_token(&claim->base, own->error) != DLOCK_OK) {
		return DLOCK_FAILED;
	}
	return votes->yes + votes->no + votes->pending >= votes->quorum || dlock_ballot_is_refused_new_set(votes)
		? DLOCK_TIMEOUT
		: dlock_ballot_no_quorum(votes, own->error);
}

static dlock_status begin_attempt(acquiring *own)
{
	quorum_claim *claim = own->claim;

	own->received = claim->notified != 0;
	if (dlock_quorum_check_clock(own->error) != DLOCK_OK) {
		return DLOCK_FAILED;
	}
	if (own->queue && claim->ticket == 0) {
		sprintf(claim->waiter, "%s%s", claim->several ? "*" : "", claim->base.token);
		claim->ticket = claim->next_ticket;
	}
	claim->notified = 0;
	return DLOCK_OK;
}

/* DLOCK_OK: a majority has granted the lock. DLOCK_QUORUM: it has not. DLOCK_FAILED: two servers are one. */
static dlock_status begin_agreement(acquiring *own, dlock_nanos now)
{
	if (check_independence(quorum_backend_of(own->claim), own->error) != DLOCK_OK) {
		dlock_quorum_roll_back(own->claim, now);
		return DLOCK_FAILED;
	}
	return dlock_quorum_begin_agreement(
		&own->agreement, own->claim, &own->votes, own->asked, dlock_earlier(own->deadline, own->longest));
}

static dlock_status attempt(acquiring *own, dlock_loop *loop, dlock_nanos now)
{
	DLOCK_BEGIN(&own->attempting);
	own->voted = begin_attempt(own);
	if (own->voted == DLOCK_OK) {
		DLOCK_JOIN(&own->attempting, own->voted, collect_votes(own, loop, now));
		own->voted = begin_agreement(own, now);
	}
	if (own->voted == DLOCK_OK) {
		DLOCK_JOIN(&own->attempting, own->voted, dlock_quorum_agree(&own->agreement, loop, now));
	}
	if (own->voted == DLOCK_OK && now < own->deadline) {
		dlock_quorum_leave(own->claim, dlock_ballot_voters(&own->votes, DLOCK_VOTE_YES), now);
		own->until = now + DLOCK_LOGIN_TIME;
		DLOCK_AWAIT(&own->attempting,
			dlock_quorum_has_logged_in(own->claim, now) || dlock_loop_is_time(loop, own->until, now));
		accept_votes(own);
	} else if (own->voted != DLOCK_FAILED) {
		own->voted = take_refusal(own, now);
	}
	DLOCK_END(&own->attempting);
	return own->voted;
}

/* ---- waiting ---- */

static int by_pttl(const void *a, const void *b)
{
	int64_t x = ((const dlock_response *) a)->pttl, y = ((const dlock_response *) b)->pttl;

	return (x > y) - (x < y);
}

/* Can a quorum notify the claim of its turn? */
static bool can_be_notified(const quorum_backend *backend)
{
	int able = 0;

	for (int i = 0; i < backend->count; i++) {
		able += dlock_inbox_can_notify(backend->inboxes[i]);
	}
	return able >= backend->quorum;
}

/* When the lock may be free on enough of the refusing servers for a quorum. If fewer than a quorum are eligible, it
 * must be free on all of them. */
static dlock_nanos next_look(const acquiring *own, dlock_nanos now)
{
	const dlock_ballot *votes = &own->votes;
	dlock_response refusals[DLOCK_MOST_SERVERS], unknown = { .pttl = -1 };
	int count = 0, needed = dlock_ballot_needed(votes),
		missing = needed > votes->quorum ? votes->no : votes->quorum - votes->yes;
	dlock_nanos ttl = own->claim->base.ttl;

	for (int i = 0; i < votes->count; i++) {
		if (votes->voters[i].vote == DLOCK_VOTE_NO) {
			refusals[count++] = votes->voters[i].response;
		}
	}
	qsort(refusals, (size_t) count, sizeof *refusals, by_pttl);
	const dlock_response *last = missing < 1 || missing > count ? &unknown : &refusals[missing - 1];
	return can_be_notified(quorum_backend_of(own->claim)) ? dlock_next_look(last, ttl, now)
														  : dlock_next_look_unnotified(last, ttl, now);
}

/* The pause between two attempts of a claim in no queue: too few servers have answered in time for it to know its
 * ticket. */
#define UNQUEUED_PAUSE (100 * DLOCK_MS)

static dlock_nanos jittered(dlock_nanos least, dlock_nanos more)
{
	return least + dlock_jitter((uint32_t) (more / DLOCK_US)) * DLOCK_US;
}

/* When the next attempt begins. If attempts are counted, that is after a pause. Otherwise it is at the next look, or
 * earlier if a server becomes eligible, or if no server will notify the claim. */
static dlock_nanos next_attempt(const acquiring *own, dlock_nanos now)
{
	const dlock_wait *wait = own->wait;
	const quorum_claim *claim = own->claim;

	if (wait->attempts) {
		return now + jittered(wait->pause / 2, wait->pause / 2);
	}
	dlock_nanos look = next_look(own, now), eligible_at = dlock_ballot_next_eligible_at(&own->votes);
	if (!claim->ticket && !claim->next_ticket) {
		dlock_nanos soon = now + jittered(UNQUEUED_PAUSE, UNQUEUED_PAUSE);
		look = dlock_earlier(soon, look);
	}
	return dlock_earlier(eligible_at, look);
}

/* If one server has notified the claim, the other servers that it needs follow within a round trip or never. */
#define NOTIFIED_TOGETHER (10 * DLOCK_MS)

/* Returns how many servers have notified the claim. Inboxes contain many notices that no claim reads, so the claim
 * searches them only after a new one. */
static int take_notices(acquiring *own)
{
	quorum_claim *claim = own->claim;
	quorum_backend *backend = quorum_backend_of(claim);
	unsigned long pushes = 0;
	dlock_grant grant;
	int notified = 0;

	for (int i = 0; i < backend->count; i++) {
		dlock_inbox_update(backend->inboxes[i]);
		pushes += backend->inboxes[i]->pushes;
	}
	for (int i = 0; i < backend->count; i++) {
		bool is_new = pushes != own->pushes && dlock_inbox_take(backend->inboxes[i], claim->waiter, &grant);
		claim->notified |= (server_set) is_new << i;
		notified += has_server(claim->notified, i);
	}
	own->pushes = pushes;
	return notified;
}

/* Have enough servers notified the claim, or is it time to look? */
static bool is_its_turn(acquiring *own, dlock_loop *loop, dlock_nanos now)
{
	quorum_claim *claim = own->claim;
	quorum_backend *backend = quorum_backend_of(claim);
	bool first = claim->notified == 0;
	int notified = take_notices(own);

	/* An inbox was opened since: the next attempt also queues at its server. */
	if (notified >= claim->needed || (open_inboxes(backend) != own->open && own->wait->attempts == 0)) {
		return true;
	}
	if (first && notified > 0 && dlock_after(now, NOTIFIED_TOGETHER) < own->until) {
		own->until = dlock_after(now, NOTIFIED_TOGETHER);
	}
	dlock_loop_lend(loop);
	return dlock_loop_is_time(loop, own->until, now);
}

static void set_listening(acquiring *own, bool listens)
{
	quorum_backend *backend = quorum_backend_of(own->claim);

	for (int i = 0; own->listens != listens && i < backend->count; i++) {
		backend->inboxes[i]->listeners += listens ? 1 : -1;
	}
	own->listens = listens;
}

/* ---- the whole acquisition ---- */

/* The timeouts are those of the slowest server. */
static dlock_nanos longest_attempt(const acquiring *own)
{
	const quorum_backend *backend = quorum_backend_of(own->claim);
	dlock_nanos connecting = 0, answer = 0;

	for (int i = 0; i < backend->count; i++) {
		const dlock_endpoint *server = backend->members[i].conn->server;
		connecting = server->connect_timeout > connecting ? server->connect_timeout : connecting;
		answer = server->read_timeout > answer ? server->read_timeout : answer;
	}
	return dlock_longest_attempt(
		own->wait->deadline, own->over_since, own->claim->base.waited, connecting, answer);
}

static void plan_attempt(acquiring *own, dlock_nanos now)
{
	quorum_claim *claim = own->claim;
	quorum_backend *backend = quorum_backend_of(claim);
	const dlock_wait *wait = own->wait;
	bool is_over = wait->deadline != DLOCK_FOREVER && now >= wait->deadline;

	own->over_since = is_over && !own->over_since ? now : own->over_since;
	own->longest = longest_attempt(own);
	own->last = is_over || (wait->attempts && claim->attempts + 1 >= wait->attempts);
	own->queue = !own->last && (claim->ticket || claim->next_ticket);
	own->opening = (dlock_opening) {
		.inboxes = backend->inboxes, .count = backend->count, .enough = backend->quorum, .deadline = wait->deadline
	};
}

/* Does the outcome of this attempt end the acquisition? It does if the attempt has used all the time beyond the
 * deadline. If attempts are counted, another one follows an attempt without a quorum. */
static bool ends(const acquiring *own, dlock_nanos now)
{
	return own->last || now >= own->longest
		|| (own->said != DLOCK_TIMEOUT
			&& (own->said != DLOCK_QUORUM
				|| (!own->wait->attempts && !dlock_ballot_lacks_only_uptime(&own->votes))));
}

/* No pause follows the first attempt: the next one queues at once, or asks where to queue. */
static void plan_pause(acquiring *own, dlock_nanos now)
{
	quorum_claim *claim = own->claim;

	own->until = next_attempt(own, now);
	own->until = dlock_earlier(own->until, own->wait->deadline);
	own->open = claim->ticket ? claim->listening : open_inboxes(quorum_backend_of(claim));
	own->paused = claim->base.waited && !claim->next_ticket;
	claim->base.waited = true;
}

static dlock_status acquire_step(void *task, dlock_loop *loop, dlock_nanos now)
{
	acquiring *own = task;

	DLOCK_BEGIN(&own->task);
	own->claim->next_ticket = 0;
	for (;;) {
		plan_attempt(own, now);
		if (own->queue) {
			DLOCK_JOIN(&own->task, own->said, dlock_opening_step(&own->opening, loop, now));
			if (now >= own->wait->deadline) {
				continue; /* opening the inboxes has used up its time */
			}
		}
		DLOCK_JOIN(&own->task, own->said, attempt(own, loop, now));
		own->claim->attempts++;
		if (own->said == DLOCK_OK) {
			break;
		}
		if (ends(own, now)) {
			dlock_quorum_leave(own->claim, 0, now);
			break;
		}
		plan_pause(own, now);
		if (own->paused) {
			set_listening(own, true);
			DLOCK_AWAIT(&own->task, is_its_turn(own, loop, now));
			set_listening(own, false);
		}
	}
	DLOCK_END(&own->task);
	return own->said;
}

/* In a pause, the claim stays in the queues, and the caller may resume it. What an attempt has begun ends. */
static void drop(acquiring *own, dlock_nanos now)
{
	set_listening(own, false);
	if (own->attempting.at == 0) {
		return;
	}
	if (own->voting.at != 0) {
		take_votes(own);
	}
	if (own->agreement.task.at != 0) {
		dlock_ballot_end(&own->agreement.raise);
	}
	take_refusal(own, now);
}

void dlock_quorum_drop(quorum_claim *claim, dlock_nanos now)
{
	if (claim->acquiring && dlock_claim_is_mine(&claim->base)) {
		drop(claim->acquiring, now);
	}
	claim->acquiring = NULL;
}

dlock_status dlock_quorum_acquire(dlock_claim *base, const dlock_wait *wait, dlock_error *error)
{
	quorum_claim *claim = (quorum_claim *) base;
	acquiring own;

	if (!dlock_quorum_prepare(claim)) {
		return dlock_out_of_memory(error);
	}
	memset(&own, 0, offsetof(acquiring, voters));
	own.claim = claim;
	own.wait = wait;
	own.error = error;
	own.agreement.task.at = 0;
	claim->acquiring = &own;
	dlock_status status = dlock_loop_run(
		quorum_backend_of(claim)->loop, acquire_step, &own, DLOCK_FOREVER, wait);
	if (status == DLOCK_INTERRUPTED) {
		dlock_quorum_drop(claim, dlock_now());
	}
	claim->acquiring = NULL;
	return status;
}
