#ifndef DLOCK_REDIS_POOL_H
#define DLOCK_REDIS_POOL_H

#include "../../net/loop.h"
#include "conn.h"
#include "inbox.h"

/* The connections of one thread to Redis servers, and their inboxes, kept across requests. */

/* There is one connection for each server and way to log in. Of those that no back end keeps, all except the last 128
 * used are closed. */
typedef struct {
	dlock_loop *loop;    /* which has the connections as sources; NULL: none yet */
	dlock_loop own_loop; /* for a pool that has joined no loop */
	dlock_error unheard; /* of tasks whose callers do not ask why they failed */
	dlock_conn *first;
	dlock_inbox *inboxes;
	unsigned long turns;
	unsigned long freed_opened,
		freed_used; /* of freed connections: how often they were opened, and how many were ever opened */
	struct dlock_topology *topologies; /* see topology.h, which sets the next two members with this one */
	void (*free_topologies)(struct dlock_topology *first);
	void (*end_questions)(struct dlock_topology *first);
} dlock_pool;

/* The connections become sources of this loop, so the pool must join before there are any. A pool that has joined no
 * loop has its own. */
void dlock_pool_join(dlock_pool *pool, dlock_loop *loop);
dlock_loop *dlock_pool_loop(dlock_pool *pool);

/* The connection to this server, opened on first use. NULL when out of memory. */
dlock_conn *dlock_pool_conn(dlock_pool *pool, dlock_endpoint *server);

/* Another connection, with the server's timeouts or the cap, whichever is shorter. It is discarded early, so users that
 * can wait longer do not share it. */
dlock_conn *dlock_pool_capped_conn(dlock_pool *pool, dlock_endpoint *server, dlock_nanos timeout_cap);

/* The inbox on this server. NULL when out of memory. */
dlock_inbox *dlock_pool_inbox(dlock_pool *pool, dlock_endpoint *server);

/* Lends both to a back end, which keeps their addresses until it returns them. False, with both NULL, when out of
 * memory. */
bool dlock_pool_lend(dlock_pool *pool, dlock_endpoint *server, dlock_conn **conn, dlock_inbox **inbox);
void dlock_pool_return(dlock_conn *conn, dlock_inbox *inbox);

/* Frees the connections that were closed because they were not used, with the passwords in their servers. Only a back
 * end may have kept the address of a connection. */
void dlock_pool_free_retired(dlock_pool *pool);

/* The number of connections opened so far, and of those that replaced an earlier one. */
unsigned long dlock_pool_opened(const dlock_pool *pool);
unsigned long dlock_pool_reopened(const dlock_pool *pool);

/* Is any call under way? */
bool dlock_pool_is_busy(const dlock_pool *pool);

/* Ends the questions of all topologies. */
void dlock_pool_end_questions(dlock_pool *pool);

/* Waits until `deadline` for calls that are still under way; at the end of a request these are releases. Ends the
 * topologies' questions, because no caller waits for them then. */
void dlock_pool_drain(dlock_pool *pool, dlock_nanos deadline);

/* Frees everything. No back end may be left. */
void dlock_pool_clear(dlock_pool *pool);

#endif
