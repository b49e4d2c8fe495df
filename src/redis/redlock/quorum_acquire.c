#include "quorum_internal.h"

#include <stdlib.h>
#include <string.h>

#include "../lock/wait.h"

/* To acquire a lock on a majority of the servers. An attempt asks all for their votes, as in the Redlock algorithm
 * (https://redis.io/docs/latest/develop/use/patterns/distributed-locks/), and without a majority rolls back. Between
 * attempts a claim waits in the queues of all servers, at one position that its ticket gives it (Lamport's bakery:
 * docs/hand-over.md, tests/models/tickets.pml), until enough of them notify it. */

/* ---- votes ---- */

/* Two attempts that a quorum answered share a server: so the ticket comes after all that have queued before at one of
 * the servers that answered this attempt, which was made without queueing; see lua/acquire.lua. 0: too few have
 * answered. */
static int64_t next_ticket(const quorum_backend *backend, const dlock_ballot *votes)
{
	int64_t largest = 0;
	int answered = 0;

	for (int i = 0; i < backend->count; i++) {
		bool given = votes->votes[i] == DLOCK_VOTE_YES || votes->votes[i] == DLOCK_VOTE_VOID;
		const dlock_response *response = &votes->responses[i];
		int64_t next = given ? response->fencing_token + 1 : votes->votes[i] == DLOCK_VOTE_NO ? response->ticket : 0;
		if (next > 0 && next < DLOCK_EXACT) {
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

/* For how long a claim waits for the tickets of a quorum that has not answered together before. */
#define LATE_TICKETS (500 * DLOCK_MS)

/* Refused, and there is time. Each server whose answer is not waited for now would be sent a release: as much again as
 * the attempt itself. And a claim that has yet to queue needs the tickets of a quorum, whereas fewer are enough to
 * fail. */
static void drain_votes(const quorum_claim *claim, dlock_ballot *votes, bool queue, const dlock_wait *wait)
{
	dlock_nanos now = dlock_now(), most = now + LATE_TICKETS;

	if (votes->yes >= votes->quorum || (queue ? votes->yes > 0 : dlock_ballot_turnout(votes) >= votes->quorum)) {
		return;
	}
	dlock_ballot_drain(votes, votes->count, now + DLOCK_REST_OF_VOTES);
	if (!queue && claim->attempts > 0 && votes->yes == 0) { /* what it has been given it must give back soon */
		dlock_ballot_drain(votes, votes->quorum, most < wait->deadline ? most : wait->deadline);
	}
}

static server_set open_inboxes(const quorum_backend *backend)
{
	server_set open = 0;

	for (int i = 0; i < backend->count; i++) {
		open |= (server_set) dlock_inbox_is_open(backend->inboxes[i]) << i;
	}
	return open;
}

typedef struct {
	dlock_attempt attempt;
	server_set listening; /* whose inboxes are open: an answer may open another while the votes are collected */
} question;

static dlock_call *request_lock(const quorum_claim *claim, int server, const void *context)
{
	const question *question = context;
	dlock_inbox *inbox = quorum_backend_of(claim)->inboxes[server];
	dlock_attempt attempt = question->attempt;

	attempt.description = dlock_description_text(claim->base.description);
	attempt.inbox = has_server(question->listening, server) ? inbox : NULL;
	attempt.unnotified = attempt.inbox && !dlock_inbox_can_notify(inbox);
	if (attempt.inbox) {
		dlock_inbox_try_publishing(inbox, quorum_backend_of(claim)->members[server].conn);
	}
	return dlock_request_acquire(dlock_quorum_keys(claim), &attempt);
}

/* Notes in which queues the claim is after this attempt. */
static void note_queues(quorum_claim *claim, const dlock_ballot *votes)
{
	for (int i = 0; i < votes->count; i++) {
		dlock_inbox *inbox = quorum_backend_of(claim)->inboxes[i];
		const dlock_call *call = votes->calls[i];
		server_set server = UINT64_C(1) << i;
		dlock_inbox_update(inbox);
		if (votes->votes[i] == DLOCK_VOTE_YES || votes->votes[i] == DLOCK_VOTE_VOID) {
			/* A holder is in no queue, even if it is rolled back. */
			claim->queued &= ~server;
			claim->placed &= ~server;
		} else if (claim->listening & server && call && (call->sent || call->state == DLOCK_CALL_PENDING)) {
			claim->queued |= server;
			if (votes->votes[i] == DLOCK_VOTE_NO && claim->placed & server && votes->responses[i].new_in_queue) {
				/* It had been removed: the server found no subscriber of the inbox, even if that is open here. */
				dlock_inbox_discard(inbox);
				claim->placed &= ~server;
			} else if (votes->votes[i] == DLOCK_VOTE_NO) {
				claim->placed |= server;
			}
		}
	}
}

static void note_holders(quorum_claim *claim, const dlock_ballot *votes)
{
	for (int i = 0; i < votes->count; i++) {
		dlock_call *call = votes->calls[i];
		if (votes->votes[i] != DLOCK_VOTE_NO && dlock_request_may_take_effect(call)) {
			claim->holders |= UINT64_C(1) << i;
		}
		if (call && call->state == DLOCK_CALL_PENDING) {
			claim->stragglers[i] = dlock_call_retain(call);
		}
	}
}

/* When the first of the servers that give the lock was asked: to connect may have taken a while before. */
static dlock_nanos first_asked_at(const dlock_ballot *votes)
{
	dlock_nanos first = DLOCK_FOREVER;

	for (int i = 0; i < votes->count; i++) {
		if ((votes->votes[i] == DLOCK_VOTE_YES || votes->votes[i] == DLOCK_VOTE_VOID)
			&& votes->calls[i]->first_sent_at < first) {
			first = votes->calls[i]->first_sent_at;
		}
	}
	return first;
}

/* Asks all servers, and with `queue` queues where one refuses. `wait` NULL: it is the last attempt. Returns when the
 * first vote was asked for. */
static dlock_nanos collect_votes(
	quorum_claim *claim, bool queue, const dlock_wait *wait, dlock_ballot *votes, dlock_nanos until)
{
	quorum_backend *backend = quorum_backend_of(claim);

	claim->listening = queue ? open_inboxes(backend) : 0;
	question question = { { .token = claim->base.token,
							  .ttl = claim->base.ttl,
							  .least_fencing_token = dlock_quorum_propose(backend),
							  .grant = false,
							  .waiter = claim->waiter,
							  .ticket = claim->ticket },
		claim->listening };

	dlock_quorum_ask_all(claim, votes, read_vote, request_lock, &question);
	dlock_ballot_hold(votes, until);
	if (wait) {
		drain_votes(claim, votes, queue, wait);
	}
	note_queues(claim, votes);
	note_holders(claim, votes);
	dlock_nanos asked = first_asked_at(votes);
	dlock_ballot_end(votes);
	return asked;
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
static void accept_votes(quorum_claim *claim, const dlock_ballot *votes, dlock_nanos deadline, bool notified)
{
	dlock_claim *base = &claim->base;

	dlock_quorum_leave(claim, dlock_ballot_voters(votes, DLOCK_VOTE_YES));
	dlock_quorum_log_in_stragglers(claim);
	base->deadline = deadline;
	dlock_claim_move(base, DLOCK_CLAIM_HELD);
	base->received = notified;
	note_missing(claim, votes);
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
static dlock_status attempt(
	quorum_claim *claim, bool queue, const dlock_wait *wait, dlock_ballot *votes, dlock_error *error)
{
	dlock_claim *base = &claim->base;
	quorum_backend *backend = quorum_backend_of(claim);
	dlock_nanos lasting = base->ttl - dlock_drift(base->ttl);
	bool notified = claim->notified != 0;

	if (dlock_quorum_check_clock(error) != DLOCK_OK) {
		return DLOCK_FAILED;
	}
	if (queue && claim->ticket == 0) {
		strcpy(claim->waiter, base->token);
		claim->ticket = claim->next_ticket;
	}
	claim->notified = 0;
	dlock_nanos asked = collect_votes(claim, queue, wait, votes, dlock_now() + lasting),
				deadline = dlock_after(asked, lasting);
	claim->needed = dlock_ballot_needed(votes);
	if (check_independence(backend, error) != DLOCK_OK) {
		dlock_quorum_roll_back(claim);
		return DLOCK_FAILED;
	}
	if (votes->yes >= backend->quorum && dlock_quorum_confirm(claim, votes, asked, deadline)
		&& dlock_now() < deadline) {
		accept_votes(claim, votes, deadline, notified);
		return DLOCK_OK;
	}
	dlock_quorum_roll_back(claim);
	claim->next_ticket = queue ? 0 : next_ticket(backend, votes);
	if (claim->ticket) {
		dlock_claim_move(base, DLOCK_CLAIM_WAITING);
	}
	/* Should a release be late, on a connection that was replaced meanwhile, it must not hit the next attempt. */
	if (dlock_claim_renew_token(base, error) != DLOCK_OK) {
		return DLOCK_FAILED;
	}
	return votes->yes + votes->no + votes->pending >= backend->quorum || dlock_ballot_is_refused_new_set(votes)
		? DLOCK_TIMEOUT
		: dlock_ballot_no_quorum(votes, error);
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
static dlock_nanos next_look(const quorum_backend *backend, const dlock_ballot *votes, dlock_nanos ttl)
{
	dlock_response refusals[DLOCK_MOST_SERVERS], unknown = { .pttl = -1 };
	int count = 0, needed = dlock_ballot_needed(votes),
		missing = needed > votes->quorum ? votes->no : votes->quorum - votes->yes;

	for (int i = 0; i < votes->count; i++) {
		if (votes->votes[i] == DLOCK_VOTE_NO) {
			refusals[count++] = votes->responses[i];
		}
	}
	qsort(refusals, (size_t) count, sizeof *refusals, by_pttl);
	const dlock_response *last = missing < 1 || missing > count ? &unknown : &refusals[missing - 1];
	return can_be_notified(backend) ? dlock_next_look(last, ttl, dlock_now())
									: dlock_next_look_unnotified(last, ttl, dlock_now());
}

/* Between two attempts of a claim that is in no queue, since too few servers have answered in time to tell it where to
 * queue. */
#define UNQUEUED_PAUSE (100 * DLOCK_MS)

/* The same, or where attempts are counted the pause between two; earlier if a server becomes eligible, or if nobody
 * will notify the claim. */
static dlock_nanos next_attempt(const quorum_claim *claim, const dlock_ballot *votes, const dlock_wait *wait)
{
	if (wait->attempts) {
		return dlock_now() + wait->pause / 2 + dlock_jitter((uint32_t) (wait->pause / 2 / DLOCK_US)) * DLOCK_US;
	}
	dlock_nanos look = next_look(quorum_backend_of(claim), votes, claim->base.ttl),
				eligible_at = dlock_ballot_next_eligible_at(votes);
	if (!claim->ticket && !claim->next_ticket) {
		dlock_nanos soon = dlock_now() + UNQUEUED_PAUSE
			+ dlock_jitter((uint32_t) (UNQUEUED_PAUSE / DLOCK_US)) * DLOCK_US;
		look = soon < look ? soon : look;
	}
	return eligible_at < look ? eligible_at : look;
}

/* Once one server has notified the claim, the others that it takes follow within a round trip or never. */
#define NOTIFIED_TOGETHER (10 * DLOCK_MS)

typedef struct {
	quorum_claim *claim;
	server_set open; /* inboxes, at first */
	bool counts; /* attempts are counted */
	dlock_nanos until;
} turn;

/* Have enough servers notified the claim, or is it time to look? */
static dlock_status turn_step(void *task, dlock_loop *loop, dlock_nanos now)
{
	turn *own = task;
	quorum_claim *claim = own->claim;
	quorum_backend *backend = quorum_backend_of(claim);
	dlock_grant grant;
	bool first = claim->notified == 0;
	int notified = 0;

	for (int i = 0; i < backend->count; i++) {
		dlock_inbox_update(backend->inboxes[i]);
		claim->notified |= (server_set) dlock_inbox_take(backend->inboxes[i], claim->waiter, &grant) << i;
		notified += has_server(claim->notified, i);
	}
	/* A server that could not be waited on before can be now: the next attempt queues there too. */
	if (notified >= claim->needed || (open_inboxes(backend) != own->open && !own->counts)) {
		return DLOCK_OK;
	}
	if (first && notified > 0 && dlock_after(now, NOTIFIED_TOGETHER) < own->until) {
		own->until = dlock_after(now, NOTIFIED_TOGETHER);
	}
	dlock_loop_lend(loop);
	return dlock_loop_is_time(loop, own->until, now) ? DLOCK_TIMEOUT : DLOCK_PENDING;
}

/* Sleeps. DLOCK_INTERRUPTED, or anything else. */
static dlock_status wait_for_turn(quorum_claim *claim, const dlock_wait *wait)
{
	quorum_backend *backend = quorum_backend_of(claim);
	turn own = { claim, claim->ticket ? claim->listening : open_inboxes(backend), wait->attempts > 0,
		claim->next_look < wait->deadline ? claim->next_look : wait->deadline };

	for (int i = 0; i < backend->count; i++) {
		backend->inboxes[i]->listeners++;
	}
	dlock_status status = dlock_loop_run(backend->loop, turn_step, &own, DLOCK_FOREVER, wait);
	for (int i = 0; i < backend->count; i++) {
		backend->inboxes[i]->listeners--;
	}
	return status;
}

static dlock_status opening_step(void *task, dlock_loop *loop, dlock_nanos now)
{
	return dlock_opening_step(task, loop, now);
}

static void open_queues(quorum_backend *backend)
{
	dlock_opening own = { .inboxes = backend->inboxes, .count = backend->count, .enough = backend->quorum };

	dlock_loop_run(backend->loop, opening_step, &own, DLOCK_FOREVER, NULL);
}

static bool is_last(const quorum_claim *claim, const dlock_wait *wait)
{
	return (wait->deadline != DLOCK_FOREVER && dlock_now() >= wait->deadline)
		|| (wait->attempts && claim->attempts + 1 >= wait->attempts);
}

dlock_status dlock_quorum_acquire(dlock_claim *base, const dlock_wait *wait, dlock_error *error)
{
	quorum_claim *claim = (quorum_claim *) base;
	quorum_backend *backend = quorum_backend_of(claim);
	dlock_ballot votes;

	claim->next_ticket = 0;
	for (;;) {
		bool last = is_last(claim, wait), queue = !last && (claim->ticket || claim->next_ticket);
		if (queue) {
			open_queues(backend);
		}
		dlock_status status = attempt(claim, queue, last ? NULL : wait, &votes, error);
		claim->attempts++;
		if (status == DLOCK_OK) {
			return status;
		}
		/* Where attempts are counted, one without a quorum fails like any other. */
		bool again = status == DLOCK_TIMEOUT
			|| (status == DLOCK_QUORUM && (wait->attempts || dlock_ballot_lacks_only_uptime(&votes)));
		if (last || !again) {
			dlock_quorum_leave(claim, 0);
			return status;
		}
		claim->next_look = next_attempt(claim, &votes, wait);
		/* No pause after the first attempt: the next one queues at once, or finds out where to. */
		bool pause = base->waited && !claim->next_ticket;
		base->waited = true;
		if (pause && wait_for_turn(claim, wait) == DLOCK_INTERRUPTED) {
			return DLOCK_INTERRUPTED;
		}
	}
}
