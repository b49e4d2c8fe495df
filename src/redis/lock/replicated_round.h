#ifndef DLOCK_REDIS_REPLICATED_ROUND_H
#define DLOCK_REDIS_REPLICATED_ROUND_H

#include "../../lock/renewer.h"
#include "keeping.h"

/* A renewal of a lease on servers that fail over: confirmed by replicas, and given back to a server that was promoted
 * without it. `master`: where the holder has the lock from, as far as it is known, or NULL. NULL when out of memory. */
dlock_renewal_round *dlock_replicated_round_new(
	const dlock_keeping *keeping, const dlock_kept_lease *lease, dlock_server *service, dlock_server *master);

#endif
