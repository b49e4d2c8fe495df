#ifndef DLOCK_ZK_OP_H
#define DLOCK_ZK_OP_H

#include "session.h"

/* One request to the server. It belongs to the caller and to the library until the response has come, so the caller can
 * release it at any time. Nothing here sleeps: response.h does. */

typedef struct dlock_zk_op dlock_zk_op;

/* Told of what an op came to, in any thread and with the session's mutex held. */
typedef void dlock_zk_then(void *context, const dlock_zk_op *op);

struct dlock_zk_op {
	dlock_zk_op *next, **at; /* among those that the library still owes a response */
	dlock_zk_session *session;
	dlock_zk_then *then; /* NULL: the owner may wait for it */
	void *context;
	unsigned references; /* under the session's mutex, like done */
	/* The rest is fixed once it is done. */
	bool done;
	int rc;
	struct Stat stat;         /* where several nodes were created, of none */
	char **paths;             /* of the created nodes */
	zoo_op_result_t *results; /* of several nodes, as the next two; for the library */
	int count;
	int refused;              /* the first that could not be created or deleted */
	char **children;
	int children_count;
	char *data;
	size_t data_len;
};

typedef enum {
	DLOCK_ZK_EXISTS, /* stat */
	DLOCK_ZK_LIST,   /* children */
	DLOCK_ZK_READ,   /* stat and data, no more of it than a claim writes */
	DLOCK_ZK_DELETE,
	DLOCK_ZK_SYNC,
	/* The news count one event when the node goes, or when its children change, which are listed, too. Where the
	 * response is not ZOK nothing is watched: the caller then forgets them all. */
	DLOCK_ZK_WATCH,
	DLOCK_ZK_WATCH_CHILDREN
} dlock_zk_request;

/* Each sends its request and returns at once; one that cannot be sent is done already. NULL: out of memory.
 *
 * The first two are for one node or several: all of these in one transaction, or none. */
dlock_zk_op *dlock_zk_create(dlock_zk_session *session, char *const *paths, int count, const char *data,
	const struct ACL_vector *acl, int mode);
dlock_zk_op *dlock_zk_delete(dlock_zk_session *session, char *const *paths, int count);
dlock_zk_op *dlock_zk_ask(dlock_zk_session *session, dlock_zk_request request, const char *path);
dlock_zk_op *dlock_zk_ask_watching(
	dlock_zk_session *session, dlock_zk_request request, const char *path, dlock_zk_news *news);

/* For callers that do not wait. ZOK: it is sent, and `then` is told once, perhaps already; it may be NULL. Otherwise
 * it is told nothing. */
int dlock_zk_ask_then(
	dlock_zk_session *session, dlock_zk_request request, const char *path, dlock_zk_then *then, void *context);

void dlock_zk_op_release(dlock_zk_op *op); /* NULL is fine */

/* For the session's thread, after the handle is closed: no response is owed any more. */
void dlock_zk_ops_discard(dlock_zk_session *session);

#endif
