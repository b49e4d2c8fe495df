#ifndef DLOCK_ZK_WATCHES_H
#define DLOCK_ZK_WATCHES_H

#include "session.h"

/* What the library reports by itself: the state of a session, and that a watched node has gone or changed.
 *
 * A session knows which nodes it has watched. An event of any other node is left from a wait that has ended, and does
 * not count. A wait that continues requests only the watches that it lacks. Several waits may watch the same node: each
 * has its own news. */

/* The watcher of a session and of all its nodes. Its context is always the session. So the library keeps one watcher
 * for each node, however often the session asks for it, and no watcher outlives what it points to. */
void dlock_zk_watcher(zhandle_t *handle, int type, int state, const char *path, void *session);

/* Notes that the session is about to ask the server to watch this node. Returns false if out of memory. */
bool dlock_zk_watches_add(dlock_zk_session *session, const char *path, dlock_zk_news *news);

/* True if the node is still watched for these news. A watch that has fired, or that was requested over an earlier
 * connection, does not count. */
bool dlock_zk_is_watched(dlock_zk_session *session, const char *path, const dlock_zk_news *news);

/* Forgets the watches of all other nodes for these news. `news` NULL: for all news. */
void dlock_zk_watch_only(dlock_zk_session *session, const dlock_zk_news *news, char *const *paths, int count);

/* Forgets all watches. */
void dlock_zk_watch_none(dlock_zk_session *session);

#endif
