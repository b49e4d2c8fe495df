#ifndef DLOCK_ZK_SESSION_THREAD_H
#define DLOCK_ZK_SESSION_THREAD_H

#include "session.h"

/* Starts the session's own thread, which opens the handle, probes the session as session.h has it, deletes unowned
 * nodes, and closes the handle when session->stop is set. 0, or an errno. */
int dlock_zk_session_thread_start(dlock_zk_session *session);

#endif
