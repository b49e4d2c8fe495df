#include "replicated.h"

#include "replicated_internal.h"
#include "replicated_round.h"
#include "waiting.h"

#include <stdlib.h>
#include <string.h>

/* Redis servers that fail over. The scripts grant in a settled era only (lua/era.lua), and this file believes what
 * enough replicas have confirmed: whatever is promoted then, at least one of those that could confirm another lock
 * knows this one. docs/fail-over.md has the protocol and its reasons; tests/models/failover.pml and
 * tests/models/failover/ check it. Waiting is that of single.c, but that a hand-over is confirmed like any other
 * acquire. */

void dlock_replicated_abandon(dlock_claim *claim)
{
	dlock_keys keys = dlock_service_keys(claim);
	dlock_conn *conn = dlock_route_conn(&dlock_service_of(claim)->route, keys.slot);

	if (conn) {
		dlock_conn_send_background(conn,
			dlock_request_release(keys, claim->token, true, claim->token, claim->state == DLOCK_CLAIM_WAITING),
			dlock_after(dlock_now(), claim->ttl));
	}
	if (conn
		&& dlock_topology_has_slots(dlock_service_of(claim)->route.topology)) { /* a slot that is being moved takes no
																				   script with more than one key */
		dlock_conn_send_background(conn, dlock_request_drop(keys, claim->token), dlock_after(dlock_now(), claim->ttl));
	}
}

/* ---- attach ---- */

static void give_back(
	dlock_service_backend *backend, dlock_claim *claim, dlock_keys keys, const char *token, dlock_delivery *delivery)
{
	dlock_conn *conn = dlock_route_conn(&backend->route, keys.slot);

	conn = conn ? conn : delivery->conn;
	if (conn) {
		dlock_conn_send_background(
			conn, dlock_request_exchange_back(keys, token, claim->token), dlock_after(dlock_now(), claim->ttl));
	}
}

static dlock_status accept_exchange(dlock_claim *claim, dlock_delivery *delivery, int slot, dlock_error *error)
{
	dlock_response response;
	dlock_era era;
	dlock_nanos sent_at = delivery->call->sent_at;
	dlock_settler settler = dlock_service_settler(claim, &dlock_service_of(claim)->route);
	dlock_status status = dlock_read_exchange(delivery->call, delivery->conn, &response, error);

	if (status != DLOCK_OK) {
		return status;
	}
	if (dlock_settle_confirm(&settler, delivery, slot, &era, error) != DLOCK_OK) {
		return DLOCK_CONNECTION;
	}
	dlock_nanos left = dlock_lease_left(response.pttl);
	claim->deadline = sent_at + left - dlock_drift(left);
	claim->fencing_token = response.fencing_token;
	dlock_claim_move(claim, DLOCK_CLAIM_HELD);
	return DLOCK_OK;
}

/* As in single.c; in a settled era only, since a server that was promoted may not know that the handle was taken up.
 * `left`: nothing was done, and the era settles in this number of ms; -1: not so. */
static dlock_status attach_once(dlock_claim *claim, const char *token, int64_t *left, dlock_error *error)
{
	dlock_service_backend *backend = dlock_service_of(claim);
	dlock_keys keys = dlock_service_keys(claim);
	dlock_delivery delivery;
	dlock_call *call = backend->route.replicas > 0
		? dlock_request_exchange_replicated(keys, token, claim->token, backend->guard)
		: dlock_request_exchange(keys, token, claim->token, 0);
	dlock_call *behind = backend->route.replicas > 0 && backend->guard.resyncs
		? dlock_request_unchanged(keys, claim->token, token, backend->guard) : NULL;
	dlock_status status = dlock_deliver_with(&delivery, &backend->route, keys.slot, call, behind, error);
	dlock_era era = dlock_read_era(delivery.call);
	dlock_settler settler = dlock_service_settler(claim, &backend->route);

	*left = -1;
	if (status == DLOCK_OK && era.unsettled) {
		status = era.left < 0 ? dlock_settle(&settler, &delivery, keys.slot, &era, error) : DLOCK_OK;
		if (status == DLOCK_OK) {
			dlock_explain_era(delivery.conn, era.left, backend->guard.time, error);
		}
		if (delivery.repeated) {
			give_back(backend, claim, keys, token, &delivery);
		} else if (status == DLOCK_OK) {
			*left = era.left;
		}
		dlock_delivery_end(&delivery);
		return DLOCK_CONNECTION;
	}
	if (status == DLOCK_OK) {
		status = accept_exchange(claim, &delivery, keys.slot, error);
	}
	if (status == DLOCK_CONNECTION && delivery.conn
		&& (delivery.repeated || dlock_request_may_take_effect(delivery.call))) {
		give_back(backend, claim, keys, token, &delivery);
	}
	dlock_delivery_end(&delivery);
	return status == DLOCK_LOST ? dlock_claim_came_late(claim, error) : status;
}

static dlock_status replicated_attach(dlock_claim *claim, const char *token, dlock_error *error)
{
	int64_t left;
	dlock_status status = attach_once(claim, token, &left, error);

	if (left >= 0 && left <= DLOCK_AT_ONCE) {
		dlock_pause(dlock_pool_loop(dlock_service_of(claim)->route.pool), dlock_now() + left * DLOCK_MS, NULL);
		status = attach_once(claim, token, &left, error);
	}
	return status;
}

/* ---- while it is held ---- */

static dlock_status replicated_extend(dlock_claim *claim, dlock_nanos ttl, dlock_error *error)
{
	dlock_kept_lease lease = dlock_service_kept(claim);

	return dlock_keep_extend(claim, &dlock_lock_keeping, &lease, &dlock_service_of(claim)->route, ttl, error);
}

/* The time that the key has left proves nothing, as long as replicas have not confirmed it. */
static dlock_status replicated_check(dlock_claim *claim, dlock_error *error)
{
	return replicated_extend(claim, claim->ttl, error);
}

static dlock_status replicated_release(dlock_claim *claim, dlock_error *error)
{
	dlock_service_backend *backend = dlock_service_of(claim);
	dlock_keys keys = dlock_service_keys(claim);
	dlock_route once = backend->route;
	dlock_delivery delivery;
	dlock_response response;

	once.replicas = 0; /* nobody relies on it */
	dlock_status status = dlock_deliver(
		&delivery, &once, keys.slot, dlock_request_release(keys, claim->token, true, NULL, false), error);
	if (status == DLOCK_OK) {
		status = dlock_read_integer(delivery.call, delivery.conn, &response, error);
	}
	if (status == DLOCK_CONNECTION && delivery.conn && delivery.call && delivery.call->state == DLOCK_CALL_ANSWERED
		&& delivery.transient && dlock_topology_has_slots(backend->route.topology)) { /* the slot is being moved */
		dlock_delivery_end(&delivery);
		status = dlock_deliver(&delivery, &once, keys.slot, dlock_request_drop(keys, claim->token), error);
		status = status == DLOCK_OK ? dlock_read_integer(delivery.call, delivery.conn, &response, error) : status;
	}
	if (status == DLOCK_OK) {
		claim->handed_over = response.value > 1;
	} else if (status == DLOCK_LOST && (delivery.call->repeated || delivery.repeated)) {
		status = DLOCK_OK; /* by an earlier sending */
	} else if (status == DLOCK_LOST && backend->route.replicas > 0) {
		dlock_kept_lease lease = dlock_service_kept(claim);
		status = dlock_keep_released(&dlock_lock_keeping, &lease, &backend->route, &delivery, error);
	}
	if (status == DLOCK_LOST) {
		dlock_fail(error, DLOCK_LOST, "The lock \"%s\" had been lost", dlock_claim_name(claim).text);
	} else if (status != DLOCK_OK) {
		dlock_replicated_abandon(claim);
	}
	dlock_delivery_end(&delivery);
	return status;
}

static dlock_status replicated_locked(
	dlock_backend *base, const char *resource, size_t len, bool *locked, dlock_error *error)
{
	dlock_service_backend *backend = (dlock_service_backend *) base;
	dlock_keys keys = dlock_key_builder_keys(backend->keys, resource, len);
	dlock_arg args[] = { DLOCK_ARG("EXISTS"), keys.lock };
	dlock_route once = backend->route;
	dlock_delivery delivery;
	dlock_response response;

	once.replicas = 0;
	dlock_status status = dlock_deliver(&delivery, &once, keys.slot, dlock_call_command(args, 2), error);
	if (status == DLOCK_OK) {
		status = dlock_read_integer(delivery.call, delivery.conn, &response, error);
	}
	dlock_delivery_end(&delivery);
	*locked = status == DLOCK_OK;
	return status == DLOCK_LOST ? DLOCK_OK : status;
}

/* ---- the back end ---- */

static dlock_renewal_round *replicated_new_round(const dlock_claim *claim)
{
	const dlock_service_backend *backend = dlock_service_of(claim);
	dlock_kept_lease lease = dlock_service_kept(claim);

	return dlock_replicated_round_new(
		&dlock_lock_keeping, &lease, backend->service, dlock_topology_master(backend->route.topology, lease.keys.slot));
}

static const dlock_backend_ops replicated_ops = {
	.name = "replicated",
	.claim_size = sizeof(dlock_service_claim),
	.detachable = true,
	.refuse = dlock_service_refuse,
	.acquire = dlock_replicated_acquire,
	.attach = replicated_attach,
	.extend = replicated_extend,
	.check = replicated_check,
	.release = replicated_release,
	.abandon = dlock_replicated_abandon,
	.new_round = replicated_new_round,
	.is_same = dlock_service_is_same,
	.locked = replicated_locked,
	.destroy = dlock_service_destroy,
};

dlock_backend *dlock_replicated_new(dlock_pool *pool, dlock_server *service, const char *prefix, size_t prefix_len)
{
	dlock_service_backend *backend = dlock_service_new(
		sizeof *backend, &replicated_ops, pool, service, prefix, prefix_len);

	return backend ? &backend->base : NULL;
}
