#ifndef DLOCK_ZK_OP_H
#define DLOCK_ZK_OP_H

#include "session.h"

typedef struct dlock_zk_op dlock_zk_op;

/* One request to the server. It belongs to the caller and to the library until the response has come, so the caller can
 * release it at any time. Fields other than `done` are fixed once it is done. */
struct dlock_zk_op {
	dlock_zk_op *previous, *next;
	dlock_zk_session *session;
	unsigned references; /* under the session's mutex, like done */
	bool done;
	int rc;
	struct Stat stat;
	char *path;     /* of the created node */
	char **children;
	int children_count;
};

/* Each sends its request and returns at once; a request that cannot be sent is done already. NULL: out of memory. */
dlock_zk_op *dlock_zk_create(dlock_zk_session *session, const char *path, const struct ACL_vector *acl, int mode);
dlock_zk_op *dlock_zk_list(dlock_zk_session *session, const char *path);
dlock_zk_op *dlock_zk_exists(dlock_zk_session *session, const char *path);
dlock_zk_op *dlock_zk_delete(dlock_zk_session *session, const char *path);
dlock_zk_op *dlock_zk_sync(dlock_zk_session *session, const char *path);
/* The session counts one event when the node goes, or when its children change (the op lists them). Where the response
 * is not ZOK nothing is watched: the caller then forgets them all. */
dlock_zk_op *dlock_zk_watch(dlock_zk_session *session, const char *path);
dlock_zk_op *dlock_zk_watch_children(dlock_zk_session *session, const char *path);

/* Is the node watched still? A watch that went off, or that was asked for over an earlier connection, is none. */
bool dlock_zk_is_watched(dlock_zk_session *session, const char *path);

/* Forgets the watches of all others: their events are not counted. */
void dlock_zk_watch_only(dlock_zk_session *session, char *const *paths, int count);

/* DLOCK_OK: done. DLOCK_TIMEOUT, DLOCK_INTERRUPTED. */
dlock_status dlock_zk_op_wait(dlock_zk_op *op, dlock_nanos until, const dlock_wait *wait);
void dlock_zk_op_release(dlock_zk_op *op); /* NULL is fine */

/* For the session's thread, after the handle is closed: no response is owed any more. */
void dlock_zk_ops_discard(dlock_zk_session *session);

#endif
