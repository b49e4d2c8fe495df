#ifndef DLOCK_ZK_OWN_NODE_H
#define DLOCK_ZK_OWN_NODE_H

#include "session.h"

/* The nodes by which claims hold something. With each probe of the session its thread asks for them: somebody may
 * delete one, as is done to break a stuck lock, and the session lives on. So a lock that was broken is known to be lost
 * a quarter of the session timeout later. */

typedef struct dlock_zk_own_node dlock_zk_own_node;

/* NULL: out of memory. */
dlock_zk_own_node *dlock_zk_own_node_add(dlock_zk_session *session, const char *path);
/* Is it deleted, or another session's? */
bool dlock_zk_own_node_is_gone(const dlock_zk_own_node *node);
void dlock_zk_own_node_remove(dlock_zk_own_node *node); /* NULL is fine */

/* For the session's thread. Behind the probe, on the same connection: what is read is no older than the probe. */
void dlock_zk_own_nodes_ask(dlock_zk_session *session);
/* Has one been found gone since it was last asked? */
bool dlock_zk_own_nodes_lost(dlock_zk_session *session);
/* After the handle is closed. */
void dlock_zk_own_nodes_free(dlock_zk_session *session);

#endif
