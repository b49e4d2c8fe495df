#ifndef DLOCK_ZK_NODE_H
#define DLOCK_ZK_NODE_H

#include "session.h"

/* Nodes that the session's thread sees to: own ones, by which claims hold something, and unowned ones, which no claim
 * has any more.
 *
 * With each probe it asks for the own ones: a client may delete one, as is done to break a stuck lock, and the session
 * lives on. So a lock that was broken is known to be lost a quarter of the session timeout later; of several that are
 * held together the others are then unowned. Unowned ones are deleted, over and over until the server has responded or
 * the session is over; for the first time at once, before any later request of the owner's. */

typedef struct dlock_zk_node dlock_zk_node;

/* ---- the owner's ---- */

/* Where one of those with the same `together` is gone, all are. NULL: out of memory. */
dlock_zk_node *dlock_zk_own_node_add(dlock_zk_session *session, const char *path, const void *together);
/* Is it deleted, or another session's? */
bool dlock_zk_own_node_is_gone(const dlock_zk_node *node);
void dlock_zk_own_node_remove(dlock_zk_node *node); /* NULL is fine */

/* From now on this node is unowned. With a `guid`: the node of this guid below it, if there is one, since there was no
 * response to its creation. NULL: none. */
void dlock_zk_discard_node(dlock_zk_session *session, const char *path, const char *guid);

/* ---- the thread's ---- */

/* Behind the probe, on the same connection: what is read is no older than the probe. */
void dlock_zk_own_nodes_ask(dlock_zk_session *session);

/* Sends what is to be sent now about unowned nodes; of a dead session, frees them. */
void dlock_zk_unowned_nodes_send(dlock_zk_session *session);

#endif
