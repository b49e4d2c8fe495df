#include "op.h"

#include <stdlib.h>
#include <string.h>

#include "watcher.h"

static void free_op(dlock_zk_op *op)
{
	free(op->path);
	free(op->children);
	free(op);
}

static void unlink_op(dlock_zk_op *op)
{
	if (op->previous) {
		op->previous->next = op->next;
	} else {
		op->session->ops = op->next;
	}
	if (op->next) {
		op->next->previous = op->previous;
	}
	op->previous = op->next = NULL;
}

/* A new op, with a reference for the caller and one for the library. */
static dlock_zk_op *begin(dlock_zk_session *session, zhandle_t **handle)
{
	dlock_zk_op *op = calloc(1, sizeof *op);

	if (!op) {
		return NULL;
	}
	op->session = session;
	op->references = 2;
	pthread_mutex_lock(&session->mutex);
	op->next = session->ops;
	if (op->next) {
		op->next->previous = op;
	}
	session->ops = op;
	*handle = session->handle;
	pthread_mutex_unlock(&session->mutex);
	return op;
}

/* The library has responded, or never will. */
static void finish(dlock_zk_op *op, int rc)
{
	dlock_zk_session *session = op->session;

	pthread_mutex_lock(&session->mutex);
	if (!op->done) {
		op->rc = rc;
		op->done = true;
		if (session->sleeper == op) {
			dlock_wakeup_send(&session->owner_wakeup);
		}
	}
	unlink_op(op);
	bool last = --op->references == 0;
	pthread_mutex_unlock(&session->mutex);
	if (last) {
		free_op(op);
	}
}

static dlock_zk_op *sent(dlock_zk_op *op, int rc)
{
	if (rc == ZMARSHALLINGERROR) {
		/* Out of memory somewhere inside: whether the library keeps the op is not known. So it keeps its reference,
		 * until it responds after all or the handle is closed. */
		pthread_mutex_lock(&op->session->mutex);
		if (!op->done) {
			op->rc = rc;
			op->done = true;
		}
		pthread_mutex_unlock(&op->session->mutex);
	} else if (rc != ZOK) {
		finish(op, rc);
	}
	return op;
}

static void created(int rc, const char *path, const struct Stat *stat, const void *context)
{
	dlock_zk_op *op = (dlock_zk_op *) context;

	if (rc == ZOK) {
		op->path = path ? strdup(path) : NULL;
		op->stat = *stat;
		/* Without a name, or memory for it: as if there were no response, then it is found by its guid. */
		rc = op->path ? ZOK : ZCONNECTIONLOSS;
	}
	finish(op, rc);
}

static void responded_with_stat(int rc, const struct Stat *stat, const void *context)
{
	dlock_zk_op *op = (dlock_zk_op *) context;

	if (rc == ZOK) {
		op->stat = *stat;
	}
	finish(op, rc);
}

static void got(int rc, const char *value, int value_len, const struct Stat *stat, const void *context)
{
	(void) value, (void) value_len;
	responded_with_stat(rc, stat, context);
}

static void deleted(int rc, const void *context)
{
	finish((dlock_zk_op *) context, rc);
}

static void synced(int rc, const char *path, const void *context)
{
	(void) path;
	finish((dlock_zk_op *) context, rc);
}

/* The names in one block: pointers first, then the text. NULL also where the response has no such names, or the library
 * no memory for them. */
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

dlock_zk_op *dlock_zk_create(dlock_zk_session *session, const char *path, const struct ACL_vector *acl, int mode)
{
	zhandle_t *handle;
	dlock_zk_op *op = begin(session, &handle);

	return op ? sent(op, zoo_acreate2(handle, path, "", 0, acl, mode, created, op)) : NULL;
}

dlock_zk_op *dlock_zk_list(dlock_zk_session *session, const char *path)
{
	zhandle_t *handle;
	dlock_zk_op *op = begin(session, &handle);

	return op ? sent(op, zoo_aget_children(handle, path, 0, listed, op)) : NULL;
}

dlock_zk_op *dlock_zk_exists(dlock_zk_session *session, const char *path)
{
	zhandle_t *handle;
	dlock_zk_op *op = begin(session, &handle);

	return op ? sent(op, zoo_aexists(handle, path, 0, responded_with_stat, op)) : NULL;
}

dlock_zk_op *dlock_zk_delete(dlock_zk_session *session, const char *path)
{
	zhandle_t *handle;
	dlock_zk_op *op = begin(session, &handle);

	return op ? sent(op, zoo_adelete(handle, path, -1, deleted, op)) : NULL;
}

dlock_zk_op *dlock_zk_sync(dlock_zk_session *session, const char *path)
{
	zhandle_t *handle;
	dlock_zk_op *op = begin(session, &handle);

	return op ? sent(op, zoo_async(handle, path, synced, op)) : NULL;
}

/* All watches have the session as their context, so the library keeps one per node however often it is asked for, and
 * none can outlive what it points to. What is left of a wait that has ended goes off one day and finds other nodes
 * watched, or none. */
static dlock_zk_op *begin_watch(dlock_zk_session *session, const char *path, zhandle_t **handle)
{
	pthread_mutex_lock(&session->mutex);
	bool added = dlock_zk_watches_add(&session->watches, path);
	pthread_mutex_unlock(&session->mutex);
	dlock_zk_op *op = added ? begin(session, handle) : NULL;

	if (!op) {
		dlock_zk_watch_only(session, NULL, 0);
	}
	return op;
}

bool dlock_zk_is_watched(dlock_zk_session *session, const char *path)
{
	pthread_mutex_lock(&session->mutex);
	bool watched = dlock_zk_watches_has(&session->watches, path);
	pthread_mutex_unlock(&session->mutex);
	return watched;
}

void dlock_zk_watch_only(dlock_zk_session *session, char *const *paths, int count)
{
	pthread_mutex_lock(&session->mutex);
	dlock_zk_watches_keep(&session->watches, paths, count);
	pthread_mutex_unlock(&session->mutex);
}

dlock_zk_op *dlock_zk_watch(dlock_zk_session *session, const char *path)
{
	zhandle_t *handle;
	dlock_zk_op *op = begin_watch(session, path, &handle);

	return op ? sent(op, zoo_awget(handle, path, dlock_zk_watcher, session, got, op)) : NULL;
}

dlock_zk_op *dlock_zk_watch_children(dlock_zk_session *session, const char *path)
{
	zhandle_t *handle;
	dlock_zk_op *op = begin_watch(session, path, &handle);

	return op ? sent(op, zoo_awget_children(handle, path, dlock_zk_watcher, session, listed, op)) : NULL;
}

dlock_status dlock_zk_op_wait(dlock_zk_op *op, dlock_nanos until, const dlock_wait *wait)
{
	dlock_zk_session *session = op->session;
	struct pollfd wakeup = { .fd = session->owner_wakeup.read_fd, .events = POLLIN };
	int ready = 1;

	for (;;) {
		pthread_mutex_lock(&session->mutex);
		bool done = op->done;
		session->sleeper = done || ready <= 0 ? NULL : op;
		pthread_mutex_unlock(&session->mutex);
		if (done) {
			return DLOCK_OK;
		}
		if (ready <= 0) {
			return ready == DLOCK_WAIT_INTERRUPTED ? DLOCK_INTERRUPTED : DLOCK_TIMEOUT;
		}
		ready = dlock_wait_poll(&wakeup, 1, until, wait);
		if (ready > 0) {
			dlock_wakeup_clear(&session->owner_wakeup);
		}
	}
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
		free_op(op);
	}
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
