#ifndef DLOCK_REDIS_SERVICE_H
#define DLOCK_REDIS_SERVICE_H

#include "../../lock/claim.h"
#include "../request/keys.h"
#include "keeping.h"
#include "settling.h"
#include "waiter.h"

/* What the back ends have in common that ask the master of a slot, wherever the service has it: for locks
 * (replicated.h) and for permits (permits.h). */

/* The first member of such a back end, or all of it. */
typedef struct {
	dlock_backend base;
	dlock_server *service;
	dlock_route route;
	dlock_guard guard; /* where replicas confirm */
	dlock_key_builder *keys;
} dlock_service_backend;

typedef struct {
	dlock_claim base;
	dlock_waiter waiter;
} dlock_service_claim;

static inline dlock_service_backend *dlock_service_of(const dlock_claim *claim)
{
	return (dlock_service_backend *) claim->backend;
}

/* Do replicas confirm what is granted, and only in a settled era? docs/fail-over.md */
static inline bool dlock_service_is_replicated(const dlock_claim *claim)
{
	return dlock_service_of(claim)->route.replicas > 0;
}

/* Valid until the next keys of the same builder. */
static inline dlock_keys dlock_service_keys(const dlock_claim *claim)
{
	return dlock_key_builder_keys(dlock_service_of(claim)->keys, claim->resource, claim->resource_len);
}

/* `route`: of the request, which may end sooner than others. */
static inline dlock_settler dlock_service_settler(const dlock_claim *claim, const dlock_route *route)
{
	return (dlock_settler) { route, dlock_service_of(claim)->keys, dlock_service_of(claim)->guard };
}

static inline dlock_kept_lease dlock_service_kept(const dlock_claim *claim)
{
	return dlock_kept_lease_of(claim, dlock_service_keys(claim), dlock_service_of(claim)->guard.time);
}

/* ---- acquire ---- */

/* acquire() of a back end, by the operations of its waiter. */
dlock_status dlock_service_acquire(
	dlock_claim *claim, const dlock_waiter_ops *ops, const dlock_wait *wait, dlock_error *error);

/* The claim that waits. */
dlock_service_claim *dlock_service_claim_of(dlock_waiter *waiter);

/* Something of the claim may be executed later than what follows: a token that was released is not used again. Its
 * place in the queue goes with its ticket. */
dlock_status dlock_service_begin_again(dlock_claim *claim, dlock_error *error);

/* Takes what a server has granted, once replicas have confirmed it. DLOCK_TIMEOUT, with when to ask again in
 * `response`: it took longer than the lease lasts, or replicas have taken full copies. */
dlock_status dlock_service_accept_lease(dlock_service_claim *claim, const dlock_settler *settler,
	dlock_delivery *delivery, int64_t fencing_token, dlock_response *response, dlock_error *error);

/* The end of attempt() of a waiter, with the status that it comes to. Ends the delivery. */
dlock_status dlock_service_end_attempt(
	dlock_claim *claim, dlock_delivery *delivery, dlock_status status, bool *transient, dlock_error *error);

/* ---- the back end ---- */

/* `size`: of the back end's own struct, which is zeroed behind this one. NULL when out of memory. */
dlock_service_backend *dlock_service_new(size_t size, const dlock_backend_ops *ops, dlock_pool *pool,
	dlock_server *service, const char *prefix, size_t prefix_len);

/* Those of its operations that are the same (lock/backend.h). */
const char *dlock_service_refuse(const dlock_backend *backend, const char *resource, size_t resource_len);
bool dlock_service_is_same(const dlock_claim *claim, dlock_backend *backend, const char *resource, size_t resource_len);
void dlock_service_destroy(dlock_backend *backend);

#endif
