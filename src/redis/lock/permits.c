#include "permits.h"

#include "permits_internal.h"
#include "replicated_round.h"
#include "waiting.h"

#include <stdlib.h>
#include <string.h>

/* What is done with permits that are held, and the back end. As with locks, the scripts in lua/ decide who has what; this file decides how long their outcome may be
 * relied upon, and what to do where it is unknown. */

/* May another server than the one that was asked be the master, now or later? Then what has ended by the holder's clock stays lost. */
static bool fails_over(const dlock_server *service)
{
	return service->discovery != DLOCK_SERVER_FIXED || service->replicas > 0;
}

static void permits_top_up(dlock_claim *claim)
{
	dlock_keys keys = dlock_service_keys(claim);
	dlock_conn *conn = dlock_route_conn(&dlock_service_of(claim)->route, keys.slot);

	if (conn) {
		dlock_conn_send_background(conn, dlock_request_permits_renew(keys.lock, claim->token, claim->ttl, true), atomic_load(&claim->deadline));
	}
}

/* ---- attach ---- */

static dlock_call *exchange_call(const dlock_service_backend *backend, dlock_keys keys, const char *old, const char *new_id)
{
	return backend->route.replicas > 0 ? dlock_request_permits_exchange_replicated(keys, old, new_id, backend->base.capacity, backend->guard)
		: dlock_request_permits_exchange(keys.lock, old, new_id);
}

static void give_back(dlock_claim *claim, const char *token, const dlock_delivery *delivery)
{
	dlock_keys keys = dlock_service_keys(claim);
	dlock_conn *conn = dlock_route_conn(&dlock_service_of(claim)->route, keys.slot);

	conn = conn ? conn : delivery->conn;
	if (conn) {
		dlock_conn_send_background(conn, dlock_request_permits_exchange(keys.lock, claim->token, token), dlock_after(dlock_now(), claim->ttl));
	}
}

static dlock_status accept_exchange(dlock_claim *claim, const dlock_settler *settler, dlock_delivery *delivery, int slot, dlock_error *error)
{
	dlock_permits_response response;
	dlock_era era;
	dlock_nanos sent_at = delivery->call->sent_at;
	dlock_status status = dlock_read_permits_exchange(delivery->call, delivery->conn, &response, error);

	if (status != DLOCK_OK) {
		return status;
	}
	if (dlock_settle_confirm(settler, delivery, slot, &era, error) != DLOCK_OK) {
		return DLOCK_CONNECTION;
	}
	dlock_nanos left = dlock_lease_left(response.pttl);
	claim->deadline = sent_at + left - dlock_drift(left);
	claim->fencing_token = response.fencing_token;
	claim->permits = response.permits;
	dlock_claim_move(claim, DLOCK_CLAIM_HELD);
	return DLOCK_OK;
}

/* As in single.c: what was asked for with the old id does not matter any more, and what is undone was not sent again. In a settled era only, since a server
 * that was promoted may not know that the handle was taken up. `left`: nothing was done, and the era settles in this number of ms; -1: not so. */
static dlock_status attach_once(dlock_claim *claim, const char *token, int64_t *left, dlock_error *error)
{
	dlock_service_backend *backend = dlock_service_of(claim);
	dlock_keys keys = dlock_service_keys(claim);
	dlock_settler settler = dlock_service_settler(claim, &backend->route);
	dlock_delivery delivery;
	dlock_status status = dlock_deliver_with(&delivery, &backend->route, keys.slot, exchange_call(backend, keys, token, claim->token),
		dlock_permits_unchanged_call(claim, keys, token), error);
	dlock_era era = dlock_read_era(delivery.call);
	bool unknown = delivery.repeated;

	*left = -1;
	if (status == DLOCK_OK && era.unsettled) {
		status = era.left < 0 ? dlock_settle(&settler, &delivery, keys.slot, &era, error) : DLOCK_OK;
		if (status == DLOCK_OK) {
			dlock_explain_era(delivery.conn, era.left, backend->guard.time, error);
			*left = delivery.repeated ? -1 : era.left;
		}
		status = DLOCK_CONNECTION;
	} else {
		status = status == DLOCK_OK ? accept_exchange(claim, &settler, &delivery, keys.slot, error) : status;
		unknown |= dlock_request_may_take_effect(delivery.call);
	}
	if (status == DLOCK_CONNECTION && delivery.conn && unknown) {
		give_back(claim, token, &delivery);
	}
	dlock_delivery_end(&delivery);
	return status == DLOCK_LOST ? dlock_claim_came_late(claim, error) : status;
}

static dlock_status permits_attach(dlock_claim *claim, const char *token, dlock_error *error)
{
	int64_t left;
	dlock_status status = attach_once(claim, token, &left, error);

	if (left >= 0 && left <= DLOCK_AT_ONCE) {
		dlock_pause(dlock_pool_loop(dlock_service_of(claim)->route.pool), dlock_now() + left * DLOCK_MS, NULL);
		status = attach_once(claim, token, &left, error);
	}
	return status;
}

/* ---- what is said about a lease ---- */

/* Where no replica confirms it, what is not the holder's is lost. */
static dlock_call *keep(const dlock_kept_lease *lease, dlock_nanos ttl, bool shortens)
{
	return ttl > 0 ? dlock_request_permits_renew(lease->keys.lock, lease->token, ttl, !shortens)
		: dlock_request_permits_check(lease->keys.lock, lease->token);
}

static dlock_status read_keep(const dlock_call *call, const dlock_conn *conn, dlock_key_state *state, dlock_error *error)
{
	bool checks = call && call->origin == &dlock_scripts[DLOCK_SCRIPT_PERMITS_CHECK];
	dlock_permits_response permits;
	dlock_response response;
	dlock_status status = checks ? dlock_read_permits_check(call, conn, &permits, error) : dlock_read_integer(call, conn, &response, error);

	*state = status == DLOCK_OK ? DLOCK_KEY_OWN : DLOCK_KEY_FOREIGN;
	return status == DLOCK_LOST ? DLOCK_OK : status;
}

static dlock_call *keep_replicated(const dlock_kept_lease *lease, dlock_nanos ttl, bool shortens)
{
	return dlock_request_permits_keep(lease->keys, lease->token, ttl, shortens);
}

static dlock_call *restore(const dlock_kept_lease *lease, dlock_nanos ttl)
{
	return dlock_request_permits_restore(lease->keys, lease->token, lease->permits, ttl, lease->fencing_token, lease->guard);
}

static dlock_call *drop(const dlock_kept_lease *lease)
{
	return dlock_request_permits_drop(lease->keys, lease->token);
}

static const dlock_keeping plain_keeping = { keep, read_keep, restore, drop };
static const dlock_keeping replicated_keeping = { keep_replicated, dlock_read_keep, restore, drop };

static const dlock_keeping *keeping_of(const dlock_claim *claim)
{
	return dlock_service_is_replicated(claim) ? &replicated_keeping : &plain_keeping;
}

/* ---- while they are held ---- */

static dlock_status permits_extend(dlock_claim *claim, dlock_nanos ttl, dlock_error *error)
{
	dlock_kept_lease lease = dlock_service_kept(claim);

	return dlock_keep_extend(claim, keeping_of(claim), &lease, &dlock_service_of(claim)->route, ttl, error);
}

static dlock_status permits_check(dlock_claim *claim, dlock_error *error)
{
	dlock_service_backend *backend = dlock_service_of(claim);
	dlock_keys keys = dlock_service_keys(claim);
	dlock_permits_response response;
	dlock_delivery delivery;

	if (dlock_service_is_replicated(claim)) { /* the time that is left proves nothing, as long as replicas have not confirmed it */
		return permits_extend(claim, claim->ttl, error);
	}
	dlock_status status = dlock_deliver(&delivery, &backend->route, keys.slot, dlock_request_permits_check(keys.lock, claim->token), error);
	if (status == DLOCK_OK) {
		status = dlock_read_permits_check(delivery.call, delivery.conn, &response, error);
	}
	if (status == DLOCK_OK && !(fails_over(backend->service) && dlock_claim_expire(claim))) {
		dlock_nanos left = dlock_claim_guaranteed_ttl(claim, dlock_lease_left(response.pttl));
		claim->deadline = delivery.call->sent_at + left - dlock_drift(left);
		dlock_claim_move(claim, DLOCK_CLAIM_HELD);
	} else if (status == DLOCK_LOST) {
		dlock_fail(error, DLOCK_LOST, "The lock \"%s\" is not this lease's on the server",
			dlock_claim_name(claim).text);
	}
	dlock_delivery_end(&delivery);
	return status;
}

static dlock_status permits_release(dlock_claim *claim, dlock_error *error)
{
	dlock_service_backend *backend = dlock_service_of(claim);
	dlock_keys keys = dlock_service_keys(claim);
	dlock_route once = backend->route;
	dlock_delivery delivery;
	dlock_response response;

	once.replicas = 0; /* nobody relies on it */
	dlock_status status = dlock_deliver(&delivery, &once, keys.slot, dlock_permits_release_call(claim, keys, false), error);
	if (status == DLOCK_CONNECTION && delivery.transient && dlock_service_is_replicated(claim)) { /* the slot is being moved, perhaps */
		bool repeated = delivery.repeated;
		dlock_delivery_end(&delivery);
		status = dlock_deliver(&delivery, &once, keys.slot, dlock_request_permits_drop(keys, claim->token), error);
		delivery.repeated |= repeated;
	}
	if (status == DLOCK_OK) {
		status = dlock_read_integer(delivery.call, delivery.conn, &response, error);
	}
	if (status == DLOCK_OK) {
		claim->handed_over = response.value > 1;
	} else if (status == DLOCK_LOST && (delivery.call->repeated || delivery.repeated) && dlock_now() < atomic_load(&claim->deadline)) {
		status = DLOCK_OK; /* by an earlier sending: nobody takes permits back before their lease is over */
	} else if (status == DLOCK_LOST && dlock_service_is_replicated(claim)) {
		dlock_kept_lease lease = dlock_service_kept(claim);
		status = dlock_keep_released(&replicated_keeping, &lease, &backend->route, &delivery, error);
	}
	if (status == DLOCK_LOST) {
		dlock_fail(error, DLOCK_LOST, "The lock \"%s\" had been lost", dlock_claim_name(claim).text);
	} else if (status != DLOCK_OK) {
		dlock_permits_abandon(claim);
	}
	dlock_delivery_end(&delivery);
	return status;
}

/* ---- what anybody may ask ---- */

static dlock_status ask_counts(dlock_service_backend *backend, const char *resource, size_t len, dlock_permits_counts *counts, dlock_error *error)
{
	dlock_keys keys = dlock_key_builder_keys(backend->keys, resource, len);
	dlock_delivery delivery;
	dlock_status status = dlock_deliver(&delivery, &backend->route, keys.slot, dlock_request_permits_counts(keys.lock, backend->base.capacity), error);

	if (status == DLOCK_OK) {
		status = dlock_read_permits_counts(delivery.call, delivery.conn, counts, error);
	}
	dlock_delivery_end(&delivery);
	return status;
}

dlock_status dlock_permits_available(dlock_backend *backend, const char *resource, size_t len, int64_t *available, dlock_error *error)
{
	dlock_permits_counts counts;
	dlock_status status = ask_counts((dlock_service_backend *) backend, resource, len, &counts, error);

	if (status == DLOCK_OK) {
		*available = counts.available > 0 ? counts.available : 0; /* less than none: others have asked with a larger capacity */
	}
	return status;
}

static dlock_status permits_locked(dlock_backend *backend, const char *resource, size_t len, bool *locked, dlock_error *error)
{
	dlock_permits_counts counts;
	dlock_status status = ask_counts((dlock_service_backend *) backend, resource, len, &counts, error);

	*locked = status == DLOCK_OK && counts.held > 0;
	return status;
}

/* ---- the back end ---- */

static dlock_renewal_round *permits_new_round(const dlock_claim *claim)
{
	const dlock_service_backend *backend = dlock_service_of(claim);
	dlock_kept_lease lease = dlock_service_kept(claim);
	dlock_renewal_round *round = dlock_replicated_round_new(keeping_of(claim), &lease, backend->service,
		dlock_topology_master(backend->route.topology, lease.keys.slot));

	if (round) {
		round->late_proves_nothing = fails_over(backend->service);
	}
	return round;
}

static const dlock_backend_ops permits_ops = {
	.name = "permits",
	.claim_size = sizeof(dlock_service_claim),
	.detachable = true,
	.refuse = dlock_service_refuse,
	.acquire = dlock_permits_acquire,
	.attach = permits_attach,
	.extend = permits_extend,
	.check = permits_check,
	.release = permits_release,
	.abandon = dlock_permits_abandon,
	.top_up = permits_top_up,
	.new_round = permits_new_round,
	.is_same = dlock_service_is_same,
	.locked = permits_locked,
	.available = dlock_permits_available,
	.destroy = dlock_service_destroy,
};

dlock_backend *dlock_permits_new(dlock_pool *pool, dlock_server *service, const char *prefix, size_t prefix_len, int64_t capacity, bool fifo)
{
	dlock_service_backend *backend = dlock_service_new(sizeof(dlock_permits_backend), &permits_ops, pool, service, prefix, prefix_len);

	if (!backend) {
		return NULL;
	}
	((dlock_permits_backend *) backend)->fifo = fifo;
	backend->base.capacity = capacity;
	if (service->replicas > 0) {
		backend->base.ttls = (dlock_ttl_range) { DLOCK_TTL_MIN, service->guard, true };
	}
	return &backend->base;
}
