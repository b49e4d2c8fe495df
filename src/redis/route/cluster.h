#ifndef DLOCK_REDIS_CLUSTER_H
#define DLOCK_REDIS_CLUSTER_H

#include "../../base/error.h"
#include "../../net/endpoint/endpoint.h"
#include "../wire/call.h"
#include "slot_map.h"

/* What a node of a Redis Cluster is asked, what it answers, and how it writes addresses. */

/* The question for the map of slots. NULL when out of memory. */
dlock_call *dlock_cluster_question(void);

/* The answer of `node` as a map, which is begun here if DLOCK_OK is returned. Servers that `known` has are taken from
 * there. Otherwise the error says what the node has said instead, without its name. */
dlock_status dlock_cluster_read(const redisReply *reply, const dlock_endpoint *service, const dlock_endpoint *node,
	const dlock_slot_map *known, dlock_slot_map *map, dlock_error *error);

/* The server at "host:port", of `known` or new, with a reference. Without a host it is at that of `node`, which has
 * written it. NULL: no address, or out of memory. */
dlock_endpoint *dlock_cluster_server_at(
	const char *address, const dlock_endpoint *service, const dlock_endpoint *node, const dlock_slot_map *known);

#endif
