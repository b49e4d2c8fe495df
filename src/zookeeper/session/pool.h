#ifndef DLOCK_ZK_POOL_H
#define DLOCK_ZK_POOL_H

#include "../../net/loop.h"

/* The ZooKeeper sessions of one thread: one for each ensemble, session timeout and credentials, kept across
 * requests. */
typedef struct dlock_zk_pool dlock_zk_pool;

/* Makes a pool, which sleeps in this loop beside everything else that the loop has under way. Returns NULL if out of
 * memory. */
dlock_zk_pool *dlock_zk_pool_new(dlock_loop *loop);

/* For the end of a request: no waiting strand continues. */
void dlock_zk_pool_forget_waits(dlock_zk_pool *pool);

/* Waits until the servers have deleted the unowned nodes, or until `deadline`. */
void dlock_zk_pool_drain(dlock_zk_pool *pool, dlock_nanos deadline);

/* Closes the sessions of this process and frees the pool. It leaves sessions that came from a parent alone. The servers
 * then delete the nodes of the closed sessions at once.
 *
 * If a server or a resolver does not answer, this lasts up to 8 s. A thread that has not returned from the client
 * library by then runs on, so the code must stay loaded until the process ends. The caller may free claims afterwards,
 * and must do nothing else with them. */
void dlock_zk_pool_free(dlock_zk_pool *pool);

/* The number of sessions opened so far, including reopened ones. */
unsigned long dlock_zk_pool_sessions_opened(const dlock_zk_pool *pool);

/* For the back end: */

struct dlock_zk_session;

/* Returns the pool's session for these options, with a reference for the caller. Opens it if needed, without waiting.
 * Returns NULL with a message if no session can be started. */
struct dlock_zk_session *dlock_zk_pool_session(
	dlock_zk_pool *pool, const char *hosts, dlock_nanos timeout, const char *auth, dlock_error *error);

/* Has the session's thread close a session that is dead or no longer needed, and removes it from the pool. */
void dlock_zk_pool_discard(dlock_zk_pool *pool, struct dlock_zk_session *session);

#endif
