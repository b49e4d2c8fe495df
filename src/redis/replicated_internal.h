#ifndef DLOCK_REDIS_REPLICATED_INTERNAL_H
#define DLOCK_REDIS_REPLICATED_INTERNAL_H

#include "../lock/claim.h"
#include "delivery.h"
#include "keys.h"
#include "settling.h"
#include "waiter.h"

/* What the files of the back end on servers that fail over share. */

typedef struct {
	dlock_backend base;
	dlock_server *service;
	dlock_route route;
	dlock_guard guard;
	dlock_key_builder *keys;
} dlock_replicated_backend;

typedef struct {
	dlock_claim base;
	dlock_waiter waiter;
} dlock_replicated_claim;

static inline dlock_replicated_backend *dlock_replicated_backend_of(const dlock_claim *claim)
{
	return (dlock_replicated_backend *) claim->backend;
}

/* Valid until the next keys of the same builder. */
static inline dlock_keys dlock_replicated_keys(const dlock_claim *claim)
{
	return dlock_key_builder_keys(dlock_replicated_backend_of(claim)->keys, claim->resource, claim->resource_len);
}

/* `route`: of the request, which may end sooner than others. */
static inline dlock_settler dlock_replicated_settler(const dlock_claim *claim, const dlock_route *route)
{
	const dlock_replicated_backend *backend = dlock_replicated_backend_of(claim);

	return (dlock_settler) { route, backend->keys, backend->guard };
}

/* replicated_acquire.c */
dlock_status dlock_replicated_acquire(dlock_claim *claim, const dlock_wait *wait, dlock_error *error);

/* replicated.c: releases, and leaves the queue, without waiting. Where the master has moved meanwhile, it is left to the lease time. */
void dlock_replicated_abandon(dlock_claim *claim);

#endif
