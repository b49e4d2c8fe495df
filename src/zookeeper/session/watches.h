#ifndef DLOCK_ZK_WATCHES_H
#define DLOCK_ZK_WATCHES_H

#include "session.h"

/* What the library tells of a session by itself: its state, and that a node has gone which the server was asked to
 * watch. A session knows which these are: an event of any other node is what is left of a wait that has ended, and is
 * not counted; a wait that goes on asks only for the watches that it has not got yet. Several waits may have the same
 * node watched: each is told by its own news. */

/* The watcher of a session and of all its nodes, with the session as its context always: so the library keeps one per
 * node however often it is asked for, and none can outlive what it points to. */
void dlock_zk_watcher(zhandle_t *handle, int type, int state, const char *path, void *session);

/* The server is about to be asked to watch this node. False: out of memory. */
bool dlock_zk_watches_add(dlock_zk_session *session, const char *path, dlock_zk_news *news);

/* Is the node watched still, for these news? A watch that went off, or that was asked for over an earlier connection,
 * is none. */
bool dlock_zk_is_watched(dlock_zk_session *session, const char *path, const dlock_zk_news *news);

/* Forgets the watches of all other nodes for these news. */
void dlock_zk_watch_only(dlock_zk_session *session, const dlock_zk_news *news, char *const *paths, int count);

/* Forgets all. */
void dlock_zk_watch_none(dlock_zk_session *session);

#endif
