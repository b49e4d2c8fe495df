#include "service.h"

#include <stddef.h>
#include <stdlib.h>

/* ---- acquire ---- */

dlock_service_claim *dlock_service_claim_of(dlock_waiter *waiter)
{
	return (dlock_service_claim *) ((char *) waiter - offsetof(dlock_service_claim, waiter));
}

dlock_status dlock_service_acquire(
	dlock_claim *claim, const dlock_waiter_ops *ops, const dlock_wait *wait, dlock_error *error)
{
	const dlock_service_backend *backend = dlock_service_of(claim);
	dlock_waiter *waiter = &((dlock_service_claim *) claim)->waiter;

	waiter->ops = ops;
	waiter->service = backend->service;
	waiter->route = &backend->route;
	waiter->slot = dlock_service_keys(claim).slot;
	waiter->ttl = claim->ttl;
	waiter->name = claim->token;
	dlock_status status = dlock_waiter_acquire(waiter, wait, error);
	claim->waited = waiter->waited;
	claim->received = waiter->received;
	return status;
}

dlock_status dlock_service_begin_again(dlock_claim *claim, dlock_error *error)
{
	claim->backend->ops->abandon(claim);
	dlock_claim_move(claim, DLOCK_CLAIM_NEW);
	return dlock_claim_renew_token(claim, error);
}

/* When an attempt took longer than the lease lasts, in ms. */
#define TRY_AGAIN 20

dlock_status dlock_service_accept_lease(dlock_service_claim *claim, const dlock_settler *settler,
	dlock_delivery *delivery, int64_t fencing_token, dlock_response *response, dlock_error *error)
{
	dlock_claim *base = &claim->base;
	dlock_nanos sent_at = delivery->call->sent_at;
	dlock_era era;
	dlock_error other;
	dlock_status status = dlock_settle_confirm(settler, delivery, claim->waiter.slot, &era, error);

	if (status == DLOCK_CONNECTION) {
		return status;
	}
	base->explained = status == DLOCK_LOST;
	claim->waiter.settled_just_now = status == DLOCK_LOST && era.left >= 0 && era.left <= DLOCK_AT_ONCE;
	base->deadline = sent_at + base->ttl - dlock_drift(base->ttl);
	if (status == DLOCK_OK && dlock_now() < base->deadline) {
		base->fencing_token = fencing_token;
		dlock_claim_move(base, DLOCK_CLAIM_HELD);
		return DLOCK_OK;
	}
	*response = (dlock_response) { .pttl = TRY_AGAIN };
	status = dlock_service_begin_again(base, &other);
	*error = status == DLOCK_OK ? *error : other;
	return status == DLOCK_OK ? DLOCK_TIMEOUT : DLOCK_FAILED;
}

dlock_status dlock_service_end_attempt(
	dlock_claim *claim, dlock_delivery *delivery, dlock_status status, bool *transient, dlock_error *error)
{
	/* Executed once more, it finds its own token and sets its lease time, or it is granted again. */
	if (dlock_delivery_may_run_later(delivery)) {
		dlock_claim_add_unacknowledged_ttl(claim, claim->ttl);
	}
	*transient = status == DLOCK_CONNECTION && delivery->transient;
	if (status == DLOCK_CONNECTION && delivery->call
		&& (delivery->repeated || dlock_request_may_take_effect(delivery->call)
			|| claim->state == DLOCK_CLAIM_WAITING)) {
		dlock_error other;
		status = dlock_service_begin_again(claim, &other) == DLOCK_OK ? DLOCK_CONNECTION : DLOCK_FAILED;
		*error = status == DLOCK_FAILED ? other : *error;
	} else if (status == DLOCK_CONNECTION) {
		dlock_claim_move(claim, DLOCK_CLAIM_NEW);
	}
	dlock_delivery_end(delivery);
	return status;
}

/* ---- the back end ---- */

dlock_service_backend *dlock_service_new(size_t size, const dlock_backend_ops *ops, dlock_pool *pool,
	dlock_server *service, const char *prefix, size_t prefix_len)
{
	dlock_service_backend *backend = calloc(1, size);

	if (!backend) {
		return NULL;
	}
	dlock_backend_init(&backend->base, ops, prefix, prefix_len);
	backend->service = dlock_server_retain(service);
	backend->route = (dlock_route) { pool, dlock_pool_topology(pool, service), service->replicas, DLOCK_FOREVER };
	backend->guard = (dlock_guard) { service->guard, service->resync_guard };
	backend->keys = dlock_key_builder_new(prefix, prefix_len, DLOCK_RESOURCE_MAX);
	if (!backend->route.topology || !backend->keys) {
		dlock_service_destroy(&backend->base);
		return NULL;
	}
	if (dlock_topology_has_slots(backend->route.topology)) {
		dlock_key_builder_use_slots(backend->keys);
	}
	return backend;
}

const char *dlock_service_refuse(const dlock_backend *backend, const char *resource, size_t len)
{
	return dlock_key_builder_refuse(((const dlock_service_backend *) backend)->keys, resource, len);
}

bool dlock_service_is_same(const dlock_claim *claim, dlock_backend *backend, const char *resource, size_t len)
{
	dlock_service_backend *ours = dlock_service_of(claim), *other = (dlock_service_backend *) backend;

	return dlock_server_is_same(ours->service, other->service)
		&& dlock_key_builder_is_same(ours->keys, claim->resource, claim->resource_len, other->keys, resource, len);
}

void dlock_service_destroy(dlock_backend *base)
{
	dlock_service_backend *backend = (dlock_service_backend *) base;

	dlock_server_release(backend->service);
	free(backend->keys);
	free(backend);
}
