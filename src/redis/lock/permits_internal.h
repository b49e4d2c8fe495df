#ifndef DLOCK_REDIS_PERMITS_INTERNAL_H
#define DLOCK_REDIS_PERMITS_INTERNAL_H

#include "../request/permits_replicated_requests.h"
#include "service.h"

/* What the files of the back end for semaphores and read/write locks share, beside service.h. */

typedef struct {
	dlock_service_backend base;
	bool fifo;
} dlock_permits_backend;

/* What is to be looked at once more, behind WAIT; `old`: of an exchange. NULL: nothing. */
static inline dlock_call *dlock_permits_unchanged_call(const dlock_claim *claim, dlock_keys keys, const char *old)
{
	dlock_guard guard = dlock_service_of(claim)->guard;

	return dlock_service_is_replicated(claim) && guard.resyncs ? dlock_request_permits_unchanged(keys, claim->token, old, guard) : NULL;
}

/* permits_acquire.c */
dlock_status dlock_permits_acquire(dlock_claim *claim, const dlock_wait *wait, dlock_error *error);

/* Gives back what it has. `leaves`: also its place in the queue, where it waits. */
dlock_call *dlock_permits_release_call(const dlock_claim *claim, dlock_keys keys, bool leaves);

/* Gives back what it has, and leaves the queue where it waits, without waiting for an answer. Where the master has moved meanwhile, it is left to the lease time. */
void dlock_permits_abandon(dlock_claim *claim);

#endif
