#ifndef DLOCK_REDIS_SENTINEL_H
#define DLOCK_REDIS_SENTINEL_H

#include "../../base/error.h"
#include "../../net/endpoint/endpoint.h"
#include "../wire/call.h"
#include "slot_map.h"

/* What a client asks a Sentinel, and what the Sentinel answers. */

/* The question for the master of the service. NULL when out of memory. */
dlock_call *dlock_sentinel_question(const dlock_endpoint *service);

/* Reads the answer as the one slot of a map, and begins that map if it returns DLOCK_OK. A server that `known` has is
 * reused. Otherwise the error tells what the Sentinel has said instead, without its name. */
dlock_status dlock_sentinel_read(const redisReply *reply, const dlock_endpoint *service, const dlock_endpoint *sentinel,
	const dlock_slot_map *known, dlock_slot_map *map, dlock_error *error);

#endif
