#include "internal.h"
#include "path.h"

#include <stdlib.h>
#include <string.h>

#include "../base/token.h"

struct dlock_zk_orphan {
	dlock_zk_orphan *next;
	dlock_zk_session *session;
	bool asked;   /* a request about it is under way */
	char *parent; /* where `guid` is to be looked for; NULL: the node is known */
	char guid[DLOCK_TOKEN_LEN + 1];
	char path[];
};

static void add(dlock_zk_session *session, dlock_zk_orphan *orphan)
{
	orphan->session = session;
	pthread_mutex_lock(&session->mutex);
	dlock_zk_orphan **end = &session->orphans;
	while (*end) {
		end = &(*end)->next;
	}
	*end = orphan;
	pthread_mutex_unlock(&session->mutex);
}

static dlock_zk_orphan *new_orphan(const char *path)
{
	dlock_zk_orphan *orphan = calloc(1, sizeof *orphan + strlen(path) + 1);

	if (orphan) {
		strcpy(orphan->path, path);
	}
	return orphan;
}

/* With the answer `rc` in hand: forget the orphan, or leave it for the next attempt. */
static void settle(dlock_zk_orphan *orphan, int rc)
{
	dlock_zk_session *session = orphan->session;
	bool again = dlock_zk_is_loss(rc) || rc == ZSYSTEMERROR;

	pthread_mutex_lock(&session->mutex);
	if (again) {
		orphan->asked = false;
	} else {
		dlock_zk_orphan **at = &session->orphans;
		while (*at != orphan) {
			at = &(*at)->next;
		}
		*at = orphan->next;
		if (!session->orphans) {
			dlock_zk_session_event(session);
		}
	}
	pthread_mutex_unlock(&session->mutex);
	if (!again) {
		free(orphan->parent);
		free(orphan);
	}
}

static void orphan_deleted(int rc, const void *context)
{
	settle((dlock_zk_orphan *) context, rc);
}

/* The list was asked for after whatever may still create the node, on the same connection or after a sync. So a guid
 * that is not in it now never will be. */
static void orphan_listed(int rc, const struct String_vector *names, const void *context)
{
	dlock_zk_orphan *orphan = (dlock_zk_orphan *) context;
	dlock_zk_session *session = orphan->session;

	for (int i = 0; rc == ZOK && i < names->count; i++) {
		if (!dlock_zk_is_node_of(names->data[i], orphan->guid)) {
			continue;
		}
		char *path = dlock_zk_child_path(orphan->parent, names->data[i]);
		dlock_zk_orphan *found = path ? new_orphan(path) : NULL;
		free(path);
		if (found) {
			add(session, found);
			dlock_wakeup_send(&session->thread_wakeup); /* which sends the delete */
		} else {
			rc = ZSYSTEMERROR;
		}
	}
	settle(orphan, rc);
}

static void synced(int rc, const char *path, const void *context)
{
	(void) rc, (void) path, (void) context; /* where the sync is lost, so is the list behind it */
}

/* False: not now. */
static bool send_delete(dlock_zk_orphan *orphan, zhandle_t *handle)
{
	int rc;

	if (orphan->parent) {
		zoo_async(handle, orphan->parent, synced, NULL);
		rc = zoo_aget_children(handle, orphan->parent, 0, orphan_listed, orphan);
	} else {
		rc = zoo_adelete(handle, orphan->path, -1, orphan_deleted, orphan);
	}
	/* After a ZMARSHALLINGERROR the library may still answer, so it must stay as asked for. */
	if (rc != ZOK && rc != ZMARSHALLINGERROR) {
		settle(orphan, rc);
	}
	return rc != ZSYSTEMERROR;
}

void dlock_zk_orphans_send(dlock_zk_session *session)
{
	for (;;) {
		pthread_mutex_lock(&session->mutex);
		bool dead = session->state >= DLOCK_ZK_EXPIRED;
		dlock_zk_orphan *orphan = session->state == DLOCK_ZK_CONNECTED || dead ? session->orphans : NULL;
		while (orphan && orphan->asked) {
			orphan = orphan->next;
		}
		if (orphan) {
			orphan->asked = true;
		}
		zhandle_t *handle = session->handle;
		pthread_mutex_unlock(&session->mutex);
		if (!orphan) {
			return;
		}
		if (dead) {
			settle(orphan, ZSESSIONEXPIRED);
		} else if (!send_delete(orphan, handle)) {
			return; /* out of memory: the session's thread comes back to it */
		}
	}
}

void dlock_zk_orphan_node(dlock_zk_session *session, const char *path)
{
	dlock_zk_orphan *orphan = new_orphan(path);

	if (orphan) {
		add(session, orphan);
		dlock_zk_orphans_send(session);
	}
}

void dlock_zk_orphan_guid(dlock_zk_session *session, const char *parent, const char *guid)
{
	dlock_zk_orphan *orphan = new_orphan("");

	if (!orphan || !(orphan->parent = strdup(parent))) {
		free(orphan);
		return;
	}
	strcpy(orphan->guid, guid);
	add(session, orphan);
	dlock_zk_orphans_send(session);
}

void dlock_zk_orphans_forget(dlock_zk_session *session)
{
	pthread_mutex_lock(&session->mutex);
	dlock_zk_orphan *orphan = session->orphans;
	session->orphans = NULL;
	dlock_zk_session_event(session);
	pthread_mutex_unlock(&session->mutex);
	while (orphan) {
		dlock_zk_orphan *next = orphan->next;
		free(orphan->parent);
		free(orphan);
		orphan = next;
	}
}
