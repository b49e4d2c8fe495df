#ifndef DLOCK_ZK_OP_H
#define DLOCK_ZK_OP_H

#include "session.h"

/* One request to the server. It belongs to the caller and to the library until the response has come, so the caller can
 * release it at any time. No function here sleeps; those of response.h do. */

typedef struct dlock_zk_op dlock_zk_op;

/* Is called with the outcome of an op, in any thread, while that thread holds the session's mutex. */
typedef void dlock_zk_then(void *context, const dlock_zk_op *op);

struct dlock_zk_op {
	dlock_zk_op *next, **at; /* among the ops that the library still owes a response */
	dlock_zk_session *session;
	dlock_zk_then *then; /* NULL: the owner may wait for the op */
	void *context;
	unsigned references; /* under the session's mutex, like `done` */
	/* The rest is fixed once the op is done. */
	bool done;
	int rc;
	struct Stat stat;         /* zero if several nodes were created */
	char **paths;             /* of the created nodes */
	zoo_op_result_t *results; /* of several nodes, like the next two; the library writes to it */
	int count;
	int refused;              /* the index of the first node that could not be created or deleted */
	char **children;
	int children_count;
	char *data;
	size_t data_len;
};

typedef enum {
	DLOCK_ZK_EXISTS, /* stat */
	DLOCK_ZK_LIST,   /* children */
	DLOCK_ZK_READ,   /* stat and at most DLOCK_DESCRIPTION_MAX bytes of data */
	DLOCK_ZK_DELETE,
	DLOCK_ZK_SYNC,
	/* The news count one event when the node goes, or when its children change; the second also lists the children. If
	 * the response is not ZOK, the server watches nothing, and the caller forgets all watches. */
	DLOCK_ZK_WATCH,
	DLOCK_ZK_WATCH_CHILDREN
} dlock_zk_request;

/* Each function sends its request and returns at once. If the request cannot be sent, the op is done already. Returns
 * NULL if out of memory.
 *
 * The first two serve one node or several, at most DLOCK_SEVERAL_MAX. Several nodes are one transaction: all of them,
 * or none. */
dlock_zk_op *dlock_zk_create(dlock_zk_session *session, char *const *paths, int count, const char *data,
	const struct ACL_vector *acl, int mode);
dlock_zk_op *dlock_zk_delete(dlock_zk_session *session, char *const *paths, int count);
dlock_zk_op *dlock_zk_ask(dlock_zk_session *session, dlock_zk_request request, const char *path);
dlock_zk_op *dlock_zk_ask_watching(
	dlock_zk_session *session, dlock_zk_request request, const char *path, dlock_zk_news *news);

/* For callers that do not wait. ZOK: the request is sent, and `then` is called once, perhaps already. Any other result
 * is an error code, and `then` is not called. `then` may be NULL. */
int dlock_zk_ask_then(
	dlock_zk_session *session, dlock_zk_request request, const char *path, dlock_zk_then *then, void *context);

void dlock_zk_op_release(dlock_zk_op *op); /* `op` may be NULL */

/* Completes, with ZCLOSING, the ops that the library still owes a response. For the session's thread, after it has
 * closed the handle. */
void dlock_zk_ops_discard(dlock_zk_session *session);

#endif
