#ifndef DLOCK_REDIS_POOL_SOURCE_H
#define DLOCK_REDIS_POOL_SOURCE_H

#include "pool.h"

/* A pool as a source of its thread's loop: it polls the connections on which something is under way, and the inboxes
 * that somebody listens to. */

/* The pool is a source of this loop from now on. */
void dlock_pool_join(dlock_pool *pool, dlock_loop *loop);

/* The loop that it is a source of. One that has joined none has one of its own. */
dlock_loop *dlock_pool_loop(dlock_pool *pool);

/* Of this turn of the loop; NULL: there is none. */
dlock_call *dlock_pool_find_last(const dlock_pool *pool, const dlock_conn *conn, int replicas);
/* False: there is no room for more. */
bool dlock_pool_send_last(dlock_pool *pool, dlock_conn *conn, dlock_call *call, int replicas);

/* Is anything under way? */
bool dlock_pool_is_busy(const dlock_pool *pool);

/* Ends a topology's questions. */
void dlock_pool_end_questions(dlock_pool *pool);

/* Waits until `deadline` for what is still under way; at a request's end these are releases. Nobody waits for a
 * topology's questions then: they end. */
void dlock_pool_drain(dlock_pool *pool, dlock_nanos deadline);

#endif
