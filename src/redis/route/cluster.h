#ifndef DLOCK_REDIS_CLUSTER_H
#define DLOCK_REDIS_CLUSTER_H

#include "../../base/error.h"
#include "../../net/endpoint/endpoint.h"
#include "../wire/call.h"
#include "slot_map.h"

/* What a client asks a node of a Redis Cluster, what the node answers, and how it writes addresses. */

/* The question for the map of slots. NULL when out of memory. */
dlock_call *dlock_cluster_question(void);

/* Reads the answer of `node` as a map, and begins that map if it returns DLOCK_OK. Servers that `known` has are reused.
 * Otherwise the error tells what the node has said instead, without its name. */
dlock_status dlock_cluster_read(const redisReply *reply, const dlock_endpoint *service, const dlock_endpoint *node,
	const dlock_slot_map *known, dlock_slot_map *map, dlock_error *error);

/* The server at "host:port", from `known` or new, with a reference. If the address has no host, the host is that of
 * `node`, which wrote it. NULL: this is no address, or out of memory. */
dlock_endpoint *dlock_cluster_server_at(
	const char *address, const dlock_endpoint *service, const dlock_endpoint *node, const dlock_slot_map *known);

#endif
