#include "keeping.h"

#include <string.h>

/* ---- what is said about locks ---- */

static dlock_call *keep_lock(const dlock_kept_lease *lease, dlock_nanos ttl, bool shortens)
{
	return dlock_request_keep(lease->keys, lease->token, ttl, shortens);
}

static dlock_call *restore_lock(const dlock_kept_lease *lease, dlock_nanos ttl)
{
	return dlock_request_restore(lease->keys, lease->token, ttl, lease->fencing_token, lease->guard);
}

static dlock_call *drop_lock(const dlock_kept_lease *lease)
{
	return dlock_request_drop(lease->keys, lease->token);
}

const dlock_keeping dlock_lock_keeping = { keep_lock, dlock_read_keep, restore_lock, drop_lock };

/* ---- by the holder ---- */

dlock_kept_lease dlock_kept_lease_of(const dlock_claim *claim, dlock_keys keys, dlock_nanos guard)
{
	dlock_kept_lease lease = {
		.fencing_token = claim->fencing_token, .permits = claim->permits, .guard = guard, .keys = keys
	};

	memcpy(lease.token, claim->token, sizeof lease.token);
	return lease;
}

/* The server has no key: it was failed over to without it, and nobody else can have it before its era is settled; or it
 * is lost. */
static dlock_status restore(const dlock_keeping *keeping, const dlock_kept_lease *lease, const dlock_route *route,
	dlock_nanos ttl, dlock_delivery *delivery, dlock_error *error)
{
	dlock_response response;
	bool repeated = delivery->repeated;

	dlock_delivery_end(delivery);
	dlock_status status = dlock_deliver(delivery, route, lease->keys.slot, keeping->restore(lease, ttl), error);
	delivery->repeated |= repeated;
	return status == DLOCK_OK ? dlock_read_integer(delivery->call, delivery->conn, &response, error) : status;
}

/* That the lock is lost counts only if replicas are there: a master that was replaced would say so, too. */
static dlock_status confirm(const dlock_route *route, dlock_status status, dlock_delivery *delivery, dlock_error *error)
{
	if (status != DLOCK_OK && status != DLOCK_LOST) {
		return status;
	}
	return dlock_delivery_confirm(delivery, route, error) == DLOCK_OK ? status : DLOCK_CONNECTION;
}

static dlock_status keep_at_master(const dlock_keeping *keeping, const dlock_kept_lease *lease,
	const dlock_route *route, dlock_nanos ttl, dlock_delivery *delivery, dlock_error *error)
{
	dlock_key_state state = DLOCK_KEY_FOREIGN;
	dlock_status status = dlock_deliver(delivery, route, lease->keys.slot, keeping->keep(lease, ttl, true), error);

	if (status == DLOCK_OK) {
		status = keeping->read_keep(delivery->call, delivery->conn, &state, error);
	}
	if (status == DLOCK_OK && state != DLOCK_KEY_OWN && route->replicas > 0) {
		status = restore(keeping, lease, route, ttl, delivery, error);
	} else if (status == DLOCK_OK && state != DLOCK_KEY_OWN) {
		status = DLOCK_LOST;
	}
	return confirm(route, status, delivery, error);
}

/* It was asked without success, and is not the master any more. */
static bool is_replaced(const dlock_route *route, int slot, const dlock_delivery *delivery)
{
	const dlock_server *master = dlock_topology_master(route->topology, slot);

	return master && delivery->conn && delivery->call && delivery->transient
		&& strcmp(master->key, delivery->conn->server->key);
}

/* DLOCK_OK: the server has the key for so long, and replicas have confirmed it. */
static dlock_status keep(const dlock_keeping *keeping, const dlock_kept_lease *lease, const dlock_route *route,
	dlock_nanos ttl, dlock_delivery *delivery, dlock_error *error)
{
	dlock_status status = keep_at_master(keeping, lease, route, ttl, delivery, error);

	if (status == DLOCK_CONNECTION && is_replaced(route, lease->keys.slot, delivery)) {
		dlock_delivery_end(delivery);
		status = keep_at_master(keeping, lease, route, ttl, delivery, error);
		delivery->repeated = true;
	}
	return status;
}

dlock_status dlock_keep_extend(dlock_claim *claim, const dlock_keeping *keeping, const dlock_kept_lease *lease,
	const dlock_route *route, dlock_nanos ttl, dlock_error *error)
{
	dlock_delivery delivery;
	dlock_nanos begun = dlock_now();
	dlock_status status = keep(keeping, lease, route, ttl, &delivery, error);
	const dlock_call *call = delivery.call;

	/* What has ended by the holder's clock stays lost: another one may have had the lock on a server that was replaced
	 * meanwhile. */
	if (status == DLOCK_OK && !dlock_claim_expire(claim)) {
		dlock_nanos guaranteed = dlock_claim_guaranteed_ttl(claim, ttl);
		claim->ttl = ttl;
		claim->deadline = call->sent_at + guaranteed - dlock_drift(guaranteed);
		dlock_claim_move(claim, DLOCK_CLAIM_HELD);
	} else if (status == DLOCK_LOST) {
		dlock_fail(error, DLOCK_LOST, "The lock \"%s\" was lost: the server has it for someone else, or for nobody",
			dlock_claim_name(claim).text);
	} else if (call && (call->sent || delivery.repeated) && begun + ttl - dlock_drift(ttl) < claim->deadline) {
		/* A shorter lease that may have been set, by whichever server was asked, must be believed even without an
		 * answer. */
		claim->deadline = begun + ttl - dlock_drift(ttl);
	}
	if (dlock_delivery_may_run_later(&delivery)) {
		dlock_claim_add_unacknowledged_ttl(claim, ttl);
	}
	dlock_delivery_end(&delivery);
	return status;
}

dlock_status dlock_keep_released(const dlock_keeping *keeping, const dlock_kept_lease *lease, const dlock_route *route,
	dlock_delivery *delivery, dlock_error *error)
{
	return confirm(route, restore(keeping, lease, route, 0, delivery, error), delivery, error);
}
