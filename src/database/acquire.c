#include <stdlib.h>
#include <string.h>

#include "lock.h"

/* How a client acquires a lock: by one request at first, then by requests from within the queue. There the waiter
 * sleeps until the database tells it that it holds the lock, or that it must ask. It also asks as a sign of life, and
 * when the lease before its own should expire.
 *
 * PostgreSQL tells the waiter by a notification. In MySQL the call itself sleeps, over a session of the waiter's own,
 * and the server interrupts it. If a session breaks, the waiter opens it again and asks with the same token and ticket,
 * for as long as it waits. */

typedef struct dlock_db_waiter {
	dlock_task task;
	dlock_db_claim *claim;
	dlock_db_question question;
	dlock_db_listener listener;
	dlock_db_session *spare; /* the session in which it sleeps; NULL: none */
	dlock_nanos deadline;
	dlock_error *error;
	int64_t number;  /* of the last request */
	bool queue;      /* it is in the queue, or enters it with the next request */
	bool last;       /* this is the last attempt: the deadline has passed */
	bool may_have;   /* the database may have a row for it */
	bool unsure;     /* the database may have executed an earlier request with this token, or may do so later */
	bool trouble;    /* the last attempt failed, for a reason that may end soon */
	dlock_nanos trouble_since, refused_at, next;
	dlock_status said;
} waiter;

/* The interval of the signs of life. After 3 s without one, the functions consider a waiter dead. */
#define LOOK_AGAIN (2000 * DLOCK_MS)
#define LOOK_AGAIN_JITTER 500 /* ms */

/* The pause after an attempt that failed. */
#define PAUSE (50 * DLOCK_MS)
#define PAUSE_JITTER 50 /* ms */
#define LONGEST_TROUBLE (60 * DLOCK_SECOND)

/* The lease time of a lock that was handed over. */
#define GRANT_TTL (3 * DLOCK_SECOND)

/* A waiter accepts a lock that was handed over without asking if at least this much of the lease is left. */
#define GRANT_LEFT DLOCK_SECOND

/* The pause after an attempt that lasted longer than the lease. */
#define TRY_AGAIN (20 * DLOCK_MS)

static dlock_db_session *session_of(const waiter *own)
{
	return own->spare ? own->spare : dlock_db_backend_of(&own->claim->base)->session;
}

static dlock_nanos next_look(dlock_nanos now)
{
	return now + LOOK_AGAIN + dlock_jitter(LOOK_AGAIN_JITTER) * DLOCK_MS;
}

/* ---- an attempt ---- */

static void begin_attempt(waiter *own, dlock_nanos now)
{
	dlock_db_claim *claim = own->claim;
	dlock_db_call *call = dlock_db_claim_call(&claim->base, DLOCK_DB_ACQUIRE, claim->base.token);

	own->last = own->deadline != DLOCK_FOREVER && now >= own->deadline;
	own->listener.told = false;
	own->number++;
	if (call) {
		strcpy(call->other, own->queue && !own->last ? "inbox" : ""); /* a placeholder: the session knows its channel */
		call->numbers[0] = dlock_db_ms(claim->base.ttl);
		call->numbers[1] = dlock_db_ms(dlock_db_guard(&claim->base));
		call->numbers[2] = claim->ticket;
		call->numbers[3] = own->number;
		dlock_db_call_say(call, own->queue ? claim->base.description : NULL);
	}
	if (call && own->spare) {
		dlock_nanos until = next_look(now);
		until = dlock_earlier(until, own->deadline);
		call->sleeps = own->last ? 0 : until - now;
		call->numbers[3] = dlock_db_ms(call->sleeps);
	}
	dlock_db_question_begin(&own->question, session_of(own), call);
	own->may_have = true;
}

/* The database may execute the request after the release, so the waiter does not use that token again. */
static dlock_status begin_again(waiter *own, dlock_error *error)
{
	dlock_claim *claim = &own->claim->base;

	dlock_db_give_back(claim);
	own->may_have = own->unsure = own->claim->stray = false;
	dlock_claim_move(claim, DLOCK_CLAIM_NEW);
	return dlock_claim_renew_token(claim, error);
}

static void take_up(waiter *own)
{
	own->claim->ticket = 0;
	dlock_claim_move(&own->claim->base, DLOCK_CLAIM_HELD);
}

static void accept(waiter *own, dlock_nanos now)
{
	dlock_claim *claim = &own->claim->base;
	const dlock_db_call *call = own->question.call;

	claim->deadline = call->sent_at + claim->ttl - dlock_drift(claim->ttl);
	claim->received = claim->received || own->spare;
	if (now < claim->deadline) {
		claim->fencing_token = call->answer[0];
		take_up(own);
		return;
	}
	own->said = begin_again(own, own->error) == DLOCK_OK ? DLOCK_TIMEOUT : DLOCK_FAILED;
	own->next = now + TRY_AGAIN;
}

static void explain(waiter *own, const dlock_db_call *call)
{
	dlock_claim *claim = &own->claim->base;
	const dlock_db_session *session = session_of(own);

	claim->explained = call->answer[3] != DLOCK_DB_HELD;
	claim->guarded |= call->answer[3] == DLOCK_DB_UNSETTLED;
	if (call->answer[3] == DLOCK_DB_UNSETTLED) {
		dlock_fail(own->error, DLOCK_TIMEOUT,
			"%s at %s crashed or was replaced, and may have forgotten leases: no lock is granted for another %.1f s",
			session->client->name, session->base.server->label, (double) call->answer[1] / 1000);
	} else if (claim->explained) {
		dlock_fail(own->error, DLOCK_TIMEOUT,
			"The lock \"%s\" is free, but a transaction that relies on its last holder has not ended yet",
			dlock_claim_name(claim).text);
	}
}

static void take_refusal(waiter *own, dlock_nanos now)
{
	const dlock_db_call *call = own->question.call;
	dlock_nanos look = next_look(now), again = now + dlock_db_time(call->answer[1], DLOCK_MS);

	own->said = DLOCK_TIMEOUT;
	own->claim->ticket = own->queue && !own->last ? call->answer[2] : 0;
	own->may_have = own->claim->ticket > 0 || own->unsure;
	own->refused_at = own->question.first_sent_at;
	own->next = own->spare ? now : again > now && again < look ? again : look; /* the call itself has slept */
	explain(own, call);
}

static void take_attempt(waiter *own, dlock_nanos now)
{
	const dlock_db_call *call = own->question.call;
	bool may_end = call && (call->transient || own->claim->base.waited || session_of(own)->base.server->seed_count > 1);

	own->unsure |= dlock_db_question_may_run_later(&own->question);
	own->claim->stray |= own->question.lost;
	if (own->said == DLOCK_OK && call->answer[0] > 0) {
		accept(own, now);
	} else if (own->said == DLOCK_OK) {
		take_refusal(own, now);
	} else {
		dlock_db_question_explain(&own->question, own->error);
		own->may_have = own->claim->ticket > 0 || own->unsure;
		own->next = now + PAUSE + dlock_jitter(PAUSE_JITTER) * DLOCK_MS;
	}
	own->trouble = own->said == DLOCK_CONNECTION && may_end && (call->transient || !call->refused);
	own->trouble_since = !own->trouble ? 0 : own->trouble_since ? own->trouble_since : now;
}

/* If the server hangs, an attempt ends long after the deadline. Then another one would only make the wait longer. */
static bool ends(const waiter *own, dlock_nanos now)
{
	if (own->last || (own->said != DLOCK_TIMEOUT && (!own->trouble || now >= own->deadline))) {
		return true;
	}
	return own->trouble && own->deadline == DLOCK_FOREVER && now - own->trouble_since > LONGEST_TROUBLE;
}

/* ---- waiting ---- */

static void begin_queueing(waiter *own)
{
	const dlock_db_backend *backend = dlock_db_backend_of(&own->claim->base);

	own->listener.token = own->claim->base.token;
	if (!own->queue && backend->session->client->notifies) {
		dlock_db_listen(backend->session, &own->listener);
	} else if (!own->queue) {
		own->spare = dlock_db_session_spare(backend->pool, backend->session->base.server);
	}
	own->queue = true;
	dlock_claim_move(&own->claim->base, DLOCK_CLAIM_WAITING);
}

static bool is_to_queue_now(const waiter *own)
{
	return own->said == DLOCK_TIMEOUT && own->claim->ticket == 0 && own->claim->base.state == DLOCK_CLAIM_NEW;
}

static bool is_its_turn(const waiter *own, dlock_loop *loop, dlock_nanos now)
{
	dlock_loop_lend(loop);
	return (own->listener.told && !own->trouble)
		|| dlock_loop_is_time(loop, dlock_earlier(own->next, own->deadline), now);
}

/* If the notification names the last request, the lock was handed over after that request was refused. So the grant
 * lasts at least GRANT_TTL from the sending of that request, by this process's own clock. It does not matter how late
 * the waiter reads the notification. The renewal thread requests the full lease time: most holders release their lock
 * before that. */
static bool accept_grant(waiter *own, dlock_nanos now)
{
	dlock_claim *claim = &own->claim->base;
	const dlock_db_listener *listener = &own->listener;
	dlock_nanos deadline = own->refused_at + GRANT_TTL - dlock_drift(GRANT_TTL);

	if (!listener->told || listener->granted <= 0 || listener->number != own->number || claim->ttl < GRANT_TTL
		|| now + GRANT_LEFT > deadline) {
		return false;
	}
	claim->deadline = deadline;
	claim->short_lease = true;
	claim->fencing_token = listener->granted;
	claim->received = true;
	take_up(own);
	return true;
}

static dlock_status step(void *task, dlock_loop *loop, dlock_nanos now)
{
	waiter *own = task;

	if (own->spare) {
		dlock_loop_lend(loop);
	}
	DLOCK_BEGIN(&own->task);
	for (;;) {
		begin_attempt(own, now);
		DLOCK_JOIN(&own->task, own->said, dlock_db_question_step(&own->question, loop, now));
		take_attempt(own, now);
		if (ends(own, now)) {
			break;
		}
		own->claim->base.waited = true;
		if (is_to_queue_now(own)) {
			begin_queueing(own);
			continue;
		}
		DLOCK_AWAIT(&own->task, is_its_turn(own, loop, now));
		if (accept_grant(own, now)) {
			own->said = DLOCK_OK;
			break;
		}
		own->claim->base.received = own->listener.told && own->listener.granted > 0;
	}
	DLOCK_END(&own->task);
	return own->said;
}

/* ---- for the back end ---- */

static waiter *waiter_new(dlock_db_claim *claim)
{
	waiter *own = calloc(1, sizeof *own);

	if (own) {
		own->claim = claim;
		own->listener.token = claim->base.token;
	}
	return own;
}

void dlock_db_end_waiter(dlock_claim *base)
{
	dlock_db_claim *claim = (dlock_db_claim *) base;
	waiter *own = claim->waiter;

	if (!own) {
		return;
	}
	if (own->spare) {
		own->spare->reserved = false;
	} else if (own->queue) {
		dlock_db_unlisten(session_of(own), &own->listener);
	}
	if (own->task.at != 0 && own->may_have && dlock_claim_is_mine(base)) { /* the caller dropped it in the middle */
		claim->stray |= own->question.lost;
		dlock_db_give_back(base);
	}
	dlock_db_question_end(&own->question);
	free(own);
	claim->waiter = NULL;
}

dlock_status dlock_db_acquire(dlock_claim *base, const dlock_wait *wait, dlock_error *error)
{
	dlock_db_claim *claim = (dlock_db_claim *) base;
	dlock_error other;

	claim->waiter = claim->waiter ? claim->waiter : waiter_new(claim);
	if (!claim->waiter) {
		return dlock_out_of_memory(error);
	}
	waiter *own = claim->waiter;
	own->deadline = wait->deadline;
	own->error = error;
	dlock_net_pool_catch_up(dlock_db_backend_of(base)->pool);
	dlock_status status = dlock_loop_run(
		dlock_net_pool_loop(dlock_db_backend_of(base)->pool), step, own, DLOCK_FOREVER, wait);
	if (status == DLOCK_INTERRUPTED) {
		return status;
	}
	if (status != DLOCK_OK && own->may_have && begin_again(own, &other) != DLOCK_OK) {
		*error = other;
		status = DLOCK_FAILED;
	} else if (status != DLOCK_OK) {
		dlock_claim_move(base, DLOCK_CLAIM_NEW);
	}
	dlock_db_end_waiter(base);
	return status;
}
