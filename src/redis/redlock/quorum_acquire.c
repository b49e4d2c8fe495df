#include "quorum_internal.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../lock/wait.h"

/* To acquire a lock on a majority of the servers. An attempt asks all for their votes, as in the Redlock algorithm
 * (https://redis.io/docs/latest/develop/use/patterns/distributed-locks/), and without a majority rolls back. Between
 * attempts a claim waits in the queues of all servers, at one position that its ticket gives it (Lamport's bakery:
 * docs/hand-over.md, tests/models/tickets.pml), until enough of them notify it. */

/* A task. */
typedef struct dlock_quorum_acquiring {
	quorum_claim *claim;
	const dlock_wait *wait;
	dlock_error *error;
	dlock_task task, attempting, voting;
	bool last, queue; /* of the attempt: it is the last one; and where it is refused, the claim queues */
	bool received, paused, listens;
	server_set open;  /* inboxes, at the beginning of a pause */
	unsigned long pushes; /* to all inboxes, when it looked for its own the last time */
	dlock_nanos asked, deadline, until;
	dlock_nanos over_since; /* it has seen then that it is out of time; 0: it is not */
	dlock_nanos longest;    /* the attempt ends then, whatever is still to come */
	dlock_opening opening;
	dlock_status said, voted; /* of all attempts; of one */
	dlock_ballot votes;
	/* Not zeroed. */
	dlock_voter voters[DLOCK_MOST_SERVERS];
	quorum_agreement agreement;
} acquiring;

/* ---- votes ---- */

/* Whether that counts or not. */
static bool gives(const dlock_voter *voter)
{
	return voter->vote == DLOCK_VOTE_YES || voter->vote == DLOCK_VOTE_VOID;
}

/* Two attempts that a quorum answered share a server: so the ticket comes after all that have queued before at one of
 * the servers that answered this attempt, which was made without queueing; see acquire.lua. 0: too few have
 * answered; or for several locks the tickets have become too large, since some clock was far ahead. */
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

/* A token that the others could not be raised to is no vote, wherever it comes from: the lock goes on without that
 * server. */
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

/* Refused, and there is time. Each server whose answer is not waited for now would be sent a release: as much again as
 * the attempt itself. And a claim that has yet to queue needs the tickets of a quorum, whereas fewer are enough to
 * fail. */
static bool is_rest_wanted(const acquiring *own)
{
	const dlock_ballot *votes = &own->votes;

	return !own->last && votes->yes < votes->quorum
		&& (own->queue ? votes->yes == 0 : dlock_ballot_turnout(votes) < votes->quorum);
}

/* For how long a claim waits for the tickets of a quorum that has not answered together before. */
#define LATE_TICKETS (500 * DLOCK_MS)

/* What it has been given it must give back soon. */
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

/* Asks all servers, and with `queue` queues where one refuses. */
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

	claim->listening = own->queue ? open_inboxes(backend) : 0; /* an answer may open another meanwhile */
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
			/* A holder is in no queue, even if it is rolled back. */
			claim->queued &= ~server;
			claim->placed &= ~server;
		} else if (claim->listening & server && call && (call->sent || call->state == DLOCK_CALL_PENDING)) {
			claim->queued |= server;
			if (voter->vote == DLOCK_VOTE_NO && claim->placed & server && voter->response.new_in_queue) {
				/* It had been removed: the server found no subscriber of the inbox, even if that is open here. Other
				 * waiters may have opened another connection since. */
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

/* One that refuses does not hold it; but of several locks a part may be left of what a request that was sent again has
 * had. */
static bool may_hold(const quorum_claim *claim, const dlock_voter *voter)
{
	bool has_nothing = voter->vote == DLOCK_VOTE_NO && !(claim->several && voter->call && voter->call->repeated);

	return !has_nothing && dlock_request_may_take_effect(voter->call);
}

/* And when the first of the servers that give the lock was asked: to connect may have taken a while before. */
static dlock_nanos note_holders(quorum_claim *claim, const dlock_ballot *votes)
{
	dlock_nanos first = DLOCK_FOREVER;

	for (int i = 0; i < votes->count; i++) {
		const dlock_voter *voter = &votes->voters[i];
		dlock_call *call = voter->call;
		if (may_hold(claim, voter)) {
			claim->holders |= UINT64_C(1) << i;
		}
		if (call && call->state == DLOCK_CALL_PENDING) {
			claim->stragglers[i] = dlock_call_retain(call);
		}
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

/* Notes whether a server refuses. A straggler's answer may have arrived by now. Where others want the lock, one that is
 * still to come may well be a refusal. */
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

/* A server without a vote that has the lock keeps it: so it keeps others out, and is released with the rest. */
static void accept_votes(acquiring *own)
{
	dlock_claim *base = &own->claim->base;

	base->deadline = own->deadline;
	dlock_claim_move(base, DLOCK_CLAIM_HELD);
	base->received = own->received;
	note_missing(own->claim, &own->votes);
}

/* A server with two votes would be a majority of three. */
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
	/* Should a release be late, on a connection that was replaced meanwhile, it must not hit the next attempt. */
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

/* DLOCK_OK: a majority has given it; DLOCK_QUORUM: not so. */
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

/* When enough of the refusing servers may be free for a quorum; where fewer than a quorum are eligible, all of them. */
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

/* Between two attempts of a claim that is in no queue, since too few servers have answered in time to tell it where to
 * queue. */
#define UNQUEUED_PAUSE (100 * DLOCK_MS)

static dlock_nanos jittered(dlock_nanos least, dlock_nanos more)
{
	return least + dlock_jitter((uint32_t) (more / DLOCK_US)) * DLOCK_US;
}

/* The same, or where attempts are counted the pause between two; earlier if a server becomes eligible, or if no
 * server will notify the claim. */
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

/* Once one server has notified the claim, the others that it takes follow within a round trip or never. */
#define NOTIFIED_TOGETHER (10 * DLOCK_MS)

/* Inboxes have many notices that no claim takes: they are only gone through after a new one. Returns how many servers
 * have notified the claim. */
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

	/* A server that could not be waited on before can be now: the next attempt queues there too. */
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

/* ---- all attempts ---- */

/* By the times of the slowest server. */
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

/* Is the outcome of this attempt the caller's? There is no other where it has taken all the time that there is beyond
 * the deadline. Where attempts are counted, one without a quorum fails like any other. */
static bool ends(const acquiring *own, dlock_nanos now)
{
	return own->last || now >= own->longest
		|| (own->said != DLOCK_TIMEOUT
			&& (own->said != DLOCK_QUORUM
				|| (!own->wait->attempts && !dlock_ballot_lacks_only_uptime(&own->votes))));
}

/* No pause after the first attempt: the next one queues at once, or finds out where to. */
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
				continue; /* that took the rest of its time */
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

/* In a pause it stays in the queues, and can be gone on with. What an attempt has begun is over. */
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
