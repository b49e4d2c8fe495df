#ifndef DLOCK_REDIS_PERMITS_INTERNAL_H
#define DLOCK_REDIS_PERMITS_INTERNAL_H

#include "../lock/claim.h"
#include "keys.h"
#include "permits_replicated_requests.h"
#include "settling.h"
#include "waiter.h"

/* What the files of the back end for semaphores and read/write locks share. */

typedef struct {
	dlock_backend base;
	dlock_server *service;
	dlock_route route;
	dlock_guard guard; /* where replicas confirm */
	dlock_key_builder *keys;
	bool fifo;
} dlock_permits_backend;

typedef struct {
	dlock_claim base;
	dlock_waiter waiter;
} dlock_permits_claim;

static inline dlock_permits_backend *dlock_permits_backend_of(const dlock_claim *claim)
{
	return (dlock_permits_backend *) claim->backend;
}

/* Do replicas confirm what is granted, and only in a settled era? docs/fail-over.md */
static inline bool dlock_permits_is_replicated(const dlock_claim *claim)
{
	return dlock_permits_backend_of(claim)->route.replicas > 0;
}

/* `route`: of the request, which may end sooner than others. */
static inline dlock_settler dlock_permits_settler(const dlock_claim *claim, const dlock_route *route)
{
	const dlock_permits_backend *backend = dlock_permits_backend_of(claim);

	return (dlock_settler) { route, backend->keys, backend->guard };
}

/* What is to be looked at once more, behind WAIT; `old`: of an exchange. NULL: nothing. */
static inline dlock_call *dlock_permits_unchanged_call(const dlock_claim *claim, dlock_keys keys, const char *old)
{
	const dlock_permits_backend *backend = dlock_permits_backend_of(claim);

	return dlock_permits_is_replicated(claim) && backend->guard.resyncs ? dlock_request_permits_unchanged(keys, claim->token, old, backend->guard) : NULL;
}

/* Valid until the next keys of the same builder. */
static inline dlock_keys dlock_permits_keys(const dlock_claim *claim)
{
	return dlock_key_builder_keys(dlock_permits_backend_of(claim)->keys, claim->resource, claim->resource_len);
}

/* May it be executed yet, once or again? Then it may be so after others that follow it over another connection. */
static inline bool dlock_permits_may_run_later(const dlock_delivery *delivery)
{
	const dlock_call *call = delivery->call;

	return call && (delivery->repeated || (call->sent && (call->state != DLOCK_CALL_ANSWERED || call->repeated)));
}

/* permits_acquire.c */
dlock_status dlock_permits_acquire(dlock_claim *claim, const dlock_wait *wait, dlock_error *error);

/* Gives back what it has. `leaves`: also its place in the queue, where it waits. */
dlock_call *dlock_permits_release_call(const dlock_claim *claim, dlock_keys keys, bool leaves);

/* Gives back what it has, and leaves the queue where it waits, without waiting for an answer. Where the master has moved meanwhile, it is left to the lease time. */
void dlock_permits_abandon(dlock_claim *claim);

#endif
