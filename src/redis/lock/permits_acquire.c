#include "permits_internal.h"

#include "../../lock/renewal.h"
#include "waiting.h"

/* Acquiring permits, and waiting for them. */

/* In the queue, a waiter is named by all of it but the last three. */
static dlock_permits_attempt attempt_of(const dlock_service_claim *claim)
{
	const dlock_claim *base = &claim->base;

	return (dlock_permits_attempt) { .id = base->token, .permits = base->permits, .capacity = base->backend->capacity,
		.fifo = ((const dlock_permits_backend *) base->backend)->fifo, .inbox = base->state == DLOCK_CLAIM_WAITING ? claim->waiter.inbox : NULL,
		.ttl = base->ttl, .ticket = claim->waiter.ticket, .number = claim->waiter.number };
}

dlock_call *dlock_permits_release_call(const dlock_claim *claim, dlock_keys keys, bool leaves)
{
	dlock_permits_attempt attempt = attempt_of((const dlock_service_claim *) claim);

	if (!leaves) {
		attempt.inbox = NULL;
	}
	return dlock_service_is_replicated(claim)
		? dlock_request_permits_release_replicated(keys, &attempt, dlock_service_of(claim)->guard)
		: dlock_request_permits_abandon(keys.lock, &attempt);
}

void dlock_permits_abandon(dlock_claim *claim)
{
	const dlock_route *route = &dlock_service_of(claim)->route;
	dlock_keys keys = dlock_service_keys(claim);
	dlock_conn *conn = dlock_route_conn(route, keys.slot);

	if (conn) {
		dlock_conn_send_background(conn, dlock_permits_release_call(claim, keys, true), dlock_after(dlock_now(), claim->ttl));
	}
	if (conn && dlock_service_is_replicated(claim) && dlock_topology_has_slots(route->topology)) { /* a slot that is being moved takes no script with two keys */
		dlock_conn_send_background(conn, dlock_request_permits_drop(keys, claim->token), dlock_after(dlock_now(), claim->ttl));
	}
}

static dlock_call *acquire_call(const dlock_service_claim *claim, dlock_keys keys)
{
	dlock_permits_attempt attempt = attempt_of(claim);

	return dlock_service_is_replicated(&claim->base)
		? dlock_request_permits_replicated(keys, &attempt, dlock_service_of(&claim->base)->guard) : dlock_request_permits(keys.lock, &attempt);
}

static dlock_status attempt(dlock_waiter *waiter, const dlock_route *route, bool queue, dlock_response *response, bool *transient, dlock_error *error)
{
	dlock_claim *claim = &dlock_service_claim_of(waiter)->base;
	dlock_keys keys = dlock_service_keys(claim);
	dlock_settler settler = dlock_service_settler(claim, route);
	dlock_permits_response answer;
	dlock_delivery delivery;

	if (queue) {
		dlock_claim_move(claim, DLOCK_CLAIM_WAITING);
	}
	waiter->number++;
	dlock_status status = dlock_deliver_with(&delivery, route, keys.slot, acquire_call(dlock_service_claim_of(waiter), keys),
		dlock_permits_unchanged_call(claim, keys, NULL), error);
	if (status == DLOCK_OK) {
		status = dlock_read_permits(delivery.call, delivery.conn, &answer, error);
	}
	if (status == DLOCK_OK) {
		status = dlock_service_accept_lease(dlock_service_claim_of(waiter), &settler, &delivery, answer.fencing_token, response, error);
	} else if (status == DLOCK_LOST) {
		*response = answer.refusal;
		dlock_waiter_refused(waiter, &delivery, queue, response);
		status = dlock_settle_refused(&settler, &delivery, keys.slot, response, &waiter->settled_just_now, &claim->explained, error);
	}
	return dlock_service_end_attempt(claim, &delivery, status, transient, error);
}

/* Out of time. DLOCK_OK: it was granted in that instant, and can be acquired; where that has to be confirmed there is no time for it, and it is given back. */
static dlock_status leave_queue(dlock_waiter *waiter, dlock_error *error)
{
	dlock_claim *claim = &dlock_service_claim_of(waiter)->base;
	dlock_keys keys = dlock_service_keys(claim);
	dlock_permits_attempt attempt = attempt_of(dlock_service_claim_of(waiter));
	dlock_route route = dlock_waiter_last_route(waiter);
	dlock_delivery delivery;
	dlock_response response;

	if (claim->state != DLOCK_CLAIM_WAITING) {
		return DLOCK_OK;
	}
	dlock_status status = dlock_deliver(&delivery, &route, keys.slot, dlock_service_is_replicated(claim)
		? dlock_permits_release_call(claim, keys, true) : dlock_request_permits_leave(keys.lock, &attempt), error);
	if (status == DLOCK_OK) {
		status = dlock_read_integer(delivery.call, delivery.conn, &response, error);
	}
	if (status == DLOCK_CONNECTION) {
		dlock_permits_abandon(claim);
	}
	dlock_delivery_end(&delivery);
	dlock_claim_move(claim, DLOCK_CLAIM_NEW);
	return status == DLOCK_OK && !dlock_service_is_replicated(claim) ? DLOCK_OK : DLOCK_TIMEOUT;
}

/* A grant is accepted without asking again when at least this much of it is left for sure. */
#define GRANT_LEFT DLOCK_SECOND

/* The numbers of signs of life in lua/permits_pool.lua begin again here. */
#define SIGNS 1000

/* As in single.c: a grant that names the last request was made after that was refused. So it lasts, by this process' own clock, at least as long from the first
 * sending of that request. Where the server may have been replaced since it is but a hint; and the bus of a cluster brings, from the slot's new master, also
 * messages that had no receiver there, whose grants were given to others. */
static bool accept_grant(dlock_waiter *waiter, const dlock_grant *grant)
{
	dlock_claim *claim = &dlock_service_claim_of(waiter)->base;
	dlock_nanos deadline = waiter->refused_at + DLOCK_GRANT_TTL - dlock_drift(DLOCK_GRANT_TTL);

	if (waiter->service->discovery != DLOCK_SERVER_FIXED || dlock_service_is_replicated(claim) || claim->ttl < DLOCK_GRANT_TTL
			|| !dlock_is_fencing_token(grant->fencing_token) || grant->number != waiter->number % SIGNS || dlock_now() + GRANT_LEFT > deadline) {
		return false;
	}
	claim->deadline = deadline;
	claim->short_lease = true;
	claim->fencing_token = grant->fencing_token;
	dlock_claim_move(claim, DLOCK_CLAIM_HELD);
	return true;
}

dlock_status dlock_permits_acquire(dlock_claim *claim, const dlock_wait *wait, dlock_error *error)
{
	static const dlock_waiter_ops ops = { attempt, leave_queue, accept_grant };

	return dlock_service_acquire(claim, &ops, wait, error);
}
