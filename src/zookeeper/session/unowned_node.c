#include "unowned_node.h"

#include <stdlib.h>
#include <string.h>

#include "../../base/token.h"
#include "path.h"
#include "result.h"

typedef struct dlock_zk_unowned_node unowned_node;

struct dlock_zk_unowned_node {
	unowned_node *next;
	dlock_zk_session *session;
	bool asked;   /* a request about it is under way */
	char *parent; /* where `guid` is to be looked for; NULL: the node is known */
	char guid[DLOCK_TOKEN_LEN + 1];
	char path[];
};

static void add(dlock_zk_session *session, unowned_node *node)
{
	node->session = session;
	pthread_mutex_lock(&session->mutex);
	unowned_node **end = &session->unowned_nodes;
	while (*end) {
		end = &(*end)->next;
	}
	*end = node;
	pthread_mutex_unlock(&session->mutex);
}

static unowned_node *new_node(const char *path)
{
	unowned_node *node = calloc(1, sizeof *node + strlen(path) + 1);

	if (node) {
		strcpy(node->path, path);
	}
	return node;
}

/* With the response `rc`: frees the node, or leaves it for the next attempt. */
static void settle(unowned_node *node, int rc)
{
	dlock_zk_session *session = node->session;
	bool again = dlock_zk_is_loss(rc) || rc == ZSYSTEMERROR;

	pthread_mutex_lock(&session->mutex);
	if (again) {
		node->asked = false;
	} else {
		unowned_node **at = &session->unowned_nodes;
		while (*at != node) {
			at = &(*at)->next;
		}
		*at = node->next;
		if (!session->unowned_nodes) {
			dlock_zk_session_event(session);
		}
	}
	pthread_mutex_unlock(&session->mutex);
	if (!again) {
		free(node->parent);
		free(node);
	}
}

static void node_deleted(int rc, const void *context)
{
	settle((unowned_node *) context, rc);
}

/* The list was asked for after whatever may still create the node, on the same connection or after a sync. So a guid
 * that is not in it now never will be. */
static void node_listed(int rc, const struct String_vector *names, const void *context)
{
	unowned_node *node = (unowned_node *) context;
	dlock_zk_session *session = node->session;

	for (int i = 0; rc == ZOK && i < names->count; i++) {
		if (!names->data || !names->data[i]) { /* without memory, or in no response that a server gives */
			rc = ZSYSTEMERROR;
			break;
		}
		if (!dlock_zk_is_node_of(names->data[i], node->guid)) {
			continue;
		}
		char *path = dlock_zk_child_path(node->parent, names->data[i]);
		unowned_node *found = path ? new_node(path) : NULL;
		free(path);
		if (found) {
			add(session, found);
			dlock_wakeup_send(&session->thread_wakeup); /* which sends the delete */
		} else {
			rc = ZSYSTEMERROR;
		}
	}
	settle(node, rc);
}

static void synced(int rc, const char *path, const void *context)
{
	(void) rc, (void) path, (void) context; /* where the sync is lost, so is the list after it */
}

/* False: not now. */
static bool send_delete(unowned_node *node, zhandle_t *handle)
{
	int rc;

	if (node->parent) {
		zoo_async(handle, node->parent, synced, NULL);
		rc = zoo_aget_children(handle, node->parent, 0, node_listed, node);
	} else {
		rc = zoo_adelete(handle, node->path, -1, node_deleted, node);
	}
	/* After a ZMARSHALLINGERROR the library may still respond, so it must stay as asked for. */
	if (rc != ZOK && rc != ZMARSHALLINGERROR) {
		settle(node, rc);
	}
	return rc != ZSYSTEMERROR;
}

void dlock_zk_unowned_nodes_send(dlock_zk_session *session)
{
	for (;;) {
		pthread_mutex_lock(&session->mutex);
		bool dead = session->state >= DLOCK_ZK_EXPIRED;
		unowned_node *node = session->state == DLOCK_ZK_CONNECTED || dead ? session->unowned_nodes : NULL;
		while (node && node->asked) {
			node = node->next;
		}
		if (node) {
			node->asked = true;
		}
		zhandle_t *handle = session->handle;
		pthread_mutex_unlock(&session->mutex);
		if (!node) {
			return;
		}
		if (dead) {
			settle(node, ZSESSIONEXPIRED);
		} else if (!send_delete(node, handle)) {
			return; /* out of memory: the session's thread comes back to it */
		}
	}
}

void dlock_zk_discard_node(dlock_zk_session *session, const char *path)
{
	unowned_node *node = new_node(path);

	if (node) {
		add(session, node);
		dlock_zk_unowned_nodes_send(session);
	}
}

void dlock_zk_discard_guid(dlock_zk_session *session, const char *parent, const char *guid)
{
	unowned_node *node = new_node("");

	if (!node || !(node->parent = strdup(parent))) {
		free(node);
		return;
	}
	strcpy(node->guid, guid);
	add(session, node);
	dlock_zk_unowned_nodes_send(session);
}

void dlock_zk_unowned_nodes_free(dlock_zk_session *session)
{
	pthread_mutex_lock(&session->mutex);
	unowned_node *node = session->unowned_nodes;
	session->unowned_nodes = NULL;
	dlock_zk_session_event(session);
	pthread_mutex_unlock(&session->mutex);
	while (node) {
		unowned_node *next = node->next;
		free(node->parent);
		free(node);
		node = next;
	}
}
