#ifndef DLOCK_REDIS_RENEWAL_ROUND_H
#define DLOCK_REDIS_RENEWAL_ROUND_H

#include "../../lock/renewer.h"
#include "../request/requests.h"

/* What the renewal thread says to the Redis servers of one lease; see lock/renewer.h. A round asks all of them to
 * extend it, or whether they have it; it is decided when a quorum has, or when no quorum can any more. Servers without
 * the key are given it again after that. */

/* Takes note of the claim and of where it is. NULL when out of memory. */
dlock_renewal_round *dlock_redis_round_new(
	const dlock_claim *claim, dlock_endpoint **servers, int count, int quorum, dlock_keys keys);

#endif
