#ifndef DLOCK_ZK_NODE_H
#define DLOCK_ZK_NODE_H

#include "session.h"

/* Nodes that the session's thread looks after: own nodes, by which claims hold their locks, and unowned nodes, which
 * belong to no claim any more.
 *
 * With each probe the thread asks for the own nodes: a client may delete one to break a stuck lock, while the session
 * lives on. So a quarter of the session timeout later the client knows that the lock is lost. If it was held together
 * with other locks, their nodes become unowned.
 *
 * The session deletes unowned nodes, again and again until the server has responded or the session has ended. The owner
 * sends the first delete at once, before any later request. */

typedef struct dlock_zk_node dlock_zk_node;

/* ---- for the owner ---- */

/* Adds an own node. If one of the nodes with the same `together` is gone, all of them are. Returns NULL if out of
 * memory. */
dlock_zk_node *dlock_zk_own_node_add(dlock_zk_session *session, const char *path, const void *together);
/* True if the node was deleted, or belongs to another session. */
bool dlock_zk_own_node_is_gone(const dlock_zk_node *node);
void dlock_zk_own_node_remove(dlock_zk_node *node); /* `node` may be NULL */

/* Makes the node unowned. With a `guid`: makes the node with this guid below `path` unowned, if it exists, because its
 * creation had no response. `guid` may be NULL. If out of memory, the node stays until the session ends. */
void dlock_zk_discard_node(dlock_zk_session *session, const char *path, const char *guid);

/* ---- for the thread ---- */

/* Asks for the own nodes behind the probe, on the same connection. So the answer is no older than the probe. */
void dlock_zk_own_nodes_ask(dlock_zk_session *session);

/* Sends the requests about unowned nodes that are due. Frees the nodes of a dead session. */
void dlock_zk_unowned_nodes_send(dlock_zk_session *session);

#endif
