#include "service.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

/* How a claim acquires a lock or permits. The scripts decide which claim acquires them, and to which waiter a release
 * hands them over. This file decides how long a client may rely on the outcome, and what it does if the outcome is
 * unknown. docs/how-it-works.md and docs/hand-over.md have the protocol; tests/models/handover.pml and
 * tests/models/failover.pml check it. */

typedef struct dlock_asking {
	dlock_waiter waiter;
	dlock_epoch epoch;
	dlock_service_claim *claim;
	dlock_task task;
	bool counts;  /* the script may just increment the fence, which this connection has seen */
	bool has_key; /* the client discarded an answer, although it granted the lock */
	dlock_nanos sent_at;
	dlock_said answer;
	dlock_status said;
	/* the waiter's name in the queues of several locks: a star and the token, which changes */
	char name[DLOCK_TOKEN_MAX + 2];
} dlock_asking;

static dlock_asking *asking_of(dlock_waiter *waiter)
{
	return (dlock_asking *) ((char *) waiter - offsetof(dlock_asking, waiter));
}

const dlock_waiter *dlock_service_waiter(const dlock_claim *claim)
{
	static const dlock_waiter none = { .slot = 0 };
	const dlock_asking *asking = ((const dlock_service_claim *) claim)->asking;

	return asking ? &asking->waiter : &none;
}

/* Is it a lock, not permits, on one server that never fails over? */
static bool is_alone(const dlock_service *service)
{
	return service->kind == &dlock_locks && !dlock_service_fails_over(service);
}

/* ---- what the server answers ---- */

static void ask(dlock_asking *own)
{
	dlock_waiter *waiter = &own->waiter;
	dlock_claim *claim = &own->claim->base;
	dlock_subject subject = dlock_service_subject(claim);

	waiter->number++;
	if (claim->count > 1) {
		snprintf(own->name, sizeof own->name, "*%s", claim->token);
	}
	subject.queues = waiter->queue;
	subject.counts = own->counts;
	dlock_route_send(&waiter->route, dlock_service_kind(claim)->acquire(&subject),
		dlock_service_unchanged(claim, NULL));
}

static void begin_attempt(dlock_asking *own)
{
	dlock_waiter *waiter = &own->waiter;
	const dlock_service *service = dlock_service_of(&own->claim->base);
	const dlock_conn *conn = service->masters.conn;

	if (waiter->queue) {
		dlock_claim_move(&own->claim->base, DLOCK_CLAIM_WAITING);
	}
	own->counts = is_alone(service) && !waiter->queue && conn->fence > 0;
	own->has_key = false;
	dlock_waiter_begin_route(waiter);
	dlock_service_begin_epoch(&own->epoch, &own->claim->base, waiter->until, waiter->error);
	ask(own);
}

/* Did the server count on from the fence that this connection has seen? If not, the answer may have come over another
 * connection, from a server that came back with older data. Or another client has set the fence. docs/how-it-works.md
 * has the reasoning; tests/models/counting.pml checks it. */
static bool is_counted_on(const dlock_conn *conn, int64_t fencing_token)
{
	return conn->fence > 0 && fencing_token > conn->fence;
}

/* True: the claim asks once more, and the script does not just increment the fence. */
static bool take_miscount(dlock_asking *own)
{
	const dlock_route *route = &own->waiter.route;

	if (!own->counts || !dlock_request_has_acquired(route->call)
		|| is_counted_on(route->conn, own->answer.fencing_token)) {
		return false;
	}
	own->counts = false;
	own->has_key = true;
	return true;
}

static void read_answer(dlock_asking *own)
{
	const dlock_route *route = &own->waiter.route;

	if (own->said == DLOCK_OK) {
		own->said = dlock_service_kind(&own->claim->base)->read_acquire(
			route->call, route->conn, &own->answer, own->waiter.error);
		own->waiter.response = own->answer.refusal;
		own->sent_at = route->call->sent_at;
	}
}

static void note_fence(const dlock_asking *own)
{
	const dlock_service *service = dlock_service_of(&own->claim->base);
	dlock_conn *conn = service->masters.conn;

	if (is_alone(service) && conn->state == DLOCK_CONN_READY) {
		conn->fence = own->answer.fencing_token;
	}
}

/* ---- what the claim makes of it ---- */

/* The waiter asks again after this time, in ms, if it has released what an attempt acquired. */
#define TRY_AGAIN 20

/* The server may execute a request of the claim after those that follow it. A released token is not used again, because
 * its release may be late, on a connection that was replaced meanwhile. The claim keeps its ticket, with which it
 * returns to its place in the queue. */
static dlock_status begin_again(dlock_claim *claim, dlock_nanos now, dlock_error *error)
{
	dlock_service_give_back(claim, now);
	dlock_claim_move(claim, DLOCK_CLAIM_NEW);
	return dlock_claim_renew_token(claim, error);
}

/* Called with the outcome of dlock_epoch_confirm() in `said`. */
static void accept_lease(dlock_asking *own, dlock_nanos now)
{
	dlock_claim *claim = &own->claim->base;
	const dlock_epoch *epoch = &own->epoch;
	dlock_error other;

	if (own->said == DLOCK_CONNECTION) {
		return;
	}
	claim->explained = own->said == DLOCK_LOST;
	own->waiter.settled_just_now = own->said == DLOCK_LOST && epoch->state.left >= 0
		&& epoch->state.left <= DLOCK_AT_ONCE;
	claim->guarded |= claim->explained && !own->waiter.settled_just_now;
	claim->deadline = own->sent_at + claim->ttl - dlock_drift(claim->ttl);
	if (own->said == DLOCK_OK && now < claim->deadline) {
		claim->fencing_token = own->answer.fencing_token;
		dlock_claim_move(claim, DLOCK_CLAIM_HELD);
		return;
	}
	own->waiter.response = (dlock_response) { .pttl = TRY_AGAIN };
	own->said = begin_again(claim, now, &other) == DLOCK_OK ? DLOCK_TIMEOUT : DLOCK_FAILED;
	*own->waiter.error = own->said == DLOCK_FAILED ? other : *own->waiter.error;
}

/* An earlier request may have acquired several locks, of which the claim has lost a part since: this releases the rest.
 * The script does not, because the server may execute it late, when its holder already relies on an answer. */
static void give_back_rest(dlock_asking *own, dlock_nanos now)
{
	const dlock_route *route = &own->waiter.route;
	dlock_claim *claim = &own->claim->base;
	dlock_error other;

	if (claim->count == 1 || own->said != DLOCK_TIMEOUT
		|| !(own->has_key || route->repeated || (route->call && route->call->repeated))) {
		return;
	}
	own->waiter.response.pttl = TRY_AGAIN;
	if (begin_again(claim, now, &other) != DLOCK_OK) {
		own->said = DLOCK_FAILED;
		*own->waiter.error = other;
	}
}

static void take_refusal(dlock_asking *own)
{
	own->waiter.settled_just_now = own->epoch.at_once;
	own->claim->base.explained = own->epoch.explained;
	own->claim->base.guarded |= own->epoch.explained && !own->epoch.at_once;
	if (own->said == DLOCK_TIMEOUT && own->waiter.response.position == DLOCK_BEHIND_ITSELF) {
		own->said = DLOCK_DEADLOCK;
	}
}

/* May the server have granted the claim something? A grant that is executed late must not block other clients until its
 * lease expires. */
static bool may_have_it(const dlock_asking *own)
{
	const dlock_route *route = &own->waiter.route;

	return own->has_key || own->claim->base.state == DLOCK_CLAIM_WAITING
		|| (route->call && (route->repeated || dlock_request_may_take_effect(route->call)));
}

static void end_attempt(dlock_asking *own, dlock_nanos now)
{
	dlock_claim *claim = &own->claim->base;
	dlock_waiter *waiter = &own->waiter;
	dlock_error other;

	/* If the server executes the request once more, it finds the claim's token and sets the lease time. The claim may
	 * hold the lock because of this request, or because another client has handed it over. */
	if (dlock_route_may_run_later(&waiter->route)) {
		dlock_claim_add_unacknowledged_ttl(claim, claim->ttl);
	}
	waiter->transient = own->said == DLOCK_CONNECTION && waiter->route.transient;
	if (own->said == DLOCK_CONNECTION && may_have_it(own)) {
		own->said = begin_again(claim, now, &other) == DLOCK_OK ? DLOCK_CONNECTION : DLOCK_FAILED;
		*waiter->error = own->said == DLOCK_FAILED ? other : *waiter->error;
	} else if (own->said == DLOCK_CONNECTION) {
		dlock_claim_move(claim, DLOCK_CLAIM_NEW);
	}
	dlock_route_end(&waiter->route);
	dlock_epoch_end(&own->epoch);
}

/* ---- the operations of the waiter ---- */

static dlock_status attempt(dlock_waiter *waiter, dlock_loop *loop, dlock_nanos now)
{
	dlock_asking *own = asking_of(waiter);

	DLOCK_BEGIN(&own->task);
	begin_attempt(own);
	do {
		DLOCK_JOIN(&own->task, own->said, dlock_route_step(&waiter->route, loop, now));
		read_answer(own);
	} while (take_miscount(own) && (ask(own), true));
	if (own->said == DLOCK_OK) {
		note_fence(own);
		DLOCK_JOIN(&own->task, own->said, dlock_epoch_confirm(&own->epoch, &waiter->route, loop, now));
		accept_lease(own, now);
	} else if (own->said == DLOCK_LOST) {
		dlock_waiter_refused(waiter, &waiter->route, &waiter->response);
		DLOCK_JOIN(&own->task, own->said,
			dlock_epoch_refused(&own->epoch, &waiter->route, &waiter->response, loop, now));
		take_refusal(own);
		give_back_rest(own, now);
	}
	end_attempt(own, now);
	DLOCK_END(&own->task);
	return own->said;
}

static void begin_leaving(dlock_asking *own)
{
	dlock_subject subject = dlock_service_subject(&own->claim->base);

	dlock_waiter_begin_last_route(&own->waiter);
	dlock_route_send(&own->waiter.route, dlock_service_kind(&own->claim->base)->leave(&subject), NULL);
}

static void take_left(dlock_asking *own, dlock_nanos now)
{
	dlock_claim *claim = &own->claim->base;
	const dlock_route *route = &own->waiter.route;
	dlock_subject subject = dlock_service_subject(claim);
	dlock_response response;

	if (own->said == DLOCK_OK) {
		own->said = dlock_read_integer(route->call, route->conn, &response, own->waiter.error);
	}
	if (own->said == DLOCK_CONNECTION) {
		dlock_service_give_back(claim, now);
	}
	bool granted = own->said == DLOCK_OK && dlock_service_kind(claim)->leave_grants(&subject);
	bool is_over = own->said == DLOCK_LOST || !is_alone(dlock_service_of(claim));
	own->said = granted ? DLOCK_OK : is_over ? DLOCK_TIMEOUT : own->said;
	dlock_route_end(&own->waiter.route);
	dlock_claim_move(claim, DLOCK_CLAIM_NEW);
}

/* Leaves the queue when the time has passed. DLOCK_OK: the waiter may ask once more, because it was in no queue or was
 * granted the lock in that instant. */
static dlock_status leave(dlock_waiter *waiter, dlock_loop *loop, dlock_nanos now)
{
	dlock_asking *own = asking_of(waiter);

	DLOCK_BEGIN(&own->task);
	own->said = DLOCK_OK;
	if (own->claim->base.state == DLOCK_CLAIM_WAITING) {
		begin_leaving(own);
		DLOCK_JOIN(&own->task, own->said, dlock_route_step(&waiter->route, loop, now));
		take_left(own, now);
	}
	DLOCK_END(&own->task);
	return own->said;
}

/* A waiter relies on a grant without asking the server if at least this much of it is guaranteed. */
#define GRANT_LEFT DLOCK_SECOND

/* If a grant names the waiter's last request, the server made it after it had refused that request. So, by this
 * process' own clock, it lasts at least for its full time from the sending of that request. Neither the server's clock
 * nor a late reading of the message matters. The first sending counts: if the connection broke and the request was sent
 * again, the server may have refused the first one. A grant that names an earlier request may have expired meanwhile.
 * The renewal thread asks for the full lease time later, because most holders release their locks before.
 *
 * If the server may have been replaced since, the grant is only a hint. In a cluster, the bus also brings messages of
 * the slot's new master that had no receiver there. Their locks were granted to other waiters. */
static bool accept_grant(dlock_waiter *waiter, const dlock_grant *grant, dlock_nanos now)
{
	dlock_claim *claim = &asking_of(waiter)->claim->base;
	const dlock_service *service = dlock_service_of(claim);
	dlock_nanos deadline = waiter->refused_at + DLOCK_GRANT_TTL - dlock_drift(DLOCK_GRANT_TTL);

	if (dlock_service_fails_over(service) || claim->ttl < DLOCK_GRANT_TTL
		|| !dlock_is_fencing_token(grant->fencing_token)
		|| grant->number != waiter->number % service->kind->numbers || now + GRANT_LEFT > deadline) {
		return false;
	}
	claim->deadline = deadline;
	claim->short_lease = true;
	claim->fencing_token = grant->fencing_token;
	dlock_claim_move(claim, DLOCK_CLAIM_HELD);
	return true;
}

/* ---- the operations of the back end ---- */

static dlock_asking *asking_new(dlock_service_claim *claim)
{
	static const dlock_waiter_ops ops = { attempt, leave, accept_grant };
	const dlock_service *service = dlock_service_of(&claim->base);
	dlock_asking *asking = calloc(1, sizeof *asking);

	if (asking) {
		asking->claim = claim;
		asking->waiter.ops = &ops;
		asking->waiter.service = service->service;
		asking->waiter.masters = &service->masters;
		asking->waiter.slot = dlock_service_subject(&claim->base).keys.slot;
		asking->waiter.ttl = claim->base.ttl;
		asking->waiter.name = claim->base.count > 1 ? asking->name : claim->base.token;
		asking->waiter.legacy = service->base.legacy;
		asking->waiter.needs_inbox = is_alone(service);
		asking->waiter.waited = claim->base.waited;
		asking->waiter.ticket = claim->ticket;
		asking->waiter.number = claim->number;
	}
	return asking;
}

void dlock_service_dispose(dlock_claim *base)
{
	dlock_service_claim *claim = (dlock_service_claim *) base;
	dlock_asking *own = claim->asking;

	if (!own) {
		return;
	}
	if (own->task.at != 0 && dlock_claim_is_mine(base)) { /* its owner drops it in the middle of an attempt */
		dlock_route_cancel(&own->waiter.route);
		if (may_have_it(own)) {
			dlock_service_give_back(base, dlock_now());
		}
	}
	dlock_waiter_drop(&own->waiter);
	dlock_epoch_end(&own->epoch);
	free(own);
	claim->asking = NULL;
}

dlock_waiter *dlock_service_begin_asking(dlock_claim *base)
{
	dlock_service_claim *claim = (dlock_service_claim *) base;

	claim->asking = claim->asking || !dlock_service_prepare(base) ? claim->asking : asking_new(claim);
	return claim->asking ? &claim->asking->waiter : NULL;
}

void dlock_service_end_asking(dlock_claim *base, dlock_status status, dlock_nanos now)
{
	dlock_service_claim *claim = (dlock_service_claim *) base;
	const dlock_waiter *waiter = &claim->asking->waiter;

	base->waited = waiter->waited;
	base->received = waiter->received;
	claim->ticket = waiter->ticket;
	claim->number = waiter->number;
	if ((status == DLOCK_CONNECTION || status == DLOCK_DEADLOCK) && base->state == DLOCK_CLAIM_WAITING) {
		dlock_service_give_back(base, now);
		dlock_claim_move(base, DLOCK_CLAIM_NEW);
	}
	if (status != DLOCK_INTERRUPTED) {
		dlock_service_dispose(base);
	}
}

dlock_status dlock_service_acquire(dlock_claim *claim, const dlock_wait *wait, dlock_error *error)
{
	dlock_waiter *waiter = dlock_service_begin_asking(claim);

	if (!waiter) {
		return dlock_out_of_memory(error);
	}
	waiter->deadline = wait->deadline;
	waiter->is_strand = wait->suspend;
	waiter->error = error;
	dlock_status status = dlock_loop_run(
		dlock_pool_loop(waiter->masters->pool), dlock_waiter_step, waiter, DLOCK_FOREVER, wait);
	dlock_service_end_asking(claim, status, dlock_now());
	return status;
}
