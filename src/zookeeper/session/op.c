#include "op.h"

#include <stdlib.h>
#include <string.h>

#include "../../lock/backend.h"
#include "../../lock/inspection.h"
#include "watches.h"

/* Makes an op with two references, for the caller and for the library. *handle is NULL if another strand has discarded
 * the session after this strand looked: the session's thread then closes the handle. */
static dlock_zk_op *new_op(dlock_zk_session *session, dlock_zk_then *then, void *context, zhandle_t **handle)
{
	dlock_zk_op *op = calloc(1, sizeof *op);

	if (!op) {
		return NULL;
	}
	op->session = session;
	op->then = then;
	op->context = context;
	op->references = 2;
	pthread_mutex_lock(&session->mutex);
	op->next = session->ops;
	op->at = &session->ops;
	if (op->next) {
		op->next->at = &op->next;
	}
	session->ops = op;
	*handle = session->stop ? NULL : session->handle;
	pthread_mutex_unlock(&session->mutex);
	return op;
}

void dlock_zk_op_release(dlock_zk_op *op)
{
	if (!op || op->session->process != dlock_process_current()) {
		return;
	}
	dlock_zk_session *session = op->session;
	pthread_mutex_lock(&session->mutex);
	bool last = --op->references == 0;
	pthread_mutex_unlock(&session->mutex);
	if (last) {
		free(op->paths);
		free(op->results);
		free(op->children);
		free(op->data);
		free(op);
	}
}

/* The caller holds the mutex. */
static void complete(dlock_zk_op *op, int rc)
{
	if (op->done) {
		return;
	}
	op->rc = rc;
	op->done = true;
	if (op->then) {
		op->then(op->context, op);
	} else {
		dlock_zk_session_done(op->session, &op->done);
	}
}

/* The library has responded, or never will. */
static void finish(dlock_zk_op *op, int rc)
{
	pthread_mutex_lock(&op->session->mutex);
	complete(op, rc);
	*op->at = op->next;
	if (op->next) {
		op->next->at = op->at;
	}
	pthread_mutex_unlock(&op->session->mutex);
	dlock_zk_op_release(op);
}

void dlock_zk_ops_discard(dlock_zk_session *session)
{
	for (;;) {
		pthread_mutex_lock(&session->mutex);
		dlock_zk_op *op = session->ops;
		pthread_mutex_unlock(&session->mutex);
		if (!op) {
			return;
		}
		finish(op, ZCLOSING);
	}
}

/* ---- responses, in the library's thread ---- */

static void responded(int rc, const void *context)
{
	finish((dlock_zk_op *) context, rc);
}

/* Copies the names into one block: pointers first, then the text. Returns NULL if out of memory, here or in the
 * library, or if the response has no names. */
static char **copy_names(const struct String_vector *names)
{
	if (names->count < 0 || (names->count > 0 && !names->data)) {
		return NULL;
	}
	size_t size = (size_t) names->count * sizeof(char *) + 1;
	for (int i = 0; i < names->count; i++) {
		if (!names->data[i]) {
			return NULL;
		}
		size += strlen(names->data[i]) + 1;
	}
	char **copy = malloc(size);
	if (!copy) {
		return NULL;
	}
	char *text = (char *) (copy + names->count);
	for (int i = 0; i < names->count; i++) {
		size_t len = strlen(names->data[i]) + 1;
		copy[i] = memcpy(text, names->data[i], len);
		text += len;
	}
	return copy;
}

static void created(int rc, const char *path, const struct Stat *stat, const void *context)
{
	dlock_zk_op *op = (dlock_zk_op *) context;

	if (rc == ZOK) {
		op->paths = copy_names(&(struct String_vector) { 1, &(char *) { (char *) path } });
		op->stat = *stat;
		/* Without a name, or memory for it, the request counts as lost: the client then finds the node by its guid. */
		rc = op->paths ? ZOK : ZCONNECTIONLOSS;
	}
	finish(op, rc);
}

/* The response to a transaction. If the server refuses one part, the other parts have an error of their own. */
static void responded_to_several(int rc, const void *context)
{
	dlock_zk_op *op = (dlock_zk_op *) context;

	if (rc != ZOK) {
		while (op->refused + 1 < op->count && op->results[op->refused].err != rc) {
			op->refused++;
		}
	}
	finish(op, rc);
}

static void responded_with_stat(int rc, const struct Stat *stat, const void *context)
{
	if (rc == ZOK) {
		((dlock_zk_op *) context)->stat = *stat;
	}
	responded(rc, context);
}

static void got(int rc, const char *value, int value_len, const struct Stat *stat, const void *context)
{
	(void) value, (void) value_len, (void) stat;
	responded(rc, context);
}

/* A response may state a length of -1, or a length beyond any sense. */
static void read_data(int rc, const char *value, int value_len, const struct Stat *stat, const void *context)
{
	dlock_zk_op *op = (dlock_zk_op *) context;
	size_t len = value && value_len > 0 ? (size_t) value_len : 0;

	if (rc == ZOK) {
		op->stat = *stat;
		op->data_len = len < DLOCK_DESCRIPTION_MAX ? len : DLOCK_DESCRIPTION_MAX;
		op->data = malloc(op->data_len + 1);
		rc = op->data ? ZOK : ZSYSTEMERROR;
	}
	if (op->data) {
		memcpy(op->data, len ? value : "", op->data_len);
	}
	finish(op, rc);
}

static void synced(int rc, const char *path, const void *context)
{
	(void) path;
	responded(rc, context);
}

static void listed(int rc, const struct String_vector *names, const void *context)
{
	dlock_zk_op *op = (dlock_zk_op *) context;

	if (rc == ZOK) {
		op->children = copy_names(names);
		op->children_count = op->children ? names->count : 0;
		rc = op->children ? ZOK : ZSYSTEMERROR;
	}
	finish(op, rc);
}

/* ---- requests ---- */

/* Handles what the library returned when the request was sent. Returns ZOK if a response will come or has come. */
static int sent(dlock_zk_op *op, int rc)
{
	if (rc == ZMARSHALLINGERROR) {
		/* The library is out of memory, and it is not known whether it keeps the op. So its reference stays until it
		 * responds after all, or until the handle is closed. */
		pthread_mutex_lock(&op->session->mutex);
		rc = op->done ? ZOK : rc;
		op->then = NULL;
		complete(op, rc);
		pthread_mutex_unlock(&op->session->mutex);
	} else if (rc != ZOK) {
		op->then = NULL;
		finish(op, rc);
	}
	return rc;
}

static int send_request(dlock_zk_op *op, zhandle_t *handle, dlock_zk_request request, const char *path)
{
	if (!handle) {
		return sent(op, ZCLOSING);
	}
	switch (request) {
	case DLOCK_ZK_EXISTS:
		return sent(op, zoo_aexists(handle, path, 0, responded_with_stat, op));
	case DLOCK_ZK_LIST:
		return sent(op, zoo_aget_children(handle, path, 0, listed, op));
	case DLOCK_ZK_READ:
		return sent(op, zoo_aget(handle, path, 0, read_data, op));
	case DLOCK_ZK_DELETE:
		return sent(op, zoo_adelete(handle, path, -1, responded, op));
	case DLOCK_ZK_SYNC:
		return sent(op, zoo_async(handle, path, synced, op));
	case DLOCK_ZK_WATCH:
		return sent(op, zoo_awget(handle, path, dlock_zk_watcher, op->session, got, op));
	default:
		return sent(op, zoo_awget_children(handle, path, dlock_zk_watcher, op->session, listed, op));
	}
}

/* The server appends a number with its sign to the path of a node. */
enum { SUFFIX = sizeof "-2147483648" };

/* Makes room for the paths of the nodes, which the library fills in. Returns false if out of memory. */
static bool make_room(dlock_zk_op *op, char *const *paths, int count)
{
	size_t size = (size_t) count * sizeof *op->paths;

	for (int i = 0; i < count; i++) {
		size += strlen(paths[i]) + SUFFIX;
	}
	op->results = calloc((size_t) count, sizeof *op->results);
	op->paths = calloc(1, size);
	if (!op->results || !op->paths) {
		return false;
	}
	char *text = (char *) (op->paths + count);
	for (int i = 0; i < count; i++) {
		op->paths[i] = text;
		text += strlen(paths[i]) + SUFFIX;
	}
	op->count = count;
	return true;
}

static int send_several(dlock_zk_op *op, zhandle_t *handle, const zoo_op_t *parts)
{
	return sent(op, handle ? zoo_amulti(handle, op->count, parts, op->results, responded_to_several, op) : ZCLOSING);
}

dlock_zk_op *dlock_zk_create(dlock_zk_session *session, char *const *paths, int count, const char *data,
	const struct ACL_vector *acl, int mode)
{
	zhandle_t *handle;
	zoo_op_t parts[DLOCK_SEVERAL_MAX];
	dlock_zk_op *op = new_op(session, NULL, NULL, &handle);
	int len = (int) strlen(data);

	if (op && count == 1) {
		sent(op, handle ? zoo_acreate2(handle, paths[0], data, len, acl, mode, created, op) : ZCLOSING);
	} else if (op && !make_room(op, paths, count)) {
		sent(op, ZSYSTEMERROR);
	} else if (op) {
		for (int i = 0; i < count; i++) {
			zoo_create_op_init(&parts[i], paths[i], data, len, acl, mode, op->paths[i],
				(int) (strlen(paths[i]) + SUFFIX));
		}
		send_several(op, handle, parts);
	}
	return op;
}

dlock_zk_op *dlock_zk_delete(dlock_zk_session *session, char *const *paths, int count)
{
	zhandle_t *handle;
	zoo_op_t parts[DLOCK_SEVERAL_MAX];
	dlock_zk_op *op = new_op(session, NULL, NULL, &handle);

	if (op && count == 1) {
		send_request(op, handle, DLOCK_ZK_DELETE, paths[0]);
	} else if (op && !make_room(op, paths, count)) {
		sent(op, ZSYSTEMERROR);
	} else if (op) {
		for (int i = 0; i < count; i++) {
			zoo_delete_op_init(&parts[i], paths[i], -1);
		}
		send_several(op, handle, parts);
	}
	return op;
}

dlock_zk_op *dlock_zk_ask(dlock_zk_session *session, dlock_zk_request request, const char *path)
{
	zhandle_t *handle;
	dlock_zk_op *op = new_op(session, NULL, NULL, &handle);

	if (op) {
		send_request(op, handle, request, path);
	}
	return op;
}

dlock_zk_op *dlock_zk_ask_watching(
	dlock_zk_session *session, dlock_zk_request request, const char *path, dlock_zk_news *news)
{
	dlock_zk_op *op = dlock_zk_watches_add(session, path, news) ? dlock_zk_ask(session, request, path) : NULL;

	if (!op) {
		dlock_zk_watch_only(session, news, NULL, 0); /* the node is not watched, and the waiter starts anew */
	}
	return op;
}

int dlock_zk_ask_then(
	dlock_zk_session *session, dlock_zk_request request, const char *path, dlock_zk_then *then, void *context)
{
	zhandle_t *handle;
	dlock_zk_op *op = new_op(session, then, context, &handle);
	int rc = op ? send_request(op, handle, request, path) : ZSYSTEMERROR;

	dlock_zk_op_release(op);
	return rc;
}
