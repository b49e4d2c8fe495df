#include "wait.h"

#include <string.h>

/* A waiter is in one of four situations.
 *
 * It asks: one attempt, which a failover may prolong. The answer ends it.
 * It waits for its turn, in the queue of the master. A message of the master to the waiter's inbox ends that. So does
 *   the time to look without a message, because messages can be lost and holders die. So does the end of the inbox's
 *   connection.
 * It pauses, in no queue, because the master changes, a slot moves, or the server refuses subscriptions. A short time
 *   ends that.
 * It is in trouble: no master can be asked. If Sentinels or a cluster name the master, or it has replicas, trouble is
 *   transient. The waiter then waits for its end as for a holder, but without a time limit at most LONGEST_TROUBLE. A
 *   lone server that cannot be reached is an error at once, because no server replaces it. */

/* ---- when to look again ---- */

/* A waiter's sign of life. handover.lua counts a waiter as dead after 3 s without one. */
#define LOOK_AGAIN (1600 * DLOCK_MS)
#define LOOK_AGAIN_JITTER 700 /* ms */

/* What each further position in the queue adds after the holder's lease has ended. */
#define STAGGER (2 * DLOCK_MS)

/* A lease time shorter than this does not make its waiter ask more often. */
#define LEAST_LEASE (200 * DLOCK_MS)

dlock_nanos dlock_next_look(const dlock_response *refusal, dlock_nanos ttl, dlock_nanos now)
{
	int64_t ahead = refusal->position < 0 ? 0 : refusal->position < 1000 ? refusal->position : 1000;
	dlock_nanos look = now + LOOK_AGAIN + dlock_jitter(LOOK_AGAIN_JITTER) * DLOCK_MS;
	/* Redis expires a key in the millisecond after its last one. */
	dlock_nanos turn = now + 2 * DLOCK_MS + ahead * STAGGER;

	/* By then, the lock may have been handed over to another waiter, and that waiter may have died. */
	if (ttl < LOOK_AGAIN) {
		look = dlock_earlier(look, turn + (ttl < LEAST_LEASE ? LEAST_LEASE : ttl));
	}
	if (refusal->pttl >= 0 && refusal->pttl < 1000 * 1000) {
		look = dlock_earlier(look, turn + refusal->pttl * DLOCK_MS);
	}
	return look;
}

/* If no server notifies it of a release, the first waiter in the queue looks this often, and so does a waiter in no
 * queue. The waiters behind it look less often. */
#define LOOK_UNNOTIFIED (80 * DLOCK_MS)
#define LOOK_UNNOTIFIED_JITTER 40 /* ms */

dlock_nanos dlock_next_look_unnotified(const dlock_response *refusal, dlock_nanos ttl, dlock_nanos now)
{
	dlock_nanos look = dlock_next_look(refusal, ttl, now);

	if (refusal->position < 100) {
		int64_t ahead = refusal->position < 0 ? 0 : refusal->position;
		dlock_nanos soon = now
			+ (LOOK_UNNOTIFIED + dlock_jitter(LOOK_UNNOTIFIED_JITTER) * DLOCK_MS) * (ahead + 1);
		look = dlock_earlier(look, soon);
	}
	return look;
}

dlock_nanos dlock_next_look_legacy(const dlock_response *refusal, dlock_nanos ttl, dlock_nanos now)
{
	return refusal->pttl < 0 ? dlock_next_look_unnotified(refusal, ttl, now) : dlock_next_look(refusal, ttl, now);
}

/* ---- how long a wait may outlast its deadline ---- */

dlock_nanos dlock_longest_attempt(
	dlock_nanos deadline, dlock_nanos over_since, bool waited, dlock_nanos connecting, dlock_nanos answer)
{
	dlock_nanos begun = over_since && !waited ? over_since : deadline,
				most = dlock_after(begun, answer + (connecting > answer ? connecting : answer));

	if (!over_since || !waited) {
		return most;
	}
	/* The process may have been stopped until `over_since`. */
	return most > over_since ? dlock_earlier(most, dlock_after(over_since, answer)) : dlock_after(over_since, answer);
}

/* ---- the inbox ---- */

/* The inbox at the slot's master, where the waiter has to wait. NULL: the master is not known. */
static dlock_inbox *inbox_at_master(const dlock_waiter *own)
{
	dlock_endpoint *master = dlock_topology_master(own->masters->topology, own->slot);

	return master ? dlock_pool_inbox(own->masters->pool, master) : NULL;
}

/* The first request already joins the queue if the previous lock on this master was contended, or if other strands may
 * ask meanwhile. */
static bool is_to_queue_at_once(const dlock_waiter *own)
{
	return own->inbox && (own->inbox->expected || own->is_strand) && dlock_inbox_is_open(own->inbox);
}

static void note_first(const dlock_waiter *own)
{
	dlock_inbox *inbox = own->first ? inbox_at_master(own) : NULL;

	if (inbox) {
		inbox->expected = own->said == DLOCK_TIMEOUT;
	}
}

/* False: the master is not known. */
static bool begin_opening(dlock_waiter *own)
{
	if (!own->inbox) {
		dlock_fail(own->error, DLOCK_CONNECTION, "Redis at %s: its master is not known", own->service->label);
		return false;
	}
	own->opening = (dlock_opening) { .inboxes = &own->inbox, .count = 1, .enough = 1, .deadline = own->deadline };
	return true;
}

/* False: the waiter cannot go on without an inbox. */
static bool take_opened(dlock_waiter *own)
{
	own->queue = own->inbox && own->opening.open > 0;
	if (own->inbox && !own->queue) {
		*own->error = own->inbox->conn->error;
	}
	return own->queue || !own->needs_inbox || !own->inbox || own->inbox->refused;
}

/* The try goes out in the same round trip as the next request. */
static void try_publishing(const dlock_waiter *own)
{
	dlock_conn *conn = own->queue ? dlock_masters_conn(own->masters, own->slot) : NULL;

	if (conn) {
		dlock_inbox_try_publishing(own->inbox, conn);
	}
}

void dlock_waiter_refused(dlock_waiter *own, const dlock_route *route, const dlock_response *response)
{
	own->received = false;
	if (!own->queue) {
		return;
	}
	if (own->ticket && response->new_in_queue && own->queued_at == route->conn->server
		&& own->queued_over == own->inbox->conn->generation) {
		/* The waiter was in the queue, and the server has removed it: its messages do not arrive. If other waiters have
		 * opened another connection since, the inbox keeps that one. */
		dlock_inbox_discard(own->inbox);
	}
	own->queued_over = own->inbox->conn->generation;
	own->ticket = response->ticket;
	own->queued_at = route->conn->server;
	own->refused_at = route->call->first_sent_at;
}

static dlock_nanos next_look(const dlock_waiter *own, dlock_nanos now)
{
	dlock_inbox_update(own->inbox);
	return !dlock_inbox_can_notify(own->inbox) ? dlock_next_look_unnotified(&own->response, own->ttl, now)
		: own->legacy ? dlock_next_look_legacy(&own->response, own->ttl, now)
					  : dlock_next_look(&own->response, own->ttl, now);
}

/* Is the waiter in the queue of another server than the one of its inbox? Then the master was replaced meanwhile. */
static bool queues_elsewhere(const dlock_waiter *own)
{
	return own->queue && own->queued_at && strcmp(own->queued_at->key, own->inbox->conn->server->key);
}

/* Is the waiter in the queue of the slot's master, so that it can open its inbox there? After ASK it is not: the slot
 * is still moving. */
static bool queues_at_master(const dlock_waiter *own)
{
	const dlock_endpoint *master = dlock_topology_master(own->masters->topology, own->slot);

	return master && !strcmp(own->queued_at->key, master->key);
}

/* ---- waiting ---- */

static void set_listening(dlock_waiter *own, bool listens)
{
	if (own->listening != listens) {
		own->inbox->listeners += listens ? 1 : -1;
		own->listening = listens;
	}
}

/* Is there a reason to try again: a broken inbox, a message, or the time to look? */
static bool is_its_turn(dlock_waiter *own, dlock_loop *loop, dlock_nanos now)
{
	dlock_grant grant;

	dlock_inbox_update(own->inbox);
	if (!dlock_inbox_is_open(own->inbox)) {
		return true;
	}
	if (dlock_inbox_take(own->inbox, own->name, &grant)) {
		own->received = true;
		own->granted = own->ops->accept(own, &grant, now);
		return true;
	}
	dlock_loop_lend(loop);
	return dlock_loop_is_time(loop, own->next, now);
}

/* DLOCK_OK: the waiter has accepted a grant, and need not ask. */
static dlock_status wait_for_turn(dlock_waiter *own, dlock_loop *loop, dlock_nanos now)
{
	DLOCK_BEGIN(&own->turn);
	own->next = next_look(own, now);
	own->next = dlock_earlier(own->next, own->deadline);
	own->granted = false;
	set_listening(own, true);
	DLOCK_AWAIT(&own->turn, is_its_turn(own, loop, now));
	set_listening(own, false);
	DLOCK_END(&own->turn);
	return own->granted ? DLOCK_OK : DLOCK_TIMEOUT;
}

/* The pause before the next attempt, while a server fails over or a slot moves. */
#define PAUSE (50 * DLOCK_MS)
#define PAUSE_JITTER 50 /* ms */

/* Sets when a waiter that is in no queue asks again. If the server refuses subscriptions, it asks like a waiter that no
 * server notifies. */
static void begin_pause(dlock_waiter *own, dlock_nanos now)
{
	bool looks = own->said == DLOCK_TIMEOUT && own->inbox && own->inbox->refused;

	own->next = looks ? dlock_next_look_unnotified(&own->response, own->ttl, now)
					  : now + PAUSE + dlock_jitter(PAUSE_JITTER) * DLOCK_MS;
	own->next = dlock_earlier(own->next, own->deadline);
}

static bool is_pause_over(const dlock_waiter *own, dlock_loop *loop, dlock_nanos now)
{
	dlock_loop_lend(loop);
	return dlock_loop_is_time(loop, own->next, now);
}

/* ---- attempts ---- */

void dlock_waiter_begin_route(dlock_waiter *own)
{
	dlock_route_begin(&own->route, own->masters, own->slot, own->error);
	own->route.until = own->until;
}

static bool is_lone(const dlock_waiter *own)
{
	return own->service->discovery == DLOCK_ENDPOINT_FIXED && own->masters->replicas == 0;
}

/* On a lone server, the first attempt also waits for the connection, which may take longer than an answer. After the
 * deadline, leaving the queue and accepting a grant of that instant share one answer's time. */
static dlock_nanos longest_attempt(const dlock_waiter *own, dlock_nanos over_since)
{
	const dlock_endpoint *service = own->service;

	if (is_lone(own)) {
		return dlock_longest_attempt(
			own->deadline, over_since, own->waited, service->connect_timeout, service->read_timeout);
	}
	return dlock_after(over_since ? over_since : own->deadline, service->read_timeout);
}

void dlock_waiter_begin_last_route(dlock_waiter *own)
{
	dlock_route_begin(&own->route, own->masters, own->slot, own->error);
	own->route.replicas = 0;
	own->route.until = longest_attempt(own, own->over_since);
}

/* Trouble that ends by itself, a failover or a slot that moves: the waiter waits for that as for a holder. */
static bool may_end(const dlock_waiter *own)
{
	return own->transient && !is_lone(own);
}

/* Without a time limit, a waiter waits this long for the end of trouble. */
#define LONGEST_TROUBLE (60 * DLOCK_SECOND)

/* Does the outcome of this attempt end the wait? */
static bool ends(const dlock_waiter *own, dlock_nanos now)
{
	if (own->last || (own->said != DLOCK_TIMEOUT && !own->trouble)) {
		return true;
	}
	return own->trouble && (now >= own->deadline
		|| (own->deadline == DLOCK_FOREVER && now - own->trouble_since > LONGEST_TROUBLE));
}

static bool is_last(const dlock_waiter *own, dlock_nanos now)
{
	return own->deadline != DLOCK_FOREVER && now >= own->deadline;
}

static void begin_attempt(dlock_waiter *own, dlock_nanos now)
{
	own->last = is_last(own, now);
	own->first = !own->waited;
	own->until = longest_attempt(own, own->last ? own->over_since : 0);
	own->inbox = inbox_at_master(own);
	own->queue = !own->last && (!own->first || is_to_queue_at_once(own));
	own->queue = own->queue && begin_opening(own);
}

static void take_attempt(dlock_waiter *own, dlock_nanos now)
{
	note_first(own);
	own->trouble = own->said == DLOCK_CONNECTION && may_end(own);
	own->trouble_since = !own->trouble ? 0 : own->trouble_since ? own->trouble_since : now;
}

/* Does the waiter now know where to queue, or where else? */
static bool is_to_queue_now(const dlock_waiter *own)
{
	return own->said == DLOCK_TIMEOUT
		&& ((own->first && !own->queue && !(own->inbox && own->inbox->refused))
			|| (queues_elsewhere(own) && queues_at_master(own)));
}

dlock_status dlock_waiter_step(void *waiter, dlock_loop *loop, dlock_nanos now)
{
	dlock_waiter *own = waiter;

	DLOCK_BEGIN(&own->task);
	for (;;) {
		if (is_last(own, now)) {
			own->over_since = own->over_since ? own->over_since : now;
			DLOCK_JOIN(&own->task, own->said, own->ops->leave(own, loop, now));
			if (own->said != DLOCK_OK) {
				break;
			}
		}
		begin_attempt(own, now);
		if (own->queue) {
			DLOCK_JOIN(&own->task, own->said, dlock_opening_step(&own->opening, loop, now));
			if (is_last(own, now)) {
				continue; /* opening the inbox has used up its time */
			}
			if (!take_opened(own)) {
				own->said = DLOCK_CONNECTION;
				break;
			}
			try_publishing(own);
		}
		DLOCK_JOIN(&own->task, own->said, own->ops->attempt(own, loop, now));
		take_attempt(own, now);
		if (own->said == DLOCK_TIMEOUT && own->settled_just_now && !own->queue) {
			own->settled_just_now = false;
			own->next = now + own->response.pttl * DLOCK_MS;
			DLOCK_AWAIT(&own->task, dlock_loop_is_time(loop, own->next, now));
			continue;
		}
		if (ends(own, now)) {
			break;
		}
		own->waited = true;
		if (is_to_queue_now(own)) {
			continue;
		}
		if (own->said == DLOCK_TIMEOUT && own->queue && !queues_elsewhere(own)) {
			DLOCK_JOIN(&own->task, own->said, wait_for_turn(own, loop, now));
			if (own->said == DLOCK_OK) {
				break;
			}
		} else {
			begin_pause(own, now);
			DLOCK_AWAIT(&own->task, is_pause_over(own, loop, now));
			if (own->trouble && is_last(own, now)) {
				break;
			}
		}
	}
	DLOCK_END(&own->task);
	return own->said;
}

void dlock_waiter_drop(dlock_waiter *own)
{
	set_listening(own, false);
	dlock_route_end(&own->route);
	own->task.at = own->turn.at = 0;
}
