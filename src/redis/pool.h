#ifndef DLOCK_REDIS_POOL_H
#define DLOCK_REDIS_POOL_H

#include "conn.h"
#include "inbox.h"

/* The connections of one thread, one for each server and way to log in, kept over requests. */
typedef struct {
	dlock_conn *first;
	dlock_inbox *inboxes;
	struct dlock_topology *topologies; /* see topology.h, which sets the next two with the first */
	void (*free_topologies)(struct dlock_topology *first);
	void (*end_questions)(struct dlock_topology *first);
} dlock_pool;

/* The connection to this server, opened on first use. NULL when out of memory. */
dlock_conn *dlock_pool_conn(dlock_pool *pool, dlock_server *server);

/* Another one, whose timeouts are the server's or the cap, whichever is shorter: it is discarded early, so users that can wait longer do not
 * share it. */
dlock_conn *dlock_pool_capped_conn(dlock_pool *pool, dlock_server *server, dlock_nanos timeout_cap);

/* The inbox on this server. NULL when out of memory. */
dlock_inbox *dlock_pool_inbox(dlock_pool *pool, dlock_server *server);

/* Waits until `deadline` for what is still under way; at a request's end these are releases. Nobody waits for a topology's questions then: they end. */
void dlock_pool_drain(dlock_pool *pool, dlock_nanos deadline);

/* The number of connections opened so far; and of those that replaced one. */
unsigned long dlock_pool_opened(const dlock_pool *pool);
unsigned long dlock_pool_reopened(const dlock_pool *pool);

void dlock_pool_clear(dlock_pool *pool);

#endif
