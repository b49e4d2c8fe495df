#include "../redis/exchange.h"
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
	int count, quorum;
	int64_t highest_token; /* the largest fencing token seen */
	size_t prefix_len;
	char *key; /* prefix, and behind it the resource of the moment */
	member members[];
} quorum_engine;

typedef struct {
	dlock_claim base;
	unsigned attempts;
	dlock_nanos retry_at;
	uint64_t asked; /* the servers that may have the lock, one bit each */
	/* Acquires that were not answered when the quorum was reached. They may still be answered with yes, which makes the
	 * lock safer; before a release they are called off, so that none is sent again behind it. */
	dlock_call *stragglers[DLOCK_MOST_SERVERS];
} quorum_claim;

static quorum_engine *engine_of(const quorum_claim *claim)
{
	return (quorum_engine *) claim->base.engine;
}

static dlock_key key_of(quorum_engine *engine, const char *resource, size_t len)
{
	memcpy(engine->key + engine->prefix_len, resource, len);
	return (dlock_key) { engine->key, engine->prefix_len + len };
}

static dlock_key claim_key(const quorum_claim *claim)
{
	return key_of(engine_of(claim), claim->base.resource, claim->base.resource_len);
}

static bool is_asked(const quorum_claim *claim, int server)
{
	return claim->asked >> server & 1;
}

/* ---- one question to many servers ---- */

typedef enum { VOTE_PENDING, VOTE_YES, VOTE_NO, VOTE_NONE } vote;

typedef struct {
	quorum_engine *engine;
	/* 1: yes, 0: no, -1: no vote, with the reason */
	int (*read)(const dlock_call *call, const dlock_conn *conn, int64_t *detail, dlock_error *error);
	dlock_call *calls[DLOCK_MOST_SERVERS]; /* NULL: not asked */
	vote votes[DLOCK_MOST_SERVERS];
	int64_t details[DLOCK_MOST_SERVERS];
	int pending, yes, no;
	int absent; /* of the no: not asked, since they cannot have it */
} ballot;

static int read_integer(const dlock_call *call, const dlock_conn *conn, int64_t *detail, dlock_error *error)
{
	*detail = dlock_call_integer(call, conn, error);
	return *detail < 0 ? -1 : *detail > 0;
}

static void begin(ballot *ballot, quorum_engine *engine,
	int (*read)(const dlock_call *, const dlock_conn *, int64_t *, dlock_error *))
{
	ballot->engine = engine;
	ballot->read = read;
	ballot->pending = ballot->yes = ballot->no = ballot->absent = 0;
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
	int opinion = ballot->read(ballot->calls[server], member->conn, &ballot->details[server], &member->error);

	ballot->pending--;
	member->failed = opinion < 0;
	ballot->yes += opinion > 0;
	ballot->no += opinion == 0;
	ballot->votes[server] = opinion < 0 ? VOTE_NONE : opinion > 0 ? VOTE_YES : VOTE_NO;
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

	dlock_fail(error, DLOCK_QUORUM, "%d of %d servers answered, %d are needed", ballot->yes + ballot->no - ballot->absent,
		engine->count, engine->quorum);
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

/* Releases on every server that may have it, without waiting. */
static void give_back(quorum_claim *claim)
{
	quorum_engine *engine = engine_of(claim);

	call_off_stragglers(claim);
	for (int i = 0; i < engine->count; i++) {
		dlock_call *call = is_asked(claim, i) ? dlock_call_give_back(claim_key(claim), claim->base.token) : NULL;
		if (call) {
			dlock_call_use_source(call); /* nobody may be there to hear that the server does not know the script */
			dlock_call_to_background(call, dlock_after(dlock_now(), claim->base.ttl));
			dlock_conn_send(engine->members[i].conn, call);
			dlock_call_release(call);
		}
	}
	claim->asked = 0;
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
		if (votes->votes[i] == VOTE_YES && votes->details[i] > token) {
			token = votes->details[i];
		}
	}
	claim->base.fencing_token = token;
	if (token > engine->highest_token) {
		engine->highest_token = token;
	}
	for (int i = 0; i < engine->count; i++) {
		agree += votes->votes[i] == VOTE_YES && votes->details[i] == token;
	}
	if (agree >= engine->quorum) {
		return true;
	}
	ballot raise;
	begin(&raise, engine, read_integer);
	for (int i = 0; i < engine->count; i++) {
		if (votes->votes[i] == VOTE_YES) {
			ask(&raise, i, dlock_call_raise(claim_key(claim), claim->base.token, token));
		}
	}
	hold(&raise, until);
	end(&raise);
	return raise.yes >= engine->quorum;
}

/* Asks all servers. Remembers which may have the lock now, and for how long the others have it for someone else. */
static void collect_votes(quorum_claim *claim, ballot *votes, dlock_nanos until, int64_t *pttl)
{
	quorum_engine *engine = engine_of(claim);
	int64_t proposal = propose(engine);

	begin(votes, engine, dlock_call_acquired);
	for (int i = 0; i < engine->count; i++) {
		member *member = &engine->members[i];
		if (dlock_conn_stuck(member->conn)) {
			member->failed = true;
			member->error = member->conn->error;
		} else {
			ask(votes, i, dlock_call_acquire(claim_key(claim), claim->base.token, claim->base.ttl, proposal));
		}
	}
	hold(votes, until);
	*pttl = -1;
	for (int i = 0; i < engine->count; i++) {
		dlock_call *call = votes->calls[i];
		if (call && votes->votes[i] != VOTE_NO && (call->sent || call->state == DLOCK_CALL_PENDING)) {
			claim->asked |= UINT64_C(1) << i;
		}
		if (call && call->state == DLOCK_CALL_PENDING) {
			claim->stragglers[i] = dlock_call_retain(call);
		}
		if (votes->votes[i] == VOTE_NO && (*pttl < 0 || votes->details[i] < *pttl)) {
			*pttl = votes->details[i];
		}
	}
	end(votes);
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
static dlock_status attempt(quorum_claim *claim, int64_t *pttl, dlock_error *error)
{
	dlock_claim *base = &claim->base;
	quorum_engine *engine = engine_of(claim);
	ballot votes;
	dlock_nanos deadline = dlock_now() + base->ttl - dlock_drift(base->ttl);

	collect_votes(claim, &votes, deadline, pttl);
	if (votes.yes >= engine->quorum && settle_fencing_token(claim, &votes, deadline) && dlock_now() < deadline) {
		log_in_stragglers(claim);
		base->deadline = deadline;
		base->state = DLOCK_CLAIM_HELD;
		return DLOCK_OK;
	}
	give_back(claim);
	/* Should a release be late, on a connection given up meanwhile, it must not hit the next attempt. */
	if (!dlock_token(base->token)) {
		return dlock_fail(error, DLOCK_FAILED, "The system gave no random bytes for a token");
	}
	return votes.yes + votes.no + votes.pending < engine->quorum ? no_quorum(&votes, error) : DLOCK_TIMEOUT;
}

static dlock_status quorum_acquire(dlock_claim *base, const dlock_wait *wait, dlock_error *error)
{
	quorum_claim *claim = (quorum_claim *) base;
	dlock_nanos longest = wait->pause > 0 ? wait->pause : 100 * DLOCK_MS;
	int64_t pttl;

	for (;;) {
		if (claim->retry_at && dlock_wait_poll(NULL, 0, claim->retry_at, wait) == DLOCK_WAIT_INTERRUPTED) {
			return DLOCK_INTERRUPTED;
		}
		bool last = dlock_now() >= wait->deadline || (wait->attempts && claim->attempts + 1 >= wait->attempts);
		dlock_status status = attempt(claim, &pttl, error);
		claim->attempts++;
		/* Where attempts are counted, no quorum is a failed attempt like any other. */
		if (last || (status != DLOCK_TIMEOUT && !(status == DLOCK_QUORUM && wait->attempts))) {
			return status;
		}
		base->waited = true;
		dlock_nanos pause = wait->attempts ? longest / 2 + dlock_jitter((uint32_t) (longest / 2 / DLOCK_US)) * DLOCK_US
			: dlock_backoff(claim->attempts - 1, longest, pttl);
		claim->retry_at = dlock_after(dlock_now(), pause);
		if (claim->retry_at > wait->deadline) {
			claim->retry_at = wait->deadline;
		}
	}
}

/* ---- while it is held ---- */

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
			ask(ballot, i, make(claim, ttl));
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
	return dlock_call_extend(claim_key(claim), claim->base.token, ttl);
}

static dlock_call *make_check(const quorum_claim *claim, dlock_nanos ttl)
{
	(void) ttl;
	return dlock_call_check(claim_key(claim), claim->base.token);
}

static dlock_call *make_give_back(const quorum_claim *claim, dlock_nanos ttl)
{
	(void) ttl;
	return dlock_call_give_back(claim_key(claim), claim->base.token);
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
			left[holders++] = votes.details[i];
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
	ask_holders(&votes, claim, make_give_back, 0);
	dlock_status status = outcome(&votes, error);
	if (status == DLOCK_QUORUM) {
		give_back(claim);
	}
	claim->asked = 0;
	return status;
}

static void quorum_abandon(dlock_claim *base)
{
	give_back((quorum_claim *) base);
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

static int read_holder(const dlock_call *call, const dlock_conn *conn, int64_t *detail, dlock_error *error)
{
	if (!call || call->state != DLOCK_CALL_ANSWERED || call->reply->type == REDIS_REPLY_ERROR) {
		*detail = dlock_call_integer(call, conn, error);
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
		ask(&votes, i, dlock_call_holder(key_of(engine, resource, len)));
	}
	dlock_exchange(conns, engine->count, DLOCK_FOREVER, is_holder_known, &votes);
	*locked = most_for_one_holder(&votes) >= engine->quorum;
	dlock_status status = *locked || votes.yes + votes.no + votes.pending >= engine->quorum ? DLOCK_OK : no_quorum(&votes, error);
	end(&votes);
	return status;
}

/* ---- the engine itself ---- */

static void quorum_dispose(dlock_claim *claim)
{
	quorum_claim *own = (quorum_claim *) claim;

	for (int i = 0; i < engine_of(own)->count; i++) {
		dlock_call_release(own->stragglers[i]);
	}
}

static void quorum_destroy(dlock_engine *base)
{
	free(((quorum_engine *) base)->key);
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
	.locked = quorum_locked,
	.dispose = quorum_dispose,
	.destroy = quorum_destroy,
};

dlock_engine *dlock_quorum_new(dlock_pool *pool, dlock_server **servers, int count, const char *prefix, size_t prefix_len)
{
	quorum_engine *engine = calloc(1, sizeof *engine + (size_t) count * sizeof *engine->members);

	if (!engine) {
		return NULL;
	}
	dlock_engine_init(&engine->base, &quorum_ops);
	engine->count = count;
	engine->quorum = count / 2 + 1;
	engine->prefix_len = prefix_len;
	engine->key = malloc(prefix_len + DLOCK_RESOURCE_MAX);
	bool good = engine->key != NULL;
	for (int i = 0; good && i < count; i++) {
		engine->members[i].conn = dlock_pool_conn(pool, servers[i]);
		good = engine->members[i].conn != NULL;
	}
	if (!good) {
		quorum_destroy(&engine->base);
		return NULL;
	}
	memcpy(engine->key, prefix, prefix_len);
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
