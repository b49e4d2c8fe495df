#include "waiter.h"

#include "waiting.h"

#include <string.h>

/* ---- the inbox ---- */

/* Where it is to wait: at the slot's master. NULL: that is not known. */
static dlock_inbox *inbox_at_master(const dlock_waiter *waiter)
{
	dlock_server *master = dlock_topology_master(waiter->route->topology, waiter->slot);

	return master ? dlock_pool_inbox(waiter->route->pool, master) : NULL;
}

/* The last one that was asked for there was not to be had at once: so this may not be, and the first request queues. */
static bool is_to_queue_at_once(const dlock_waiter *waiter)
{
	const dlock_inbox *inbox = inbox_at_master(waiter);

	return inbox && inbox->expected && dlock_inbox_is_open(inbox);
}

static void note_first(const dlock_waiter *waiter, dlock_status status)
{
	dlock_inbox *inbox = inbox_at_master(waiter);

	if (inbox) {
		inbox->expected = status == DLOCK_TIMEOUT;
	}
}

/* False: it cannot be told there. */
static bool open_inbox(dlock_waiter *waiter, dlock_error *error)
{
	waiter->inbox = inbox_at_master(waiter);
	if (!waiter->inbox) {
		dlock_fail(error, DLOCK_CONNECTION, "Redis at %s: its master is not known", waiter->service->label);
		return false;
	}
	if (dlock_inboxes_open(dlock_pool_loop(waiter->route->pool), &waiter->inbox, 1, 1) == 0) {
		*error = waiter->inbox->conn->error;
		return false;
	}
	return true;
}

void dlock_waiter_refused(
	dlock_waiter *waiter, const dlock_delivery *delivery, bool queue, const dlock_response *response)
{
	waiter->received = false;
	if (!queue) {
		return;
	}
	if (waiter->ticket && response->new_in_queue && waiter->queued_at == delivery->conn->server) {
		dlock_inbox_discard(waiter->inbox); /* it was in the queue and had been removed: its messages do not arrive */
	}
	waiter->ticket = response->ticket;
	waiter->queued_at = delivery->conn->server;
	waiter->refused_at = delivery->call->first_sent_at;
}

/* In the same round trip as the next request. */
static void try_publishing(const dlock_waiter *waiter)
{
	dlock_conn *conn = dlock_pool_conn(waiter->route->pool, waiter->inbox->conn->server);

	if (conn) {
		dlock_inbox_try_publishing(waiter->inbox, conn);
	}
}

static dlock_nanos next_look(const dlock_waiter *waiter, const dlock_response *refusal)
{
	dlock_inbox_update(waiter->inbox);
	return dlock_inbox_can_notify(waiter->inbox) ? dlock_next_look(refusal, waiter->ttl)
												 : dlock_next_look_unnotified(refusal, waiter->ttl);
}

/* The server that has it in its queue is not the one where its inbox is: it was replaced meanwhile. */
static bool queues_elsewhere(const dlock_waiter *waiter)
{
	return waiter->queued_at && strcmp(waiter->queued_at->key, waiter->inbox->conn->server->key);
}

/* So the inbox can be opened there. Not where ASK has led: the slot is on its way. */
static bool queues_at_master(const dlock_waiter *waiter)
{
	const dlock_server *master = dlock_topology_master(waiter->route->topology, waiter->slot);

	return master && !strcmp(waiter->queued_at->key, master->key);
}

/* ---- waiting ---- */

/* Sleeps until there is a reason to try again: the inbox broke, or it is time to look, or the waiter was told.
 * DLOCK_OK: it has it already. */
static dlock_status wait_for_turn(dlock_waiter *waiter, const dlock_wait *wait)
{
	dlock_grant grant;
	dlock_nanos until = waiter->next_look < wait->deadline ? waiter->next_look : wait->deadline;

	while (dlock_inbox_is_open(waiter->inbox)) {
		if (dlock_inbox_take(waiter->inbox, waiter->name, &grant)) {
			waiter->received = true;
			return waiter->ops->accept(waiter, &grant) ? DLOCK_OK : DLOCK_TIMEOUT;
		}
		int woken = dlock_inboxes_wait(dlock_pool_loop(waiter->route->pool), &waiter->inbox, 1, until, wait);
		if (woken <= 0) {
			return woken == DLOCK_WAIT_INTERRUPTED ? DLOCK_INTERRUPTED : DLOCK_TIMEOUT;
		}
	}
	return DLOCK_TIMEOUT;
}

/* A server that fails over, a slot that moves: how long until the next attempt. */
#define PAUSE (50 * DLOCK_MS)
#define PAUSE_JITTER 50 /* ms */

static dlock_status pause_attempts(const dlock_waiter *waiter, const dlock_wait *wait)
{
	dlock_nanos until = dlock_now() + PAUSE + dlock_jitter(PAUSE_JITTER) * DLOCK_MS;

	until = until < wait->deadline ? until : wait->deadline;
	return dlock_pause(dlock_pool_loop(waiter->route->pool), until, wait);
}

/* What may end by itself, a fail-over or a slot that moves, is waited for as a holder is. */
static bool may_end(const dlock_waiter *waiter, bool transient)
{
	return transient && (waiter->service->discovery != DLOCK_SERVER_FIXED || waiter->route->replicas > 0);
}

dlock_route dlock_waiter_last_route(const dlock_waiter *waiter)
{
	dlock_route route = *waiter->route;

	route.replicas = 0;
	route.until = dlock_after(dlock_now(), waiter->service->read_timeout);
	return route;
}

/* The longest that trouble is waited for without a time limit. */
#define LONGEST_TROUBLE (60 * DLOCK_SECOND)

/* Is the outcome of this attempt the caller's? */
static bool ends(const dlock_waiter *waiter, const dlock_wait *wait, dlock_status status, bool trouble, bool last)
{
	if (last || (status != DLOCK_TIMEOUT && !trouble)) {
		return true;
	}
	return trouble && (dlock_now() >= wait->deadline
		|| (wait->deadline == DLOCK_FOREVER && dlock_now() - waiter->trouble_since > LONGEST_TROUBLE));
}

dlock_status dlock_waiter_acquire(dlock_waiter *waiter, const dlock_wait *wait, dlock_error *error)
{
	dlock_route route = *waiter->route;
	dlock_response response;
	bool transient;

	for (;;) {
		bool last = wait->deadline != DLOCK_FOREVER && dlock_now() >= wait->deadline, first = !waiter->waited;
		if (last && waiter->ops->leave(waiter, error) != DLOCK_OK) {
			return DLOCK_TIMEOUT;
		}
		route.until = dlock_after(last ? dlock_now() : wait->deadline, waiter->service->read_timeout);
		bool queue = !last && (!first || is_to_queue_at_once(waiter)) && open_inbox(waiter, error);
		if (queue) {
			try_publishing(waiter);
		}
		dlock_status status = waiter->ops->attempt(waiter, &route, queue, &response, &transient, error);
		if (first) {
			note_first(waiter, status);
		}
		bool trouble = status == DLOCK_CONNECTION && may_end(waiter, transient);
		waiter->trouble_since = !trouble ? 0 : waiter->trouble_since ? waiter->trouble_since : dlock_now();
		if (status == DLOCK_TIMEOUT && waiter->settled_just_now && !queue) {
			waiter->settled_just_now = false;
			dlock_pause(dlock_pool_loop(route.pool), dlock_now() + response.pttl * DLOCK_MS, NULL);
			continue;
		}
		if (ends(waiter, wait, status, trouble, last)) {
			return status;
		}
		waiter->waited = true;
		bool elsewhere = status == DLOCK_TIMEOUT && queue && queues_elsewhere(waiter);
		if (status == DLOCK_TIMEOUT && ((first && !queue) || (elsewhere && queues_at_master(waiter)))) {
			continue;
		}
		if (status == DLOCK_TIMEOUT && queue && !elsewhere) {
			waiter->next_look = next_look(waiter, &response);
			status = wait_for_turn(waiter, wait);
		} else {
			status = pause_attempts(waiter, wait);
			if (status == DLOCK_TIMEOUT && trouble && dlock_now() >= wait->deadline) {
				return DLOCK_CONNECTION;
			}
		}
		if (status == DLOCK_OK || status == DLOCK_INTERRUPTED) {
			return status;
		}
	}
}
