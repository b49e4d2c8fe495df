#ifndef DLOCK_ZK_POOL_H
#define DLOCK_ZK_POOL_H

#include "../../net/loop.h"

/* The ZooKeeper sessions of one thread: one per ensemble, session timeout and credentials, kept over requests. */
typedef struct dlock_zk_pool dlock_zk_pool;

/* In this loop it sleeps, beside whatever else the loop has under way. NULL when out of memory. */
dlock_zk_pool *dlock_zk_pool_new(dlock_loop *loop);

/* The request ends: no waiting strand goes on. */
void dlock_zk_pool_forget_waits(dlock_zk_pool *pool);

/* Waits until the unowned nodes are deleted on the servers, or until `deadline`. */
void dlock_zk_pool_drain(dlock_zk_pool *pool, dlock_nanos deadline);

/* Closes the sessions of this process; those inherited from a parent are left alone. The servers then delete what is
 * left of a session at once. Takes up to 8 s where a server or a resolver does not answer; a thread that has not come
 * back from the client library by then goes on, so the code must stay loaded until the process ends. Claims may be
 * freed afterwards, but nothing else may be done with them. */
void dlock_zk_pool_free(dlock_zk_pool *pool);

/* How many sessions were opened so far, reopened ones included. */
unsigned long dlock_zk_pool_sessions_opened(const dlock_zk_pool *pool);

/* For the back end: */

struct dlock_zk_session;

/* The pool's session for these options, opened if need be: does not wait. The caller gets a reference. */
struct dlock_zk_session *dlock_zk_pool_session(
	dlock_zk_pool *pool, const char *hosts, dlock_nanos timeout, const char *auth, dlock_error *error);

/* Has the session's thread close it, and takes it out of the pool: for sessions that are dead or no longer needed. */
void dlock_zk_pool_discard(dlock_zk_pool *pool, struct dlock_zk_session *session);

#endif
