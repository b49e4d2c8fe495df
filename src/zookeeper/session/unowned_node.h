#ifndef DLOCK_ZK_UNOWNED_NODE_H
#define DLOCK_ZK_UNOWNED_NODE_H

#include "session.h"

/* Nodes that no claim owns any more: deleted in the background, over and over until the server has responded or the
 * session is over. The first attempt is made at once, before any later request of the caller. */
void dlock_zk_discard_node(dlock_zk_session *session, const char *path);

/* The node of this guid, if there is one: there was no response to its creation. */
void dlock_zk_discard_guid(dlock_zk_session *session, const char *parent, const char *guid);

/* For the session's thread: sends what is to be sent now; and, after the handle is closed, frees them all. */
void dlock_zk_unowned_nodes_send(dlock_zk_session *session);
void dlock_zk_unowned_nodes_free(dlock_zk_session *session);

#endif
