#include "../redis/exchange.h"
#include "guard.h"
#include "redis.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* A majority of independent Redis servers, by the Redlock algorithm
 * (https://redis.io/docs/latest/develop/use/patterns/distributed-locks/), with all servers asked at once. */

typedef struct {
	dlock_conn *conn; /* the pool's */
	bool failed;
	dlock_error error; /* why, if it failed in the last operation */
} member;

typedef struct {
	dlock_engine base;
	dlock_keyring *keys;
	dlock_inbox *inboxes[DLOCK_MOST_SERVERS]; /* the pool's; not connected before somebody waits */
	int64_t highest_token; /* the largest fencing token seen */
	dlock_nanos guard; /* the least age of a server that votes; 0: any */
	int count, quorum;
	member members[];
} quorum_engine;

typedef struct {
	dlock_claim base;
	unsigned attempts;
	dlock_nanos look; /* when to try again without having been told */
	uint64_t asked;   /* the servers that may have the lock, one bit each */
	uint64_t queued;  /* the servers in whose queues it may be */
	uint64_t placed;  /* those of them that said that it is */
	uint64_t told;    /* the servers that said that it is its turn */
	/* The token changes with each attempt; in the queues the claim has one name and one ticket, the same everywhere. */
	char waiter[DLOCK_TOKEN_MAX + 1];
	int64_t ticket;
	/* Acquires that were not answered when the quorum was reached. They may still be answered with yes, which makes the
	 * lock safer; before a release they are called off, so that none is sent again behind it. */
	dlock_call *stragglers[DLOCK_MOST_SERVERS];
} quorum_claim;

static quorum_engine *engine_of(const quorum_claim *claim)
{
	return (quorum_engine *) claim->base.engine;
}

static dlock_keys claim_keys(const quorum_claim *claim)
{
	return dlock_keyring_keys(engine_of(claim)->keys, claim->base.resource, claim->base.resource_len);
}

static bool is_asked(const quorum_claim *claim, int server)
{
	return claim->asked >> server & 1;
}

/* ---- one question to many servers ---- */

/* VOTE_VOID: a yes that does not count, since the server may have forgotten what it said before; see guard.h. */
typedef enum { VOTE_PENDING, VOTE_YES, VOTE_NO, VOTE_NONE, VOTE_VOID } vote;

typedef struct {
	quorum_engine *engine;
	/* 1: yes, 0: no, -1: no vote, with the reason */
	int (*read)(const dlock_call *call, const dlock_conn *conn, dlock_answer *answer, dlock_error *error);
	dlock_call *calls[DLOCK_MOST_SERVERS]; /* NULL: not asked */
	vote votes[DLOCK_MOST_SERVERS];
	dlock_answer answers[DLOCK_MOST_SERVERS];
	int pending, yes, no;
	int absent; /* of the no: not asked, since they cannot have it */
	dlock_guard guard;
	int young; /* void votes that will count some day */
	dlock_nanos of_age[DLOCK_MOST_SERVERS]; /* of a void vote: when it would count */
} ballot;

/* Yes is more than 0; where it is a time, it stands in answer->pttl. */
static int read_integer(const dlock_call *call, const dlock_conn *conn, dlock_answer *answer, dlock_error *error)
{
	answer->pttl = dlock_call_integer(call, conn, error);
	return answer->pttl < 0 ? -1 : answer->pttl > 0;
}

static void begin(ballot *ballot, quorum_engine *engine,
	int (*read)(const dlock_call *, const dlock_conn *, dlock_answer *, dlock_error *))
{
	ballot->engine = engine;
	ballot->read = read;
	ballot->pending = ballot->yes = ballot->no = ballot->absent = ballot->young = 0;
	dlock_guard_begin(&ballot->guard, 0, 0);
	for (int i = 0; i < engine->count; i++) {
		ballot->calls[i] = NULL;
		ballot->votes[i] = VOTE_NONE;
	}
}

static void ask(ballot *ballot, int server, dlock_call *call)
{
	ballot->calls[server] = call;
	ballot->votes[server] = VOTE_PENDING;
	ballot->pending++;
	ballot->engine->members[server].failed = false;
	if (call) {
		dlock_conn_send(ballot->engine->members[server].conn, call);
	}
}

static void count_vote(ballot *ballot, int server)
{
	member *member = &ballot->engine->members[server];
	int opinion = ballot->read(ballot->calls[server], member->conn, &ballot->answers[server], &member->error);

	dlock_nanos of_age = dlock_guard_note(&ballot->guard, ballot->calls[server]);

	ballot->pending--;
	if (opinion > 0 && ballot->guard.begun < of_age) {
		dlock_guard_explain(&ballot->guard, of_age, member->conn, &member->error);
		member->failed = true;
		ballot->young += of_age != DLOCK_FOREVER;
		ballot->of_age[server] = of_age;
		ballot->votes[server] = VOTE_VOID;
		return;
	}
	member->failed = opinion < 0;
	ballot->yes += opinion > 0;
	ballot->no += opinion == 0;
	ballot->votes[server] = opinion < 0 ? VOTE_NONE : opinion > 0 ? VOTE_YES : VOTE_NO;
}

/* May it turn out that all servers are new, so that all have a vote? */
static bool may_be_new_set(const ballot *ballot)
{
	return ballot->young > 0 && ballot->yes + ballot->young + ballot->pending >= ballot->engine->quorum
		&& dlock_guard_is_new_set(&ballot->guard, ballot->engine->count - ballot->pending);
}

static void admit_young(ballot *ballot)
{
	for (int i = 0; i < ballot->engine->count; i++) {
		if (ballot->votes[i] == VOTE_VOID) {
			ballot->votes[i] = VOTE_YES;
			ballot->engine->members[i].failed = false;
		}
	}
	ballot->yes += ballot->young;
	ballot->young = 0;
}

/* Decided when a quorum said yes, or when it no longer can. */
static bool is_decided(void *context)
{
	ballot *ballot = context;
	int quorum = ballot->engine->quorum;

	for (int i = 0; i < ballot->engine->count; i++) {
		if (ballot->votes[i] == VOTE_PENDING && (!ballot->calls[i] || ballot->calls[i]->state != DLOCK_CALL_PENDING)) {
			count_vote(ballot, i);
		}
	}
	if (ballot->yes < quorum && may_be_new_set(ballot)) {
		if (ballot->pending > 0) {
			return false;
		}
		admit_young(ballot);
	}
	return ballot->yes >= quorum || ballot->yes + ballot->pending < quorum;
}

/* Drives it until it is decided, or `until` has come; then what is still open counts as no vote. */
static void hold(ballot *ballot, dlock_nanos until)
{
	dlock_conn *conns[DLOCK_MOST_SERVERS];

	for (int i = 0; i < ballot->engine->count; i++) {
		conns[i] = ballot->calls[i] ? ballot->engine->members[i].conn : NULL;
	}
	dlock_exchange(conns, ballot->engine->count, until, is_decided, ballot);
	if (!is_decided(ballot)) {
		for (int i = 0; i < ballot->engine->count; i++) {
			if (ballot->votes[i] == VOTE_PENDING) {
				count_vote(ballot, i);
			}
		}
	}
}

/* What the servers that answer at all need at most from the vote that decided to the last. */
#define REST_OF_VOTES (20 * DLOCK_MS)

static bool is_complete(void *context)
{
	is_decided(context); /* counts the votes */
	return ((ballot *) context)->pending == 0;
}

/* Waits a moment for the votes that can change nothing any more. */
static void hear_out(ballot *ballot)
{
	dlock_conn *conns[DLOCK_MOST_SERVERS];

	for (int i = 0; i < ballot->engine->count; i++) {
		conns[i] = ballot->votes[i] == VOTE_PENDING ? ballot->engine->members[i].conn : NULL;
	}
	dlock_exchange(conns, ballot->engine->count, dlock_now() + REST_OF_VOTES, is_complete, ballot);
}

/* Lets go of the calls. What is not answered yet goes on by itself. */
static void end(ballot *ballot)
{
	for (int i = 0; i < ballot->engine->count; i++) {
		dlock_call_release(ballot->calls[i]);
	}
}

static dlock_status no_quorum(const ballot *ballot, dlock_error *error)
{
	const quorum_engine *engine = ballot->engine;

	bool voids = false;
	for (int i = 0; i < engine->count; i++) {
		voids |= ballot->votes[i] == VOTE_VOID;
	}
	dlock_fail(error, DLOCK_QUORUM, "%d of %d servers answered%s, %d are needed", ballot->yes + ballot->no - ballot->absent,
		engine->count, voids ? " and have a vote" : "", engine->quorum);
	for (int i = 0; i < engine->count; i++) {
		if (engine->members[i].failed) {
			dlock_append(error, "; %s", engine->members[i].error.message);
		}
	}
	return DLOCK_QUORUM;
}

/* Yes, no, or too few voices for either. */
static dlock_status outcome(const ballot *ballot, dlock_error *error)
{
	const quorum_engine *engine = ballot->engine;

	if (ballot->yes >= engine->quorum) {
		return DLOCK_OK;
	}
	if (ballot->no > engine->count - engine->quorum) {
		return dlock_fail(error, DLOCK_LOST, "%d of %d servers do not have the lock for this lease", ballot->no, engine->count);
	}
	return no_quorum(ballot, error);
}

/* ---- giving back ---- */

static void call_off_stragglers(quorum_claim *claim)
{
	for (int i = 0; i < engine_of(claim)->count; i++) {
		if (claim->stragglers[i]) {
			dlock_call_cancel(claim->stragglers[i]);
			dlock_call_release(claim->stragglers[i]);
			claim->stragglers[i] = NULL;
		}
	}
}

static void send_and_forget(const quorum_claim *claim, int server, dlock_call *call)
{
	if (call) {
		dlock_call_use_source(call); /* nobody may be there to hear that the server does not know the script */
		dlock_call_to_background(call, dlock_after(dlock_now(), claim->base.ttl));
		dlock_conn_send(engine_of(claim)->members[server].conn, call);
		dlock_call_release(call);
	}
}

/* Releases on every server that may have it, without waiting. A waiter that stays in the queues is not told of its own
 * release. */
static void roll_back(quorum_claim *claim)
{
	quorum_engine *engine = engine_of(claim);
	const char *waiter = claim->ticket ? claim->waiter : NULL;

	call_off_stragglers(claim);
	for (int i = 0; i < engine->count; i++) {
		if (is_asked(claim, i)) {
			send_and_forget(claim, i, dlock_call_give_back(claim_keys(claim), claim->base.token, false, waiter, false));
		}
	}
	claim->asked = 0;
}

/* Leaves the queues of the servers that are not in `except`, without waiting. */
static void leave(quorum_claim *claim, uint64_t except)
{
	quorum_engine *engine = engine_of(claim);

	for (int i = 0; i < engine->count; i++) {
		if ((claim->queued & ~except) >> i & 1) {
			send_and_forget(claim, i, dlock_call_leave(claim_keys(claim), claim->waiter, false));
		}
	}
	claim->queued = claim->placed = 0;
	claim->ticket = 0;
	if (claim->base.state == DLOCK_CLAIM_WAITING) {
		claim->base.state = DLOCK_CLAIM_NEW;
	}
}

static void quorum_abandon(dlock_claim *base)
{
	quorum_claim *claim = (quorum_claim *) base;

	if (base->renewed) {
		claim->asked = UINT64_MAX;
	}
	roll_back(claim);
	leave(claim, 0);
}

/* ---- acquire ---- */

/* One fencing token proposed to all servers: the clock, so that it rises over restarts of everything, but above
 * whatever this process has seen, so that it rises where the clock does not. */
static int64_t propose(const quorum_engine *engine)
{
	struct timespec now;

	timespec_get(&now, TIME_UTC);
	int64_t micros = (int64_t) now.tv_sec * 1000000 + now.tv_nsec / 1000;
	return micros > engine->highest_token ? micros : engine->highest_token + 1;
}

/* The votes carry the servers' fencing tokens. The largest is the lease's, once a quorum has no smaller one: any later
 * quorum shares a server with this one, and reads a larger token there. Servers behind are raised only where the lock is
 * still ours. Normally all agree and nothing is to be done. */
static bool settle_fencing_token(quorum_claim *claim, const ballot *votes, dlock_nanos until)
{
	quorum_engine *engine = engine_of(claim);
	int64_t token = 0;
	int agree = 0;

	for (int i = 0; i < engine->count; i++) {
		if (votes->votes[i] == VOTE_YES && votes->answers[i].fencing_token > token) {
			token = votes->answers[i].fencing_token;
		}
	}
	claim->base.fencing_token = token;
	if (token > engine->highest_token) {
		engine->highest_token = token;
	}
	for (int i = 0; i < engine->count; i++) {
		agree += votes->votes[i] == VOTE_YES && votes->answers[i].fencing_token == token;
	}
	if (agree >= engine->quorum) {
		return true;
	}
	ballot raise;
	begin(&raise, engine, read_integer);
	for (int i = 0; i < engine->count; i++) {
		if (votes->votes[i] == VOTE_YES) {
			ask(&raise, i, dlock_call_raise(claim_keys(claim), claim->base.token, token));
		}
	}
	hold(&raise, until);
	end(&raise);
	return raise.yes >= engine->quorum;
}

/* Asks all servers, and with `queue` queues where one refuses. Remembers which may have the lock now. */
static void collect_votes(quorum_claim *claim, bool queue, ballot *votes, dlock_nanos until)
{
	quorum_engine *engine = engine_of(claim);
	dlock_request request = { .token = claim->base.token, .ttl = claim->base.ttl, .least_fencing_token = propose(engine),
		.grant = false, .waiter = claim->waiter, .ticket = claim->ticket };

	begin(votes, engine, dlock_call_acquired);
	dlock_guard_begin(&votes->guard, engine->guard, claim->base.ttl);
	for (int i = 0; i < engine->count; i++) {
		member *member = &engine->members[i];
		if (dlock_conn_stuck(member->conn)) {
			member->failed = true;
			member->error = member->conn->error;
		} else {
			request.inbox = queue && dlock_inbox_is_open(engine->inboxes[i]) ? engine->inboxes[i] : NULL;
			dlock_call *call = dlock_call_acquire(claim_keys(claim), &request);
			if (call) {
				call->needs_age = engine->guard > 0;
			}
			ask(votes, i, call);
		}
	}
	hold(votes, until);
	/* Refused, and there is time: every server that is not waited for now would have to be told that its answer is not
	 * wanted any more. For a waiter's looks that would be as much again as the looks themselves. */
	if (queue && votes->yes == 0) {
		hear_out(votes);
	}
	for (int i = 0; i < engine->count; i++) {
		dlock_call *call = votes->calls[i];
		uint64_t server = UINT64_C(1) << i;
		if (votes->votes[i] == VOTE_YES || votes->votes[i] == VOTE_VOID) {
			/* Who has the lock waits no longer, even if it is to be rolled back. */
			claim->queued &= ~server;
			claim->placed &= ~server;
		} else if (queue && call && dlock_inbox_is_open(engine->inboxes[i])
				&& (call->sent || call->state == DLOCK_CALL_PENDING)) {
			claim->queued |= server;
			if (votes->votes[i] == VOTE_NO && claim->placed & server && votes->answers[i].new_in_queue) {
				/* It is not any more: the server found nobody at the inbox, whatever it looks like here. */
				dlock_inbox_distrust(engine->inboxes[i]);
				claim->placed &= ~server;
			} else if (votes->votes[i] == VOTE_NO) {
				claim->placed |= server;
			}
		}
		if (votes->votes[i] != VOTE_NO && dlock_call_may_count(call)) {
			claim->asked |= UINT64_C(1) << i;
		}
		if (call && call->state == DLOCK_CALL_PENDING) {
			claim->stragglers[i] = dlock_call_retain(call);
		}
	}
	end(votes);
}

static uint64_t voters(const ballot *votes, vote vote)
{
	uint64_t bits = 0;

	for (int i = 0; i < votes->engine->count; i++) {
		bits |= (uint64_t) (votes->votes[i] == vote) << i;
	}
	return bits;
}

/* A server that is there but was not logged in to when the others had voted should get the lock too; this happens with a
 * new connection only. */
#define LOGIN_TIME (10 * DLOCK_MS)

static bool has_logged_in(void *context)
{
	const quorum_claim *claim = context;

	for (int i = 0; i < engine_of(claim)->count; i++) {
		if (claim->stragglers[i] && engine_of(claim)->members[i].conn->state == DLOCK_CONN_GREETING) {
			return false;
		}
	}
	return true;
}

static void log_in_stragglers(quorum_claim *claim)
{
	quorum_engine *engine = engine_of(claim);
	dlock_conn *conns[DLOCK_MOST_SERVERS];

	if (!has_logged_in(claim)) {
		for (int i = 0; i < engine->count; i++) {
			conns[i] = claim->stragglers[i] ? engine->members[i].conn : NULL;
		}
		dlock_exchange(conns, engine->count, dlock_now() + LOGIN_TIME, has_logged_in, claim);
	}
}

/* DLOCK_TIMEOUT: a quorum has answered, but not with yes. */
static dlock_status attempt(quorum_claim *claim, bool queue, ballot *votes, dlock_error *error)
{
	dlock_claim *base = &claim->base;
	quorum_engine *engine = engine_of(claim);
	dlock_nanos deadline = dlock_now() + base->ttl - dlock_drift(base->ttl);

	if (queue && claim->ticket == 0) {
		strcpy(claim->waiter, base->token);
		claim->ticket = propose(engine);
	}
	uint64_t told = claim->told;
	claim->told = 0;
	collect_votes(claim, queue, votes, deadline);
	if (votes->yes >= engine->quorum && settle_fencing_token(claim, votes, deadline) && dlock_now() < deadline) {
		/* What a server without a vote has locked stays locked: it keeps others out of there, and is released with the rest. */
		leave(claim, voters(votes, VOTE_YES));
		log_in_stragglers(claim);
		base->deadline = deadline;
		base->state = DLOCK_CLAIM_HELD;
		base->received = told > 0;
		return DLOCK_OK;
	}
	roll_back(claim);
	if (claim->ticket) {
		base->state = DLOCK_CLAIM_WAITING;
	}
	/* Should a release be late, on a connection given up meanwhile, it must not hit the next attempt. */
	if (!dlock_token(base->token)) {
		return dlock_fail(error, DLOCK_FAILED, "The system gave no random bytes for a token");
	}
	return votes->yes + votes->no + votes->pending < engine->quorum ? no_quorum(votes, error) : DLOCK_TIMEOUT;
}

static int by_pttl(const void *a, const void *b)
{
	int64_t x = ((const dlock_answer *) a)->pttl, y = ((const dlock_answer *) b)->pttl;

	return (x > y) - (x < y);
}

/* When so many of the refusing servers may be free that there can be a quorum. */
static dlock_nanos next_look(ballot *votes)
{
	dlock_answer refusals[DLOCK_MOST_SERVERS], unknown = { .pttl = -1 };
	int count = 0, missing = votes->engine->quorum - votes->yes;

	for (int i = 0; i < votes->engine->count; i++) {
		if (votes->votes[i] == VOTE_NO) {
			refusals[count++] = votes->answers[i];
		}
	}
	if (missing < 1 || missing > count) {
		return dlock_next_look(&unknown);
	}
	qsort(refusals, (size_t) count, sizeof *refusals, by_pttl);
	return dlock_next_look(&refusals[missing - 1]);
}

/* When the next server that said yes comes of age. */
static dlock_nanos next_of_age(const ballot *votes)
{
	dlock_nanos next = DLOCK_FOREVER;

	for (int i = 0; i < votes->engine->count; i++) {
		if (votes->votes[i] == VOTE_VOID && votes->of_age[i] < next) {
			next = votes->of_age[i];
		}
	}
	return next;
}

/* Would there be enough voices, once the young servers are of age? */
static bool lacks_only_age(const ballot *votes)
{
	return votes->yes + votes->no + votes->pending + votes->young >= votes->engine->quorum;
}

/* Once one server has said that it is the claim's turn, the others of a quorum follow within a round trip or never. */
#define TOLD_TOGETHER (10 * DLOCK_MS)

static int open_inboxes(const quorum_engine *engine)
{
	int open = 0;

	for (int i = 0; i < engine->count; i++) {
		open += dlock_inbox_is_open(engine->inboxes[i]);
	}
	return open;
}

/* Sleeps until a quorum has said that it is the claim's turn, or it is time to look. */
static int wait_for_turn(quorum_claim *claim, const dlock_wait *wait)
{
	quorum_engine *engine = engine_of(claim);
	dlock_grant grant;
	int open = open_inboxes(engine);
	dlock_nanos until = claim->look < wait->deadline ? claim->look : wait->deadline;

	for (;;) {
		bool first = claim->told == 0;
		int told = 0;
		for (int i = 0; i < engine->count; i++) {
			claim->told |= (uint64_t) dlock_inbox_take(engine->inboxes[i], claim->waiter, &grant) << i;
			told += claim->told >> i & 1;
		}
		/* A server that could not be waited on before can be now: the next attempt queues there too. */
		if (told >= engine->quorum || (open_inboxes(engine) != open && !wait->attempts)) {
			return DLOCK_WAIT_TIME;
		}
		if (first && told > 0 && dlock_after(dlock_now(), TOLD_TOGETHER) < until) {
			until = dlock_after(dlock_now(), TOLD_TOGETHER);
		}
		int woken = dlock_inboxes_wait(engine->inboxes, engine->count, until, wait);
		if (woken <= 0) {
			return woken;
		}
	}
}

static dlock_status quorum_acquire(dlock_claim *base, const dlock_wait *wait, dlock_error *error)
{
	quorum_claim *claim = (quorum_claim *) base;
	quorum_engine *engine = engine_of(claim);
	ballot votes;

	for (;;) {
		bool last = (wait->deadline != DLOCK_FOREVER && dlock_now() >= wait->deadline)
			|| (wait->attempts && claim->attempts + 1 >= wait->attempts);
		if (base->waited && !last) {
			dlock_inboxes_open(engine->inboxes, engine->count, engine->quorum);
		}
		dlock_status status = attempt(claim, base->waited && !last, &votes, error);
		claim->attempts++;
		if (status == DLOCK_OK) {
			return status;
		}
		/* Where attempts are counted, no quorum is a failed attempt like any other. */
		bool again = status == DLOCK_TIMEOUT || (status == DLOCK_QUORUM && (wait->attempts || lacks_only_age(&votes)));
		if (last || !again) {
			leave(claim, 0);
			return status;
		}
		claim->look = wait->attempts ? dlock_now() + wait->pause / 2 + dlock_jitter((uint32_t) (wait->pause / 2 / DLOCK_US)) * DLOCK_US
			: next_look(&votes);
		if (!wait->attempts && next_of_age(&votes) < claim->look) {
			claim->look = next_of_age(&votes);
		}
		/* The first time: queue at once, by another attempt, unless attempts are counted. */
		bool pause = base->waited || wait->attempts;
		base->waited = true;
		if (pause && wait_for_turn(claim, wait) == DLOCK_WAIT_INTERRUPTED) {
			return DLOCK_INTERRUPTED;
		}
	}
}

/* ---- while it is held ---- */

static dlock_call *make_give_back(const quorum_claim *claim, dlock_nanos ttl);

static void ask_holders(ballot *ballot, quorum_claim *claim, dlock_call *(*make)(const quorum_claim *claim, dlock_nanos ttl),
	dlock_nanos ttl)
{
	quorum_engine *engine = engine_of(claim);

	if (claim->asked == 0) { /* acquired elsewhere: any server may have it */
		claim->asked = UINT64_MAX;
	}
	begin(ballot, engine, read_integer);
	for (int i = 0; i < engine->count; i++) {
		if (is_asked(claim, i)) {
			dlock_call *call = make(claim, ttl);
			dlock_conn *conn = engine->members[i].conn;
			/* Nobody may be there any more to hear from a late server that it does not know the script. */
			if (call && make == make_give_back && conn->taught != conn->opened) {
				dlock_call_use_source(call);
				conn->taught = conn->opened;
			}
			ask(ballot, i, call);
		} else {
			ballot->votes[i] = VOTE_NO;
			ballot->no++;
			ballot->absent++;
		}
	}
	hold(ballot, DLOCK_FOREVER);
	/* What is not answered goes on in the background: a release must reach a server that is late, too. */
	for (int i = 0; i < engine->count; i++) {
		if (ballot->calls[i] && ballot->calls[i]->state == DLOCK_CALL_PENDING) {
			dlock_call_to_background(ballot->calls[i], dlock_after(dlock_now(), claim->base.ttl));
		}
	}
	end(ballot);
}

static dlock_call *make_extend(const quorum_claim *claim, dlock_nanos ttl)
{
	return dlock_call_extend(claim_keys(claim), claim->base.token, ttl);
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

static dlock_status quorum_extend(dlock_claim *base, dlock_nanos ttl, dlock_error *error)
{
	quorum_claim *claim = (quorum_claim *) base;
	dlock_nanos deadline = dlock_now() + ttl - dlock_drift(ttl);
	ballot votes;

	ask_holders(&votes, claim, make_extend, ttl);
	dlock_status status = outcome(&votes, error);
	if (status == DLOCK_OK) {
		base->ttl = ttl;
		base->deadline = deadline;
		base->state = DLOCK_CLAIM_HELD;
	} else if (deadline < base->deadline) {
		base->deadline = deadline; /* some servers may have taken the shorter lease */
	}
	return status;
}

static int descending(const void *a, const void *b)
{
	int64_t x = *(const int64_t *) a, y = *(const int64_t *) b;

	return (x < y) - (x > y);
}

static dlock_status quorum_check(dlock_claim *base, dlock_error *error)
{
	quorum_claim *claim = (quorum_claim *) base;
	quorum_engine *engine = engine_of(claim);
	dlock_nanos start = dlock_now();
	int64_t left[DLOCK_MOST_SERVERS];
	int holders = 0;
	ballot votes;

	ask_holders(&votes, claim, make_check, 0);
	dlock_status status = outcome(&votes, error);
	if (status != DLOCK_OK) {
		return status;
	}
	for (int i = 0; i < engine->count; i++) {
		if (votes.votes[i] == VOTE_YES) {
			left[holders++] = votes.answers[i].pttl;
		}
	}
	/* The lease lasts as long as a quorum of the keys do. */
	qsort(left, (size_t) holders, sizeof *left, descending);
	dlock_nanos ttl = left[engine->quorum - 1] * DLOCK_MS;
	base->deadline = start + ttl - dlock_drift(ttl);
	base->state = DLOCK_CLAIM_HELD;
	return DLOCK_OK;
}

static dlock_status quorum_release(dlock_claim *base, dlock_error *error)
{
	quorum_claim *claim = (quorum_claim *) base;
	ballot votes;

	call_off_stragglers(claim);
	if (base->renewed) {
		claim->asked = UINT64_MAX;
	}
	ask_holders(&votes, claim, make_give_back, 0);
	dlock_status status = outcome(&votes, error);
	for (int i = 0; i < votes.engine->count; i++) {
		base->handed_over |= votes.votes[i] == VOTE_YES && votes.answers[i].pttl > 1;
	}
	if (status == DLOCK_QUORUM) {
		roll_back(claim);
	}
	claim->asked = 0;
	return status;
}

/* ---- is it locked? ---- */

/* How many servers have the key for one and the same holder, as far as they have answered? */
static int most_for_one_holder(const ballot *ballot)
{
	int most = 0;

	for (int i = 0; i < ballot->engine->count; i++) {
		int same = 0;
		for (int k = 0; ballot->votes[i] == VOTE_YES && k < ballot->engine->count; k++) {
			const redisReply *a = ballot->calls[i]->reply, *b = ballot->votes[k] == VOTE_YES ? ballot->calls[k]->reply : NULL;
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
	ballot *ballot = context;

	is_decided(ballot); /* counts the votes */
	int most = most_for_one_holder(ballot);
	return most >= ballot->engine->quorum || most + ballot->pending < ballot->engine->quorum;
}

static dlock_status quorum_locked(dlock_engine *base, const char *resource, size_t len, bool *locked, dlock_error *error)
{
	quorum_engine *engine = (quorum_engine *) base;
	dlock_conn *conns[DLOCK_MOST_SERVERS];
	ballot votes;

	begin(&votes, engine, read_holder);
	for (int i = 0; i < engine->count; i++) {
		conns[i] = engine->members[i].conn;
		ask(&votes, i, dlock_call_holder(dlock_keyring_keys(engine->keys, resource, len)));
	}
	dlock_exchange(conns, engine->count, DLOCK_FOREVER, is_holder_known, &votes);
	*locked = most_for_one_holder(&votes) >= engine->quorum;
	dlock_status status = *locked || votes.yes + votes.no + votes.pending >= engine->quorum ? DLOCK_OK : no_quorum(&votes, error);
	end(&votes);
	return status;
}

/* ---- the engine itself ---- */

static dlock_place quorum_place(const dlock_claim *base)
{
	const quorum_claim *claim = (const quorum_claim *) base;
	const quorum_engine *engine = engine_of(claim);
	dlock_place place = { .count = engine->count, .quorum = engine->quorum, .key = claim_keys(claim).lock };

	for (int i = 0; i < engine->count; i++) {
		place.servers[i] = engine->members[i].conn->server;
	}
	return place;
}

static bool is_member(const quorum_engine *engine, const dlock_server *server)
{
	for (int i = 0; i < engine->count; i++) {
		if (dlock_server_is_same(engine->members[i].conn->server, server)) {
			return true;
		}
	}
	return false;
}

static bool quorum_is_same(const dlock_claim *claim, dlock_engine *engine, const char *resource, size_t len)
{
	quorum_engine *ours = (quorum_engine *) claim->engine, *other = (quorum_engine *) engine;

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
	quorum_claim *own = (quorum_claim *) claim;

	for (int i = 0; i < engine_of(own)->count; i++) {
		dlock_call_release(own->stragglers[i]);
	}
}

static void quorum_destroy(dlock_engine *base)
{
	free(((quorum_engine *) base)->keys);
	free(base);
}

static const dlock_engine_ops quorum_ops = {
	.name = "quorum",
	.claim_size = sizeof(quorum_claim),
	.acquire = quorum_acquire,
	.extend = quorum_extend,
	.check = quorum_check,
	.release = quorum_release,
	.abandon = quorum_abandon,
	.place = quorum_place,
	.is_same = quorum_is_same,
	.locked = quorum_locked,
	.dispose = quorum_dispose,
	.destroy = quorum_destroy,
};

dlock_engine *dlock_quorum_new(dlock_pool *pool, dlock_server **servers, int count, dlock_nanos guard, const char *prefix,
	size_t prefix_len)
{
	quorum_engine *engine = calloc(1, sizeof *engine + (size_t) count * sizeof *engine->members);

	if (!engine) {
		return NULL;
	}
	dlock_engine_init(&engine->base, &quorum_ops);
	engine->count = count;
	engine->guard = guard;
	engine->quorum = count / 2 + 1;
	engine->keys = dlock_keyring_new(prefix, prefix_len, DLOCK_RESOURCE_MAX);
	bool good = engine->keys != NULL;
	for (int i = 0; good && i < count; i++) {
		engine->members[i].conn = dlock_pool_conn(pool, servers[i]);
		engine->inboxes[i] = dlock_pool_inbox(pool, servers[i]);
		good = engine->members[i].conn && engine->inboxes[i];
	}
	if (!good) {
		quorum_destroy(&engine->base);
		return NULL;
	}
	return &engine->base;
}

int dlock_quorum_servers(const dlock_engine *engine)
{
	return ((const quorum_engine *) engine)->count;
}

const char *dlock_quorum_server_label(const dlock_engine *engine, int server)
{
	return ((const quorum_engine *) engine)->members[server].conn->server->label;
}

const char *dlock_quorum_server_error(const dlock_engine *engine, int server)
{
	const member *member = &((const quorum_engine *) engine)->members[server];
	const char *label, *text;

	if (!member->failed) {
		return NULL;
	}
	/* The message begins with the server, which the caller shows already. */
	label = member->conn->server->label;
	text = strstr(member->error.message, label);
	return text && !strncmp(text + strlen(label), ": ", 2) ? text + strlen(label) + 2 : member->error.message;
}
