#include "replicated_internal.h"

#include "waiting.h"

#include <string.h>

/* Acquiring a lock on servers that fail over, and waiting for it. */

/* Something of the claim may be executed later than what follows: a token that was released is not used again. Its place in the queue goes with its
 * ticket. */
static dlock_status begin_again(dlock_replicated_claim *claim, dlock_error *error)
{
	dlock_replicated_abandon(&claim->base);
	dlock_claim_move(&claim->base, DLOCK_CLAIM_NEW);
	return dlock_claim_renew_token(&claim->base, error);
}

/* ---- acquire ---- */

/* Tells the server that the era may settle. DLOCK_LOST: not so. */
static dlock_status tell_settled(const dlock_replicated_backend *backend, const dlock_route *route, dlock_keys keys, dlock_era *era, const dlock_era *with,
	dlock_delivery *delivery, dlock_error *error)
{
	dlock_route once = *route;
	dlock_delivery settling;
	dlock_response response;

	once.replicas = 0; /* where it is lost with the master, so is the era */
	dlock_status status = dlock_deliver(&settling, &once, keys.slot, dlock_request_settle(keys, era, backend->guard, with), error);
	if (status == DLOCK_OK) {
		status = dlock_read_integer(settling.call, settling.conn, &response, error);
	}
	if (status == DLOCK_OK) {
		era->left = response.value;
	}
	delivery->transient = settling.transient;
	dlock_delivery_end(&settling);
	return status;
}

static dlock_status confirm_and_settle(const dlock_replicated_backend *backend, const dlock_route *route, dlock_delivery *delivery, dlock_keys keys,
	dlock_era *era, dlock_error *error)
{
	dlock_status status = dlock_delivery_confirm(delivery, route, error);

	return status == DLOCK_OK ? tell_settled(backend, route, keys, era, NULL, delivery, error) : status;
}

/* In a cluster: with the first slot of the same master, so that all its slots settle together, and a lock whose slot was never used waits for nobody.
 * DLOCK_LOST: not so. */
static dlock_status settle_with_first(const dlock_replicated_backend *backend, const dlock_route *route, dlock_delivery *delivery, int slot,
	dlock_era *era, dlock_error *error)
{
	const dlock_server *master = delivery->conn->server;
	int first = dlock_topology_first_slot(backend->route.topology, master);
	dlock_delivery looking;

	if (first < 0 || first == slot) {
		return DLOCK_LOST;
	}
	dlock_call *look = dlock_request_look(dlock_key_builder_slot(backend->keys, first), backend->guard);
	dlock_status status = dlock_deliver(&looking, route, first, look, error);
	dlock_era with = dlock_read_era(looking.call);
	if (status == DLOCK_OK && with.unsettled && with.left < 0) {
		status = confirm_and_settle(backend, route, &looking, dlock_key_builder_slot(backend->keys, first), &with, error);
		with.waited = backend->guard / DLOCK_MS;
	}
	if (status == DLOCK_OK && (!with.replid || strcmp(with.replid, era->replid) || strcmp(looking.conn->server->key, master->key))) {
		status = DLOCK_LOST;
	}
	if (status == DLOCK_OK) {
		status = tell_settled(backend, route, dlock_key_builder_slot(backend->keys, slot), era, &with, &looking, error);
	}
	delivery->transient = looking.transient;
	dlock_delivery_end(&looking);
	return status;
}

dlock_status dlock_replicated_settle(const dlock_replicated_backend *backend, const dlock_route *route, dlock_delivery *delivery, int slot, dlock_era *era,
	dlock_error *error)
{
	dlock_status status = settle_with_first(backend, route, delivery, slot, era, error);

	if (status == DLOCK_LOST) {
		status = confirm_and_settle(backend, route, delivery, dlock_key_builder_slot(backend->keys, slot), era, error);
	}
	return status == DLOCK_LOST ? DLOCK_OK : status; /* somebody else has told it */
}

/* When it took longer than the lease lasts, or the era was not confirmed, in ms. */
#define TRY_AGAIN 20

/* A slot of a settled master is settled in a moment, in ms: whoever has no time gets the lock all the same. */
#define AT_ONCE 5

/* DLOCK_TIMEOUT: it took longer than the lease lasts. */
static dlock_status accept_lease(dlock_replicated_claim *claim, const dlock_route *route, dlock_delivery *delivery, dlock_response *response, dlock_error *error)
{
	dlock_claim *base = &claim->base;
	dlock_status status = dlock_delivery_confirm(delivery, route, error);

	if (status != DLOCK_OK) {
		return status;
	}
	base->deadline = delivery->call->sent_at + base->ttl - dlock_drift(base->ttl);
	base->fencing_token = response->fencing_token;
	if (dlock_now() < base->deadline) {
		dlock_claim_move(base, DLOCK_CLAIM_HELD);
		return DLOCK_OK;
	}
	*response = (dlock_response) { .pttl = TRY_AGAIN };
	return begin_again(claim, error) == DLOCK_OK ? DLOCK_TIMEOUT : DLOCK_FAILED;
}

static dlock_call *acquire_call(dlock_replicated_claim *claim, dlock_keys keys, bool queue)
{
	dlock_claim *base = &claim->base;
	dlock_replicated_backend *backend = dlock_replicated_backend_of(base);
	dlock_attempt attempt = { .token = base->token, .ttl = base->ttl, .grant = true, .inbox = queue ? claim->inbox : NULL,
		.ticket = claim->ticket, .number = ++claim->number };

	return backend->route.replicas > 0 ? dlock_request_acquire_replicated(keys, &attempt, backend->guard) : dlock_request_acquire(keys, &attempt);
}

/* It is someone else's, or nobody gets it yet. */
static dlock_status refused(dlock_replicated_claim *claim, const dlock_route *route, dlock_delivery *delivery, dlock_keys keys, bool queue,
	dlock_response *response, dlock_error *error)
{
	dlock_replicated_backend *backend = dlock_replicated_backend_of(&claim->base);
	dlock_era era = dlock_read_era(delivery->call);

	claim->settled_just_now = false;
	if (queue && claim->ticket && response->new_in_queue && claim->queued_at == delivery->conn->server) {
		dlock_inbox_discard(claim->inbox); /* it was in the queue and had been removed: its messages do not arrive */
	}
	if (queue) {
		claim->ticket = response->ticket;
		claim->queued_at = delivery->conn->server;
	}
	if (era.unsettled && era.left < 0) {
		dlock_status status = dlock_replicated_settle(backend, route, delivery, keys.slot, &era, error);
		if (status != DLOCK_OK) {
			return status;
		}
		response->pttl = era.left < 0 ? TRY_AGAIN : era.left;
		claim->settled_just_now = era.left >= 0 && era.left <= AT_ONCE;
	}
	claim->base.explained = era.unsettled;
	if (era.unsettled) {
		dlock_explain_era(delivery->conn, era.left, backend->guard, error);
	}
	return DLOCK_TIMEOUT;
}

/* DLOCK_TIMEOUT: not now. With `queue` the claim is in the queue then. DLOCK_CONNECTION with `transient`: another time, perhaps. */
static dlock_status attempt(dlock_replicated_claim *claim, const dlock_route *route, bool queue, dlock_response *response, bool *transient,
	dlock_error *error)
{
	dlock_claim *base = &claim->base;
	dlock_keys keys = dlock_replicated_keys(base);
	dlock_delivery delivery;

	if (queue) {
		dlock_claim_move(base, DLOCK_CLAIM_WAITING);
	}
	dlock_status status = dlock_deliver(&delivery, route, keys.slot, acquire_call(claim, keys, queue), error);
	if (status == DLOCK_OK) {
		status = dlock_read_acquire(delivery.call, delivery.conn, response, error);
		if (status == DLOCK_OK) {
			status = accept_lease(claim, route, &delivery, response, error);
		} else if (status == DLOCK_LOST) {
			base->received = false;
			status = refused(claim, route, &delivery, keys, queue, response, error);
		}
	}
	/* Executed once more, it finds its own token and sets its lease time. */
	if (delivery.call && (delivery.repeated || (delivery.call->sent && (delivery.call->state != DLOCK_CALL_ANSWERED || delivery.call->repeated)))) {
		dlock_claim_add_unacknowledged_ttl(base, base->ttl);
	}
	*transient = status == DLOCK_CONNECTION && delivery.transient;
	if (status == DLOCK_CONNECTION && delivery.call && (delivery.repeated || dlock_request_may_take_effect(delivery.call)
			|| base->state == DLOCK_CLAIM_WAITING)) {
		dlock_error other;
		status = begin_again(claim, &other) == DLOCK_OK ? DLOCK_CONNECTION : DLOCK_FAILED;
		*error = status == DLOCK_FAILED ? other : *error;
	} else if (status == DLOCK_CONNECTION) {
		dlock_claim_move(base, DLOCK_CLAIM_NEW);
	}
	dlock_delivery_end(&delivery);
	return status;
}

/* Out of time. DLOCK_OK: it was granted in that instant, and can be acquired. */
static dlock_status leave_queue(dlock_replicated_claim *claim, dlock_error *error)
{
	dlock_keys keys = dlock_replicated_keys(&claim->base);
	dlock_route route = dlock_replicated_backend_of(&claim->base)->route;
	dlock_delivery delivery;
	dlock_response response;

	route.replicas = 0;
	route.until = dlock_after(dlock_now(), dlock_replicated_backend_of(&claim->base)->service->read_timeout);
	dlock_status status = dlock_deliver(&delivery, &route, keys.slot, dlock_request_leave(keys, claim->base.token, true), error);
	if (status == DLOCK_OK) {
		status = dlock_read_integer(delivery.call, delivery.conn, &response, error);
	}
	if (status == DLOCK_CONNECTION) {
		dlock_replicated_abandon(&claim->base);
	}
	dlock_delivery_end(&delivery);
	dlock_claim_move(&claim->base, DLOCK_CLAIM_NEW);
	return status == DLOCK_OK ? DLOCK_OK : DLOCK_TIMEOUT;
}

/* Sleeps until there is a reason to try again: the inbox broke, or it is time to look, or the claim was notified. What comes with a notification is
 * but a hint: the server may have been replaced since. */
static dlock_status wait_for_turn(dlock_replicated_claim *claim, const dlock_wait *wait)
{
	dlock_grant grant;
	dlock_nanos until = claim->next_look < wait->deadline ? claim->next_look : wait->deadline;

	while (dlock_inbox_is_open(claim->inbox)) {
		if (dlock_inbox_take(claim->inbox, claim->base.token, &grant)) {
			claim->base.received = true;
			return DLOCK_TIMEOUT;
		}
		int woken = dlock_inboxes_wait(&claim->inbox, 1, until, wait);
		if (woken <= 0) {
			return woken == DLOCK_WAIT_INTERRUPTED ? DLOCK_INTERRUPTED : DLOCK_TIMEOUT;
		}
	}
	return DLOCK_TIMEOUT;
}

/* A server that fails over, a slot that moves: how long until the next attempt. */
#define PAUSE (50 * DLOCK_MS)
#define PAUSE_JITTER 50 /* ms */

static dlock_status pause_attempts(const dlock_wait *wait)
{
	dlock_nanos until = dlock_now() + PAUSE + dlock_jitter(PAUSE_JITTER) * DLOCK_MS;

	until = until < wait->deadline ? until : wait->deadline;
	return dlock_wait_poll(NULL, 0, until, wait) == DLOCK_WAIT_INTERRUPTED ? DLOCK_INTERRUPTED : DLOCK_TIMEOUT;
}

/* Where the claim waits: at the slot's master. False: it cannot be told there. */
static bool open_inbox(dlock_replicated_claim *claim, dlock_error *error)
{
	dlock_replicated_backend *backend = dlock_replicated_backend_of(&claim->base);
	dlock_server *master = dlock_topology_master(backend->route.topology, dlock_replicated_keys(&claim->base).slot);

	claim->inbox = master ? dlock_pool_inbox(backend->route.pool, master) : NULL;
	if (!claim->inbox) {
		dlock_fail(error, DLOCK_CONNECTION, "Redis at %s: its master is not known", backend->service->label);
		return false;
	}
	if (dlock_inboxes_open(&claim->inbox, 1, 1) == 0) {
		*error = claim->inbox->conn->error;
		return false;
	}
	return true;
}

/* What may end by itself, a fail-over or a slot that moves, is waited for as a holder is. */
static bool may_end(const dlock_replicated_backend *backend, bool transient)
{
	return transient && (backend->service->discovery != DLOCK_SERVER_FIXED || backend->route.replicas > 0);
}

/* The server that has it in its queue is not the one where its inbox is: it was replaced meanwhile. */
static bool queues_elsewhere(const dlock_replicated_claim *claim)
{
	return claim->queued_at && strcmp(claim->queued_at->key, claim->inbox->conn->server->key);
}

/* So the inbox can be opened there. Not where ASK has led: the slot is on its way. */
static bool queues_at_master(const dlock_replicated_claim *claim)
{
	const dlock_server *master = dlock_topology_master(dlock_replicated_backend_of(&claim->base)->route.topology, dlock_replicated_keys(&claim->base).slot);

	return master && !strcmp(claim->queued_at->key, master->key);
}

/* The longest that trouble is waited for without a time limit. */
#define LONGEST_TROUBLE (60 * DLOCK_SECOND)

dlock_status dlock_replicated_acquire(dlock_claim *base, const dlock_wait *wait, dlock_error *error)
{
	dlock_replicated_claim *claim = (dlock_replicated_claim *) base;
	dlock_route route = dlock_replicated_backend_of(base)->route;
	dlock_response response;
	bool transient;

	for (;;) {
		bool last = wait->deadline != DLOCK_FOREVER && dlock_now() >= wait->deadline, first = !base->waited;
		if (last && base->state == DLOCK_CLAIM_WAITING && leave_queue(claim, error) != DLOCK_OK) {
			return DLOCK_TIMEOUT;
		}
		route.until = dlock_after(last ? dlock_now() : wait->deadline, dlock_replicated_backend_of(base)->service->read_timeout);
		bool queue = !last && !first && open_inbox(claim, error);
		dlock_status status = attempt(claim, &route, queue, &response, &transient, error);
		bool trouble = status == DLOCK_CONNECTION && may_end(dlock_replicated_backend_of(base), transient);
		claim->trouble_since = !trouble ? 0 : claim->trouble_since ? claim->trouble_since : dlock_now();
		if (status == DLOCK_TIMEOUT && claim->settled_just_now && !queue) {
			claim->settled_just_now = false;
			dlock_wait_poll(NULL, 0, dlock_now() + response.pttl * DLOCK_MS, NULL);
			continue;
		}
		if (last || (status != DLOCK_TIMEOUT && !trouble) || (trouble && dlock_now() >= wait->deadline)
				|| (trouble && wait->deadline == DLOCK_FOREVER && dlock_now() - claim->trouble_since > LONGEST_TROUBLE)) {
			return status;
		}
		base->waited = true;
		bool elsewhere = status == DLOCK_TIMEOUT && queue && queues_elsewhere(claim);
		if (status == DLOCK_TIMEOUT && (first || (elsewhere && queues_at_master(claim)))) {
			continue;
		}
		if (status == DLOCK_TIMEOUT && queue && !elsewhere) {
			claim->next_look = dlock_next_look(&response);
			status = wait_for_turn(claim, wait);
		} else {
			status = pause_attempts(wait);
			if (status == DLOCK_TIMEOUT && trouble && dlock_now() >= wait->deadline) {
				return DLOCK_CONNECTION;
			}
		}
		if (status == DLOCK_INTERRUPTED) {
			return status;
		}
	}
}
