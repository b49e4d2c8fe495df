#ifndef DLOCK_ZK_WATCHER_H
#define DLOCK_ZK_WATCHER_H

#include "session.h"

/* The watcher of a session and of all its nodes, which the library calls with the dlock_zk_session as context: it keeps
 * the session's state and counts its events. */
void dlock_zk_watcher(zhandle_t *handle, int type, int state, const char *path, void *session);

#endif
