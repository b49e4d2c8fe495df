#ifndef DLOCK_REDIS_POOL_H
#define DLOCK_REDIS_POOL_H

#include "../../net/loop.h"
#include "conn.h"
#include "inbox.h"

/* The connections of one thread to Redis servers, and their inboxes, kept across requests. */

/* The connections of one thread, one for each server and way to log in, kept over requests. Of those that no back end
 * keeps, all but the last 128 to be used are closed. */
typedef struct {
	dlock_loop *loop;    /* that its connections are sources of; NULL: none yet */
	dlock_loop own_loop; /* for a pool that has joined none */
	dlock_error unheard; /* of tasks that no caller asks why */
	dlock_conn *first;
	dlock_inbox *inboxes;
	unsigned long turns;
	unsigned long freed_opened,
		freed_used; /* by those that were freed: how often they were opened, and how many ever were */
	struct dlock_topology *topologies; /* see topology.h, which sets the next two with the first */
	void (*free_topologies)(struct dlock_topology *first);
	void (*end_questions)(struct dlock_topology *first);
} dlock_pool;

/* Before it has any connections: they are sources of this loop. A pool that has joined none has one of its own. */
void dlock_pool_join(dlock_pool *pool, dlock_loop *loop);
dlock_loop *dlock_pool_loop(dlock_pool *pool);

/* The connection to this server, opened on first use. NULL when out of memory. */
dlock_conn *dlock_pool_conn(dlock_pool *pool, dlock_endpoint *server);

/* Another one, whose timeouts are the server's or the cap, whichever is shorter: it is discarded early, so users that
 * can wait longer do not share it. */
dlock_conn *dlock_pool_capped_conn(dlock_pool *pool, dlock_endpoint *server, dlock_nanos timeout_cap);

/* The inbox on this server. NULL when out of memory. */
dlock_inbox *dlock_pool_inbox(dlock_pool *pool, dlock_endpoint *server);

/* Both, for a back end that keeps their addresses until it returns them. False, and neither, when out of memory. */
bool dlock_pool_lend(dlock_pool *pool, dlock_endpoint *server, dlock_conn **conn, dlock_inbox **inbox);
void dlock_pool_return(dlock_conn *conn, dlock_inbox *inbox);

/* Frees what was closed for want of use, with the password in its server. Nothing but a back end may have kept its
 * address. */
void dlock_pool_free_retired(dlock_pool *pool);

/* The number of connections opened so far; and of those that replaced one. */
unsigned long dlock_pool_opened(const dlock_pool *pool);
unsigned long dlock_pool_reopened(const dlock_pool *pool);

/* Is anything under way? */
bool dlock_pool_is_busy(const dlock_pool *pool);

/* Ends a topology's questions. */
void dlock_pool_end_questions(dlock_pool *pool);

/* Waits until `deadline` for what is still under way; at a request's end these are releases. No caller waits for
 * a topology's questions then: they end. */
void dlock_pool_drain(dlock_pool *pool, dlock_nanos deadline);

/* No back end may be left. */
void dlock_pool_clear(dlock_pool *pool);

#endif
