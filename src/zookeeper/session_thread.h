#ifndef DLOCK_ZK_KEEPER_H
#define DLOCK_ZK_KEEPER_H

/* The session's own thread: opens the handle, keeps the session, and closes the handle when told to. */
void *dlock_zk_keep(void *session);

#endif
