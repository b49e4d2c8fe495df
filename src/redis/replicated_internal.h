#ifndef DLOCK_REDIS_REPLICATED_INTERNAL_H
#define DLOCK_REDIS_REPLICATED_INTERNAL_H

#include "../lock/claim.h"
#include "delivery.h"
#include "inbox.h"
#include "keys.h"
#include "replicated_requests.h"

/* What the files of the back end on servers that fail over share. */

typedef struct {
	dlock_backend base;
	dlock_server *service;
	dlock_route route;
	dlock_nanos guard;
	dlock_key_builder *keys;
} dlock_replicated_backend;

typedef struct {
	dlock_claim base;
	int64_t ticket;        /* keeps its position in the queue, on whichever server; 0: none yet */
	int64_t number;        /* of the last request */
	dlock_nanos next_look; /* when to look again without having been notified */
	dlock_nanos trouble_since; /* nobody could be asked since then; 0: somebody could */
	bool settled_just_now; /* by this claim: it may ask again */
	dlock_inbox *inbox;    /* of the master where it waits */
	const dlock_server *queued_at; /* whose queue it is in; only compared, or used as long as its connection is */
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

/* replicated_acquire.c */
dlock_status dlock_replicated_acquire(dlock_claim *claim, const dlock_wait *wait, dlock_error *error);

/* Replicas have what the call has opened, or not; from when it counts is for the server to say. Brings the era up to date. */
dlock_status dlock_replicated_settle(const dlock_replicated_backend *backend, const dlock_route *route, dlock_delivery *delivery, int slot,
	dlock_era *era, dlock_error *error);

/* replicated.c: releases, and leaves the queue, without waiting. Where the master has moved meanwhile, it is left to the lease time. */
void dlock_replicated_abandon(dlock_claim *claim);

#endif
