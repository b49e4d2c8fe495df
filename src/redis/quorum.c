#include "exchange.h"
#include "ballot.h"
#include "renewal_round.h"
#include "requests.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* A majority of independent Redis servers, by the Redlock algorithm
 * (https://redis.io/docs/latest/develop/use/patterns/distributed-locks/), with all servers asked at once: see ballot.h for
 * that, and here for what is asked and what follows from the votes. */

typedef struct {
	dlock_backend base;
	dlock_key_builder *keys;
	dlock_inbox *inboxes[DLOCK_MOST_SERVERS]; /* the pool's; not connected before somebody waits */
	int64_t highest_token; /* the largest fencing token seen */
	dlock_nanos guard; /* the least age of a server that votes; 0: any */
	int count, quorum;
	dlock_member members[];
} quorum_backend;

typedef struct {
	dlock_claim base;
	unsigned attempts;
	dlock_nanos look; /* when to try again without having been told */
	uint64_t asked;   /* the servers that may have the lock, one bit each */
	uint64_t queued;  /* the servers in whose queues it may be */
	uint64_t placed;  /* those of them that said that it is */
	uint64_t told;    /* the servers that said that it is its turn */
	int needed;       /* how many servers had to say yes in the last attempt: a quorum, or all */
	/* The token changes with each attempt; in the queues the claim has one name and one ticket, the same everywhere. */
	char waiter[DLOCK_TOKEN_MAX + 1];
	int64_t ticket;   /* 0: it is in no queue */
	int64_t next;     /* the ticket with which it would queue; 0: not known */
	/* Acquires that were not answered when the quorum was reached. They may still be answered with yes, which makes the
	 * lock safer; before a release they are called off, so that none is sent again behind it. */
	dlock_call *stragglers[DLOCK_MOST_SERVERS];
} quorum_claim;

static quorum_backend *backend_of(const quorum_claim *claim)
{
	return (quorum_backend *) claim->base.backend;
}

static dlock_keys claim_keys(const quorum_claim *claim)
{
	return dlock_key_builder_keys(backend_of(claim)->keys, claim->base.resource, claim->base.resource_len);
}

static bool is_asked(const quorum_claim *claim, int server)
{
	return claim->asked >> server & 1;
}

static void begin(dlock_ballot *ballot, quorum_backend *backend, dlock_opinion *read)
{
	dlock_ballot_begin(ballot, backend->members, backend->count, backend->quorum, read);
}

/* ---- giving back ---- */

static void call_off_stragglers(quorum_claim *claim)
{
	for (int i = 0; i < backend_of(claim)->count; i++) {
		if (claim->stragglers[i]) {
			dlock_call_cancel(claim->stragglers[i]);
			dlock_call_release(claim->stragglers[i]);
			claim->stragglers[i] = NULL;
		}
	}
}

/* Before what is to come behind it is sent: the acquire must not be sent again then, neither over a new connection nor since its script is
 * unknown. So it goes as text where it waits for its connection yet. */
static void send_straggler_once(quorum_claim *claim, int server)
{
	dlock_call *call = claim->stragglers[server];

	if (call && call->script && !call->sent) {
		dlock_call_use_source(call);
	}
	if (call) {
		call->once = true;
	}
}

static void send_and_forget(const quorum_claim *claim, int server, dlock_call *call)
{
	dlock_conn_send_background(backend_of(claim)->members[server].conn, call, dlock_after(dlock_now(), claim->base.ttl));
}

/* Releases on every server that may have it, without waiting. A waiter that stays in the queues is not told of its own
 * release. */
static void roll_back(quorum_claim *claim)
{
	quorum_backend *backend = backend_of(claim);
	const char *waiter = claim->ticket ? claim->waiter : NULL;

	call_off_stragglers(claim);
	for (int i = 0; i < backend->count; i++) {
		if (is_asked(claim, i)) {
			send_and_forget(claim, i, dlock_call_give_back(claim_keys(claim), claim->base.token, false, waiter, false));
		}
	}
	claim->asked = 0;
}

/* Leaves the queues of the servers that are not in `except`, without waiting. */
static void leave(quorum_claim *claim, uint64_t except)
{
	quorum_backend *backend = backend_of(claim);

	for (int i = 0; i < backend->count; i++) {
		if ((claim->queued & ~except) >> i & 1) {
			send_straggler_once(claim, i);
			send_and_forget(claim, i, dlock_call_leave(claim_keys(claim), claim->waiter, false));
		}
	}
	claim->queued = claim->placed = 0;
	claim->ticket = 0;
	if (claim->base.state == DLOCK_CLAIM_WAITING) {
		dlock_claim_move(&claim->base, DLOCK_CLAIM_NEW);
	}
}

static void quorum_abandon(dlock_claim *base)
{
	quorum_claim *claim = (quorum_claim *) base;

	if (base->repaired) {
		claim->asked = UINT64_MAX;
	}
	roll_back(claim);
	leave(claim, 0);
}

/* ---- acquire ---- */

static int64_t wall_clock(void)
{
	struct timespec now;

	timespec_get(&now, TIME_UTC);
	return (int64_t) now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

/* One fencing token proposed to all servers: the clock, so that it rises over restarts of everything, but above
 * whatever this process has seen, so that it rises where the clock does not. */
static int64_t propose(const quorum_backend *backend)
{
	int64_t micros = wall_clock();

	return micros > backend->highest_token ? micros : backend->highest_token + 1;
}

/* A clock that is decades ahead would raise all servers' fencing tokens by as much, for good. */
static bool is_clock_possible(dlock_error *error)
{
	int64_t micros = wall_clock();

	if (micros < DLOCK_MOST_PROPOSED) {
		return true;
	}
	dlock_fail(error, DLOCK_FAILED, "The clock of this host is wrong, its year is %lld: set it, since fencing tokens are made of it",
		(long long) (1970 + micros / 1000000 / 31556952));
	return false;
}

/* The claim's place in the queues: behind all that have queued before at one of the servers that answered this attempt, which it made
 * without queueing; see lua/acquire.lua. Two attempts that a quorum answered share a server. 0: too few have answered. */
static int64_t next_ticket(const quorum_backend *backend, const dlock_ballot *votes)
{
	int64_t largest = 0;
	int told = 0;

	for (int i = 0; i < backend->count; i++) {
		bool given = votes->votes[i] == DLOCK_VOTE_YES || votes->votes[i] == DLOCK_VOTE_VOID;
		int64_t next = given ? votes->answers[i].fencing_token + 1 : votes->votes[i] == DLOCK_VOTE_NO ? votes->answers[i].ticket : 0;
		if (next > 0 && next < DLOCK_EXACT) {
			largest = next > largest ? next : largest;
			told++;
		}
	}
	return told >= backend->quorum ? largest : 0;
}

/* Shorter than any lease in use, with a request of its holder's before it. The votes of an attempt that takes longer are not simultaneous
 * enough: a server may have given its vote, restarted without it, and be another holder's when the last vote comes
 * (models/forgetting.pml). */
#define QUICK (100 * DLOCK_MS)

/* The votes carry the servers' fencing tokens. The largest is the lease's, once a quorum has no smaller one: any later
 * quorum shares a server with this one, and reads a larger token there. Servers with a smaller one are raised, only where the lock is
 * still ours; and so all are asked once more where the attempt was not quick. Normally all agree and nothing is to be done. */
static bool confirm_votes(quorum_claim *claim, const dlock_ballot *votes, dlock_nanos asked, dlock_nanos until)
{
	quorum_backend *backend = backend_of(claim);
	int64_t token = 0;
	int agree = 0;

	for (int i = 0; i < backend->count; i++) {
		if (votes->votes[i] == DLOCK_VOTE_YES && votes->answers[i].fencing_token > token) {
			token = votes->answers[i].fencing_token;
		}
	}
	claim->base.fencing_token = token;
	if (token > backend->highest_token) {
		backend->highest_token = token;
	}
	for (int i = 0; i < backend->count; i++) {
		agree += votes->votes[i] == DLOCK_VOTE_YES && votes->answers[i].fencing_token == token;
	}
	if (agree >= backend->quorum && dlock_now() - asked < QUICK) {
		return true;
	}
	dlock_ballot raise;
	begin(&raise, backend, dlock_ballot_read_integer);
	for (int i = 0; i < backend->count; i++) {
		if (votes->votes[i] == DLOCK_VOTE_YES) {
			dlock_ballot_ask(&raise, i, dlock_call_raise(claim_keys(claim), claim->base.token, token));
		}
	}
	dlock_ballot_hold(&raise, until);
	dlock_ballot_end(&raise);
	return raise.yes >= backend->quorum;
}

/* A token that the others could not be raised to is no vote: whoever has written it there, they go on without that server. */
static int read_vote(const dlock_call *call, const dlock_conn *conn, dlock_answer *answer, dlock_error *error)
{
	int opinion = dlock_call_acquired(call, conn, answer, error);

	if (opinion > 0 && answer->fencing_token >= DLOCK_MOST_RAISED) {
		dlock_fail(error, DLOCK_CONNECTION, "Redis at %s: its fencing tokens cannot rise any more; over several servers the key "
			DLOCK_FENCE_KEY " must be a number from 1 to 7881299347898366, and normally is a time in us", conn->server->label);
		return -1;
	}
	return opinion;
}

/* Refused, and there is time. Every server that a waiter does not wait for now would have to be told that its answer is not wanted any
 * more: as much again as the look itself. And who is yet to queue needs the word of a quorum, which to fail it does not take. */
static bool is_rest_wanted(const quorum_backend *backend, const dlock_ballot *votes, bool queue, bool last)
{
	int told = votes->yes + votes->no + votes->young;

	return !last && votes->yes < backend->quorum && (queue ? votes->yes == 0 : told < backend->quorum);
}

/* Asks all servers, and with `queue` queues where one refuses. Remembers which may have the lock now. Returns when the first of those
 * that give it was asked: to connect may have taken a while before. */
static dlock_nanos collect_votes(quorum_claim *claim, bool queue, bool last, dlock_ballot *votes, dlock_nanos until)
{
	quorum_backend *backend = backend_of(claim);
	dlock_nanos asked = DLOCK_FOREVER;
	dlock_request request = { .token = claim->base.token, .ttl = claim->base.ttl, .least_fencing_token = propose(backend),
		.grant = false, .waiter = claim->waiter, .ticket = claim->ticket };

	begin(votes, backend, read_vote);
	dlock_guard_begin(&votes->guard, backend->guard, claim->base.ttl);
	for (int i = 0; i < backend->count; i++) {
		dlock_member *member = &backend->members[i];
		if (dlock_conn_stuck(member->conn)) {
			member->failed = true;
			member->error = member->conn->error;
		} else {
			request.inbox = queue && dlock_inbox_is_open(backend->inboxes[i]) ? backend->inboxes[i] : NULL;
			dlock_call *call = dlock_call_acquire(claim_keys(claim), &request);
			if (call) {
				call->needs_uptime = backend->guard > 0;
			}
			dlock_ballot_ask(votes, i, call);
		}
	}
	dlock_ballot_hold(votes, until);
	if (is_rest_wanted(backend, votes, queue, last)) {
		dlock_ballot_hear_out(votes);
	}
	for (int i = 0; i < backend->count; i++) {
		dlock_call *call = votes->calls[i];
		uint64_t server = UINT64_C(1) << i;
		if (votes->votes[i] == DLOCK_VOTE_YES || votes->votes[i] == DLOCK_VOTE_VOID) {
			/* Who has the lock waits no longer, even if it is to be rolled back. */
			claim->queued &= ~server;
			claim->placed &= ~server;
			asked = call->first_sent_at < asked ? call->first_sent_at : asked;
		} else if (queue && call && dlock_inbox_is_open(backend->inboxes[i])
				&& (call->sent || call->state == DLOCK_CALL_PENDING)) {
			claim->queued |= server;
			if (votes->votes[i] == DLOCK_VOTE_NO && claim->placed & server && votes->answers[i].new_in_queue) {
				/* It is not any more: the server found nobody at the inbox, whatever it looks like here. */
				dlock_inbox_discard(backend->inboxes[i]);
				claim->placed &= ~server;
			} else if (votes->votes[i] == DLOCK_VOTE_NO) {
				claim->placed |= server;
			}
		}
		if (votes->votes[i] != DLOCK_VOTE_NO && dlock_call_may_count(call)) {
			claim->asked |= UINT64_C(1) << i;
		}
		if (call && call->state == DLOCK_CALL_PENDING) {
			claim->stragglers[i] = dlock_call_retain(call);
		}
	}
	dlock_ballot_end(votes);
	return asked;
}

/* A server that is there but was not connected or logged in to when the others had voted should get the lock too; this happens
 * with a new connection only. */
#define LOGIN_TIME (10 * DLOCK_MS)

/* A connection that takes longer is not expected any more. */
#define EXPECTED (100 * DLOCK_MS)

static bool is_logging_in(const dlock_conn *conn)
{
	return conn->state == DLOCK_CONN_HANDSHAKE
		|| (conn->state == DLOCK_CONN_CONNECTING && dlock_now() < dlock_after(conn->dial.begun, EXPECTED));
}

static bool has_logged_in(void *context)
{
	const quorum_claim *claim = context;

	for (int i = 0; i < backend_of(claim)->count; i++) {
		if (claim->stragglers[i] && is_logging_in(backend_of(claim)->members[i].conn)) {
			return false;
		}
	}
	return true;
}

static void log_in_stragglers(quorum_claim *claim)
{
	quorum_backend *backend = backend_of(claim);
	dlock_conn *conns[DLOCK_MOST_SERVERS];

	if (!has_logged_in(claim)) {
		for (int i = 0; i < backend->count; i++) {
			conns[i] = claim->stragglers[i] ? backend->members[i].conn : NULL;
		}
		dlock_exchange(conns, backend->count, dlock_now() + LOGIN_TIME, has_logged_in, claim);
	}
}

/* Does one of them refuse? A straggler's answer may have arrived by now. Where others want the lock, one that is still to come may well be a
 * refusal. */
static void note_missing(quorum_claim *claim, const dlock_ballot *votes)
{
	quorum_backend *backend = backend_of(claim);
	dlock_claim *base = &claim->base;
	dlock_answer answer;
	dlock_error error;

	base->incomplete = dlock_ballot_voters(votes, DLOCK_VOTE_NO) != 0;
	base->unanswered = false;
	for (int i = 0; i < backend->count; i++) {
		dlock_call *call = claim->stragglers[i];
		if (call) {
			dlock_conn_peek(backend->members[i].conn);
			base->unanswered |= call->state == DLOCK_CALL_PENDING;
			base->incomplete |= call->state == DLOCK_CALL_ANSWERED
				&& dlock_call_acquired(call, backend->members[i].conn, &answer, &error) == 0;
		}
	}
	base->incomplete |= base->unanswered && base->waited;
}

/* DLOCK_TIMEOUT: a quorum has answered, but not with yes. */
static dlock_status attempt(quorum_claim *claim, bool queue, bool last, dlock_ballot *votes, dlock_error *error)
{
	dlock_claim *base = &claim->base;
	quorum_backend *backend = backend_of(claim);
	dlock_nanos lasting = base->ttl - dlock_drift(base->ttl);

	if (!is_clock_possible(error)) {
		return DLOCK_FAILED;
	}
	if (queue && claim->ticket == 0) {
		strcpy(claim->waiter, base->token);
		claim->ticket = claim->next;
	}
	uint64_t told = claim->told;
	claim->told = 0;
	dlock_nanos asked = collect_votes(claim, queue, last, votes, dlock_now() + lasting), deadline = dlock_after(asked, lasting);
	claim->needed = dlock_ballot_needed(votes);
	if (votes->yes >= backend->quorum && confirm_votes(claim, votes, asked, deadline) && dlock_now() < deadline) {
		/* What a server without a vote has locked stays locked: it keeps others out of there, and is released with the rest. */
		leave(claim, dlock_ballot_voters(votes, DLOCK_VOTE_YES));
		log_in_stragglers(claim);
		base->deadline = deadline;
		dlock_claim_move(base, DLOCK_CLAIM_HELD);
		base->received = told > 0;
		note_missing(claim, votes);
		return DLOCK_OK;
	}
	roll_back(claim);
	claim->next = queue ? 0 : next_ticket(backend, votes);
	if (claim->ticket) {
		dlock_claim_move(base, DLOCK_CLAIM_WAITING);
	}
	/* Should a release be late, on a connection given up meanwhile, it must not hit the next attempt. */
	if (!dlock_token(base->token)) {
		return dlock_fail(error, DLOCK_FAILED, "The system gave no random bytes for a token");
	}
	return votes->yes + votes->no + votes->pending >= backend->quorum || dlock_ballot_is_refused_new_set(votes) ? DLOCK_TIMEOUT
		: dlock_ballot_no_quorum(votes, error);
}

static int by_pttl(const void *a, const void *b)
{
	int64_t x = ((const dlock_answer *) a)->pttl, y = ((const dlock_answer *) b)->pttl;

	return (x > y) - (x < y);
}

/* When so many of the refusing servers may be free that there can be a quorum. Of a set that is not of age that is all of them. */
static dlock_nanos next_look(dlock_ballot *votes)
{
	dlock_answer refusals[DLOCK_MOST_SERVERS], unknown = { .pttl = -1 };
	int count = 0, needed = dlock_ballot_needed(votes), missing = needed > votes->quorum ? votes->no : votes->quorum - votes->yes;

	for (int i = 0; i < votes->count; i++) {
		if (votes->votes[i] == DLOCK_VOTE_NO) {
			refusals[count++] = votes->answers[i];
		}
	}
	if (missing < 1 || missing > count) {
		return dlock_next_look(&unknown);
	}
	qsort(refusals, (size_t) count, sizeof *refusals, by_pttl);
	return dlock_next_look(&refusals[missing - 1]);
}

/* Once one server has said that it is the claim's turn, the others that it takes follow within a round trip or never. */
#define TOLD_TOGETHER (10 * DLOCK_MS)

static int open_inboxes(const quorum_backend *backend)
{
	int open = 0;

	for (int i = 0; i < backend->count; i++) {
		open += dlock_inbox_is_open(backend->inboxes[i]);
	}
	return open;
}

/* Sleeps until enough servers have said that it is the claim's turn, or it is time to look. */
static int wait_for_turn(quorum_claim *claim, const dlock_wait *wait)
{
	quorum_backend *backend = backend_of(claim);
	dlock_grant grant;
	int open = open_inboxes(backend);
	dlock_nanos until = claim->look < wait->deadline ? claim->look : wait->deadline;

	for (;;) {
		bool first = claim->told == 0;
		int told = 0;
		for (int i = 0; i < backend->count; i++) {
			claim->told |= (uint64_t) dlock_inbox_take(backend->inboxes[i], claim->waiter, &grant) << i;
			told += claim->told >> i & 1;
		}
		/* A server that could not be waited on before can be now: the next attempt queues there too. */
		if (told >= claim->needed || (open_inboxes(backend) != open && !wait->attempts)) {
			return DLOCK_WAIT_TIME;
		}
		if (first && told > 0 && dlock_after(dlock_now(), TOLD_TOGETHER) < until) {
			until = dlock_after(dlock_now(), TOLD_TOGETHER);
		}
		int woken = dlock_inboxes_wait(backend->inboxes, backend->count, until, wait);
		if (woken <= 0) {
			return woken;
		}
	}
}

static dlock_status quorum_acquire(dlock_claim *base, const dlock_wait *wait, dlock_error *error)
{
	quorum_claim *claim = (quorum_claim *) base;
	quorum_backend *backend = backend_of(claim);
	dlock_ballot votes;

	claim->next = 0;
	for (;;) {
		bool last = (wait->deadline != DLOCK_FOREVER && dlock_now() >= wait->deadline)
			|| (wait->attempts && claim->attempts + 1 >= wait->attempts);
		bool queue = !last && (claim->ticket || claim->next);
		if (queue) {
			dlock_inboxes_open(backend->inboxes, backend->count, backend->quorum);
		}
		dlock_status status = attempt(claim, queue, last, &votes, error);
		claim->attempts++;
		if (status == DLOCK_OK) {
			return status;
		}
		/* Where attempts are counted, no quorum is a failed attempt like any other. */
		bool again = status == DLOCK_TIMEOUT || (status == DLOCK_QUORUM && (wait->attempts || dlock_ballot_lacks_only_age(&votes)));
		if (last || !again) {
			leave(claim, 0);
			return status;
		}
		claim->look = wait->attempts ? dlock_now() + wait->pause / 2 + dlock_jitter((uint32_t) (wait->pause / 2 / DLOCK_US)) * DLOCK_US
			: next_look(&votes);
		if (!wait->attempts && dlock_ballot_next_of_age(&votes) < claim->look) {
			claim->look = dlock_ballot_next_of_age(&votes);
		}
		/* The first time: queue at once, by another attempt, or find out at which place. */
		bool pause = base->waited && !claim->next;
		base->waited = true;
		if (pause && wait_for_turn(claim, wait) == DLOCK_WAIT_INTERRUPTED) {
			return DLOCK_INTERRUPTED;
		}
	}
}

/* ---- attach ---- */

/* The exchange on all servers. As in acquire a server that was started lately has no vote: it may have come back with a key of long
 * ago, of a lease that was given back since, and whose lock is another's. */
static void ask_exchange(quorum_claim *claim, const char *token, dlock_ballot *votes)
{
	quorum_backend *backend = backend_of(claim);
	int64_t least = propose(backend);

	begin(votes, backend, dlock_call_exchanged);
	dlock_guard_begin(&votes->guard, backend->guard, claim->base.ttl);
	for (int i = 0; i < backend->count; i++) {
		dlock_member *member = &backend->members[i];
		if (dlock_conn_stuck(member->conn)) {
			member->failed = true;
			member->error = member->conn->error;
			continue;
		}
		dlock_call *call = dlock_call_exchange(claim_keys(claim), token, claim->base.token, least);
		if (call) {
			/* A late server's word that it does not know the script would come after a release was sent. */
			dlock_call_use_source(call);
			call->needs_uptime = backend->guard > 0;
		}
		dlock_ballot_ask(votes, i, call);
	}
	dlock_ballot_hold(votes, DLOCK_FOREVER);
}

static int descending(const void *a, const void *b)
{
	int64_t x = *(const int64_t *) a, y = *(const int64_t *) b;

	return (x < y) - (x > y);
}

/* The lease lasts as long as a quorum of the keys do. */
static dlock_nanos exchanged_until(const dlock_ballot *votes)
{
	int64_t until[DLOCK_MOST_SERVERS];
	int holders = 0;

	for (int i = 0; i < votes->count; i++) {
		if (votes->votes[i] == DLOCK_VOTE_YES) {
			dlock_nanos left = dlock_lease_left(votes->answers[i].pttl);
			until[holders++] = votes->calls[i]->sent_at + left - dlock_drift(left);
		}
	}
	qsort(until, (size_t) holders, sizeof *until, descending);
	return until[votes->quorum - 1];
}

/* Servers that are late, or out of reach, exchange it too as soon as they can. Unlike an acquire this goes on after a release, which
 * is sent after it over the same connection and so finds the token that it names. */
static void exchange_rest(quorum_claim *claim, const char *token, const dlock_ballot *votes)
{
	quorum_backend *backend = backend_of(claim);
	dlock_nanos until = claim->base.deadline;

	for (int i = 0; i < backend->count; i++) {
		dlock_call *call = votes->calls[i];
		if (call && call->state == DLOCK_CALL_PENDING) {
			claim->stragglers[i] = dlock_call_retain(call);
		} else if (call && call->state == DLOCK_CALL_FAILED) {
			dlock_conn_send_background(backend->members[i].conn,
				dlock_call_exchange(claim_keys(claim), token, claim->base.token, claim->base.fencing_token), until);
		}
	}
	log_in_stragglers(claim);
	for (int i = 0; i < backend->count; i++) {
		if (claim->stragglers[i]) {
			dlock_call_to_background(claim->stragglers[i], until);
			dlock_call_release(claim->stragglers[i]);
			claim->stragglers[i] = NULL;
		}
	}
}

/* Wherever it was, or may yet be exchanged. It is not sent again, so that it is not executed after this. */
static void exchange_back(quorum_claim *claim, const char *token, const dlock_ballot *votes)
{
	for (int i = 0; i < votes->count; i++) {
		if (votes->votes[i] != DLOCK_VOTE_NO && dlock_call_may_count(votes->calls[i])) {
			dlock_call_cancel(votes->calls[i]);
			send_and_forget(claim, i, dlock_call_exchange_back(claim_keys(claim), token, claim->base.token));
		}
	}
}

/* With `split` told whether some servers gave it to this claim, and others perhaps to another that takes it up in the same moment. */
static dlock_status exchange(quorum_claim *claim, const char *token, bool *split, dlock_error *error)
{
	dlock_claim *base = &claim->base;
	quorum_backend *backend = backend_of(claim);
	dlock_status status;
	dlock_ballot votes;

	dlock_nanos asked = dlock_now();
	ask_exchange(claim, token, &votes);
	*split = votes.yes > 0 && votes.yes < backend->quorum && votes.no > 0;
	dlock_nanos deadline = votes.yes >= backend->quorum ? exchanged_until(&votes) : 0;
	if (votes.yes < backend->quorum) {
		status = dlock_ballot_outcome(&votes, error) == DLOCK_LOST ? dlock_claim_came_late(base, error) : DLOCK_QUORUM;
	} else if (confirm_votes(claim, &votes, asked, deadline)) {
		base->deadline = deadline;
		dlock_claim_move(base, DLOCK_CLAIM_HELD);
		claim->asked = UINT64_MAX; /* from before, any server may have it */
		base->incomplete = dlock_ballot_voters(&votes, DLOCK_VOTE_NO) != 0; /* one that did not have it before, either */
		base->unanswered = votes.pending > 0;
		exchange_rest(claim, token, &votes);
		status = DLOCK_OK;
	} else {
		status = dlock_fail(error, DLOCK_QUORUM, "Too few servers have noted the fencing token of the lock \"%.100s\"", base->resource);
	}
	if (status != DLOCK_OK) {
		exchange_back(claim, token, &votes);
	}
	dlock_ballot_end(&votes);
	return status;
}

/* Of several that take up one lease in the same moment each may get a minority. Then each tries again, after pauses that differ. */
#define SPLIT_ATTEMPTS 5
#define SPLIT_PAUSE 8000 /* us, at most, after the first attempt; twice as much after each further one */
#define SPLIT_TIME (200 * DLOCK_MS)

static dlock_status quorum_attach(dlock_claim *base, const char *token, dlock_error *error)
{
	quorum_claim *claim = (quorum_claim *) base;
	dlock_nanos until = dlock_now() + SPLIT_TIME;
	bool split;

	for (int attempts = 1;; attempts++) {
		dlock_status status = exchange(claim, token, &split, error);
		if (status == DLOCK_OK || !split || attempts == SPLIT_ATTEMPTS || dlock_now() >= until) {
			return status;
		}
		dlock_wait_poll(NULL, 0, dlock_now() + DLOCK_MS + dlock_jitter(SPLIT_PAUSE << (attempts - 1)) * DLOCK_US, NULL);
		/* Should what is taken back be late, on a connection given up meanwhile, it must not hit the next attempt. */
		if (dlock_claim_renew_token(base, error) != DLOCK_OK) {
			return DLOCK_FAILED;
		}
	}
}

/* ---- while it is held ---- */

static dlock_call *make_give_back(const quorum_claim *claim, dlock_nanos ttl);

/* A release that finds nothing when it is sent again was done by the first sending, the answer to which was lost with a connection
 * that had been alive. */
static int read_release(const dlock_call *call, const dlock_conn *conn, dlock_answer *answer, dlock_error *error)
{
	int opinion = dlock_ballot_read_integer(call, conn, answer, error);

	return opinion == 0 && call->repeated ? 1 : opinion;
}

/* Is there a server that may execute it without having answered? */
static bool ask_holders(dlock_ballot *ballot, quorum_claim *claim, dlock_call *(*make)(const quorum_claim *claim, dlock_nanos ttl),
	dlock_nanos ttl)
{
	quorum_backend *backend = backend_of(claim);
	bool giving_back = make == make_give_back, unacknowledged = false;

	if (claim->asked == 0 || claim->base.repaired) { /* acquired elsewhere, or repaired: any server may have it */
		claim->asked = UINT64_MAX;
	}
	begin(ballot, backend, giving_back ? read_release : dlock_ballot_read_integer);
	for (int i = 0; i < backend->count; i++) {
		if (is_asked(claim, i)) {
			dlock_call *call = make(claim, ttl);
			dlock_conn *conn = backend->members[i].conn;
			/* Nobody may be there any more to hear from a late server that it does not know the script. */
			if (call && giving_back && conn->release_source_sent != conn->generation) {
				dlock_call_use_source(call);
				conn->release_source_sent = conn->generation;
			}
			dlock_ballot_ask(ballot, i, call);
		} else {
			dlock_ballot_absent(ballot, i);
		}
	}
	dlock_ballot_hold(ballot, DLOCK_FOREVER);
	if (giving_back && claim->needed > backend->quorum) {
		dlock_ballot_hear_out(ballot); /* whoever wants the lock next needs all of them, too */
	}
	/* A release must reach a server that is late, too. A late extension could shorten what a later one has lengthened. */
	for (int i = 0; i < backend->count; i++) {
		dlock_call *call = ballot->calls[i];
		unacknowledged |= call && call->sent && call->state != DLOCK_CALL_ANSWERED;
		if (call && call->state == DLOCK_CALL_PENDING) {
			if (giving_back) {
				dlock_call_to_background(call, dlock_after(dlock_now(), claim->base.ttl));
			} else {
				dlock_call_cancel(call);
			}
		}
	}
	dlock_ballot_end(ballot);
	return unacknowledged;
}

static dlock_call *make_extend(const quorum_claim *claim, dlock_nanos ttl)
{
	dlock_call *call = dlock_call_extend(claim_keys(claim), claim->base.token, ttl);

	if (call) {
		dlock_call_use_source(call); /* a late server's word that it does not know the script comes when nobody listens any more */
	}
	return call;
}

static dlock_call *make_check(const quorum_claim *claim, dlock_nanos ttl)
{
	(void) ttl;
	return dlock_call_check(claim_keys(claim), claim->base.token);
}

static dlock_call *make_give_back(const quorum_claim *claim, dlock_nanos ttl)
{
	(void) ttl;
	return dlock_call_give_back(claim_keys(claim), claim->base.token, false, NULL, false);
}

/* Not where the lease ended before the answers came: see update() in lock/renewal.c. */
static void set_deadline(dlock_claim *base, dlock_nanos deadline)
{
	if (!dlock_claim_expire(base)) {
		base->deadline = deadline;
	}
}

static dlock_status quorum_extend(dlock_claim *base, dlock_nanos ttl, dlock_error *error)
{
	quorum_claim *claim = (quorum_claim *) base;
	dlock_nanos start = dlock_now(), sure = dlock_claim_guaranteed_ttl(base, ttl);
	dlock_ballot votes;

	for (int i = 0; i < backend_of(claim)->count; i++) {
		send_straggler_once(claim, i); /* it would set the former lease time again */
	}
	bool unacknowledged = ask_holders(&votes, claim, make_extend, ttl);
	dlock_status status = dlock_ballot_outcome(&votes, error);
	if (status == DLOCK_OK) {
		base->ttl = ttl;
		set_deadline(base, start + sure - dlock_drift(sure));
		dlock_claim_move(base, DLOCK_CLAIM_HELD);
	} else {
		if (start + ttl - dlock_drift(ttl) < base->deadline) {
			base->deadline = start + ttl - dlock_drift(ttl); /* some servers may have taken the shorter lease */
		}
		if (unacknowledged) {
			dlock_claim_add_unacknowledged_ttl(base, ttl);
		}
	}
	if (status == DLOCK_LOST) {
		roll_back(claim); /* a minority may have it, and has just been asked to keep it */
	}
	return status;
}

static dlock_status quorum_check(dlock_claim *base, dlock_error *error)
{
	quorum_claim *claim = (quorum_claim *) base;
	quorum_backend *backend = backend_of(claim);
	dlock_nanos start = dlock_now();
	int64_t left[DLOCK_MOST_SERVERS];
	int holders = 0;
	dlock_ballot votes;

	ask_holders(&votes, claim, make_check, 0);
	dlock_status status = dlock_ballot_outcome(&votes, error);
	if (status != DLOCK_OK) {
		return status;
	}
	for (int i = 0; i < backend->count; i++) {
		if (votes.votes[i] == DLOCK_VOTE_YES) {
			left[holders++] = votes.answers[i].pttl;
		}
	}
	/* The lease lasts as long as a quorum of the keys do. */
	qsort(left, (size_t) holders, sizeof *left, descending);
	dlock_nanos ttl = dlock_claim_guaranteed_ttl(base, dlock_lease_left(left[backend->quorum - 1]));
	set_deadline(base, start + ttl - dlock_drift(ttl));
	dlock_claim_move(base, DLOCK_CLAIM_HELD);
	return DLOCK_OK;
}

static dlock_status quorum_release(dlock_claim *base, dlock_error *error)
{
	quorum_claim *claim = (quorum_claim *) base;
	dlock_ballot votes;

	call_off_stragglers(claim);
	ask_holders(&votes, claim, make_give_back, 0);
	dlock_status status = dlock_ballot_outcome(&votes, error);
	for (int i = 0; i < votes.count; i++) {
		base->handed_over |= votes.votes[i] == DLOCK_VOTE_YES && votes.answers[i].pttl > 1;
	}
	if (status == DLOCK_QUORUM) {
		roll_back(claim);
	}
	claim->asked = 0;
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
			const redisReply *a = ballot->calls[i]->reply, *b = ballot->votes[k] == DLOCK_VOTE_YES ? ballot->calls[k]->reply : NULL;
			same += b && a->len == b->len && !memcmp(a->str, b->str, a->len);
		}
		most = same > most ? same : most;
	}
	return most;
}

static int read_holder(const dlock_call *call, const dlock_conn *conn, dlock_answer *answer, dlock_error *error)
{
	if (!call || call->state != DLOCK_CALL_ANSWERED || call->reply->type == REDIS_REPLY_ERROR) {
		answer->pttl = dlock_call_integer(call, conn, error);
		return -1;
	}
	return call->reply->type == REDIS_REPLY_STRING;
}

static bool is_holder_known(void *context)
{
	dlock_ballot *ballot = context;

	dlock_ballot_is_decided(ballot); /* counts the votes */
	int most = most_for_one_holder(ballot);
	return most >= ballot->quorum || most + ballot->pending < ballot->quorum;
}

static dlock_status quorum_locked(dlock_backend *base, const char *resource, size_t len, bool *locked, dlock_error *error)
{
	quorum_backend *backend = (quorum_backend *) base;
	dlock_conn *conns[DLOCK_MOST_SERVERS];
	dlock_ballot votes;

	begin(&votes, backend, read_holder);
	for (int i = 0; i < backend->count; i++) {
		conns[i] = backend->members[i].conn;
		dlock_ballot_ask(&votes, i, dlock_call_holder(dlock_key_builder_keys(backend->keys, resource, len)));
	}
	dlock_exchange(conns, backend->count, DLOCK_FOREVER, is_holder_known, &votes);
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
	const quorum_backend *backend = backend_of(claim);
	dlock_server *servers[DLOCK_MOST_SERVERS];

	for (int i = 0; i < backend->count; i++) {
		servers[i] = backend->members[i].conn->server;
	}
	return dlock_redis_round_new(base, servers, backend->count, backend->quorum, claim_keys(claim).lock);
}

static bool is_member(const quorum_backend *backend, const dlock_server *server)
{
	for (int i = 0; i < backend->count; i++) {
		if (dlock_server_is_same(backend->members[i].conn->server, server)) {
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

	if (ours->count != other->count || !dlock_is_same_key(ours->keys, claim, other->keys, resource, len)) {
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
	call_off_stragglers((quorum_claim *) claim);
}

static void quorum_destroy(dlock_backend *base)
{
	free(((quorum_backend *) base)->keys);
	free(base);
}

static const dlock_backend_ops quorum_ops = {
	.name = "quorum",
	.claim_size = sizeof(quorum_claim),
	.detachable = true,
	.refuse = quorum_refuse,
	.acquire = quorum_acquire,
	.attach = quorum_attach,
	.extend = quorum_extend,
	.check = quorum_check,
	.release = quorum_release,
	.abandon = quorum_abandon,
	.new_round = quorum_new_round,
	.is_same = quorum_is_same,
	.locked = quorum_locked,
	.dispose = quorum_dispose,
	.destroy = quorum_destroy,
};

dlock_backend *dlock_quorum_new(dlock_pool *pool, dlock_server **servers, int count, dlock_nanos guard, const char *prefix,
	size_t prefix_len)
{
	quorum_backend *backend = calloc(1, sizeof *backend + (size_t) count * sizeof *backend->members);

	if (!backend) {
		return NULL;
	}
	dlock_backend_init(&backend->base, &quorum_ops);
	backend->count = count;
	backend->guard = guard;
	backend->quorum = count / 2 + 1;
	backend->keys = dlock_key_builder_new(prefix, prefix_len, DLOCK_RESOURCE_MAX);
	bool good = backend->keys != NULL;
	for (int i = 0; good && i < count; i++) {
		backend->members[i].conn = dlock_pool_conn(pool, servers[i]);
		backend->inboxes[i] = dlock_pool_inbox(pool, servers[i]);
		good = backend->members[i].conn && backend->inboxes[i];
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
