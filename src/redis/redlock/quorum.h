#ifndef DLOCK_REDIS_QUORUM_H
#define DLOCK_REDIS_QUORUM_H

#include "../../lock/backend.h"
#include "../wire/pool.h"

/* The back end on a majority of independent Redis servers. */

/* For 1 to DLOCK_MOST_SERVERS servers. Each key is `prefix` and the resource. A server has no vote before it has been
 * up for `guard` (ns) and for the lease time asked for (uptime_rule.h). If `guard` is 0, each server has a vote. NULL
 * when out of memory. */
dlock_backend *dlock_quorum_new(
	dlock_pool *pool, dlock_endpoint **servers, int count, dlock_nanos guard, const char *prefix, size_t prefix_len);

int dlock_quorum_servers(const dlock_backend *backend);
const char *dlock_quorum_server_label(const dlock_backend *backend, int server);

/* Why this server had no vote in the last operation; NULL: it had one. */
const char *dlock_quorum_server_error(const dlock_backend *backend, int server);

#endif
