#include "replicated_internal.h"

/* Acquiring a lock on servers that fail over, and waiting for it. */

/* What is to be looked at once more, behind WAIT. NULL: nothing. */
static dlock_call *unchanged_call(const dlock_service_claim *claim, dlock_keys keys)
{
	const dlock_service_backend *backend = dlock_service_of(&claim->base);

	return backend->route.replicas > 0 && backend->guard.resyncs
		? dlock_request_unchanged(keys, claim->base.token, NULL, backend->guard)
		: NULL;
}

static dlock_call *acquire_call(dlock_service_claim *claim, dlock_keys keys, bool queue)
{
	dlock_claim *base = &claim->base;
	dlock_service_backend *backend = dlock_service_of(base);
	dlock_attempt attempt = { .token = base->token,
		.ttl = base->ttl,
		.grant = true,
		.inbox = queue ? claim->waiter.inbox : NULL,
		.ticket = claim->waiter.ticket,
		.number = ++claim->waiter.number };

	return backend->route.replicas > 0 ? dlock_request_acquire_replicated(keys, &attempt, backend->guard)
									   : dlock_request_acquire(keys, &attempt);
}

/* DLOCK_TIMEOUT: not now. With `queue` the claim is in the queue then. DLOCK_CONNECTION with `transient`: another time,
 * perhaps. */
static dlock_status attempt(dlock_waiter *waiter, const dlock_route *route, bool queue, dlock_response *response,
	bool *transient, dlock_error *error)
{
	dlock_service_claim *claim = dlock_service_claim_of(waiter);
	dlock_claim *base = &claim->base;
	dlock_settler settler = dlock_service_settler(base, route);
	dlock_keys keys = dlock_service_keys(base);
	dlock_delivery delivery;

	if (queue) {
		dlock_claim_move(base, DLOCK_CLAIM_WAITING);
	}
	dlock_status status = dlock_deliver_with(
		&delivery, route, keys.slot, acquire_call(claim, keys, queue), unchanged_call(claim, keys), error);
	if (status == DLOCK_OK) {
		status = dlock_read_acquire(delivery.call, delivery.conn, response, error);
		if (status == DLOCK_OK) {
			status = dlock_service_accept_lease(claim, &settler, &delivery, response->fencing_token, response, error);
		} else if (status == DLOCK_LOST) {
			dlock_waiter_refused(waiter, &delivery, queue, response);
			status = dlock_settle_refused(
				&settler, &delivery, keys.slot, response, &waiter->settled_just_now, &base->explained, error);
		}
	}
	return dlock_service_end_attempt(base, &delivery, status, transient, error);
}

/* Out of time. DLOCK_OK: it was granted in that instant, and can be acquired. */
static dlock_status leave_queue(dlock_waiter *waiter, dlock_error *error)
{
	dlock_service_claim *claim = dlock_service_claim_of(waiter);
	dlock_keys keys = dlock_service_keys(&claim->base);
	dlock_route route = dlock_waiter_last_route(waiter);
	dlock_delivery delivery;
	dlock_response response;

	if (claim->base.state != DLOCK_CLAIM_WAITING) {
		return DLOCK_OK;
	}
	dlock_status status = dlock_deliver(
		&delivery, &route, keys.slot, dlock_request_leave(keys, claim->base.token, true), error);
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

/* What comes with a message is but a hint: the server may have been replaced since. */
static bool accept_hint(dlock_waiter *waiter, const dlock_grant *grant)
{
	(void) waiter;
	(void) grant;
	return false;
}

dlock_status dlock_replicated_acquire(dlock_claim *claim, const dlock_wait *wait, dlock_error *error)
{
	static const dlock_waiter_ops ops = { attempt, leave_queue, accept_hint };

	return dlock_service_acquire(claim, &ops, wait, error);
}
