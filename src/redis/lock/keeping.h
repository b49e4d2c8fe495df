#ifndef DLOCK_REDIS_KEEPING_H
#define DLOCK_REDIS_KEEPING_H

#include "../../lock/claim.h"
#include "../request/replicated_requests.h"
#include "../route/delivery.h"

/* How a held lease is kept at the master of its slot, whichever server that is now; and given back to one that was
 * promoted without it. For locks and for permits, by the holder and by the renewal thread. */

typedef struct {
	char token[DLOCK_TOKEN_MAX + 1];
	int64_t fencing_token, permits;
	dlock_nanos guard;
	dlock_keys keys; /* the lock, the fence and the era */
} dlock_kept_lease;

/* What is said to the master about it. */
typedef struct {
	/* It lasts for so long from now on; with `shortens` also where more is left. A lease time of 0 just asks. */
	dlock_call *(*keep)(const dlock_kept_lease *lease, dlock_nanos ttl, bool shortens);
	dlock_status (*read_keep)(const dlock_call *call, const dlock_conn *conn, dlock_key_state *state,
		dlock_error *error); /* DLOCK_OK: the state is known */

	/* Where replicas confirm: gives it to a server that has not got it; a lease time of 0: it is given back, and was
	 * the holder's until then. And takes it back from there. The replies are numbers, more than 0 for yes. */
	dlock_call *(*restore)(const dlock_kept_lease *lease, dlock_nanos ttl);
	dlock_call *(*drop)(const dlock_kept_lease *lease);
} dlock_keeping;

extern const dlock_keeping dlock_lock_keeping;

/* With keys that live as long as the caller's. */
dlock_kept_lease dlock_kept_lease_of(const dlock_claim *claim, dlock_keys keys, dlock_nanos guard);

/* extend() of a back end (lock/backend.h). `lease` is the claim's. */
dlock_status dlock_keep_extend(dlock_claim *claim, const dlock_keeping *keeping, const dlock_kept_lease *lease,
	const dlock_route *route, dlock_nanos ttl, dlock_error *error);

/* A release has found nothing on a server that may have been promoted without it. Takes the place of the delivery.
 * DLOCK_OK: until now it was this holder's. */
dlock_status dlock_keep_released(const dlock_keeping *keeping, const dlock_kept_lease *lease, const dlock_route *route,
	dlock_delivery *delivery, dlock_error *error);

#endif
