#include "node.h"

#include <stdlib.h>
#include <string.h>

#include "../../base/token.h"
#include "path.h"
#include "response.h"

struct dlock_zk_node {
	dlock_zk_node *next, **at; /* in a list of its session */
	dlock_zk_session *session;
	/* Under the session's mutex. */
	bool asked;                     /* a response about the node is due, with the node as its context */
	unsigned long connection;       /* session->connections when `asked` was set; of unowned nodes */
	bool removed;                   /* of own nodes, like the next two */
	_Atomic bool gone;
	const void *together;
	char guid[DLOCK_TOKEN_LEN + 1]; /* of unowned nodes: the guid of a node below `path`; "": the node is `path` */
	char path[];
};

static dlock_zk_node *new_node(dlock_zk_session *session, const char *path)
{
	dlock_zk_node *node = calloc(1, sizeof *node + strlen(path) + 1);

	if (node) {
		node->session = session;
		strcpy(node->path, path);
	}
	return node;
}

/* Callers of these functions, down to "own nodes", hold the mutex. */
static void link_node(dlock_zk_node *node, dlock_zk_node **list)
{
	node->next = *list;
	node->at = list;
	if (node->next) {
		node->next->at = &node->next;
	}
	*list = node;
}

static void free_node(dlock_zk_node *node)
{
	*node->at = node->next;
	if (node->next) {
		node->next->at = node->at;
	}
	if (node->session->own_next == node) {
		node->session->own_next = node->next;
	}
	free(node);
}

/* Discards the rest of several nodes at once, because their owner may not look for a long time. When it looks, it
 * discards those for which there was no memory, and those that were not own nodes yet. */
static void give_rest_back(dlock_zk_session *session, const void *together)
{
	for (dlock_zk_node *node = session->own_nodes; node; node = node->next) {
		bool is_left = node->together == together && !node->removed && !node->gone;
		dlock_zk_node *unowned = is_left ? new_node(session, node->path) : NULL;
		if (unowned) {
			link_node(unowned, &session->unowned_nodes);
			node->gone = true;
		}
	}
}

static void looked(void *context, const dlock_zk_op *op)
{
	dlock_zk_node *node = context;
	dlock_zk_session *session = node->session;

	node->asked = false;
	if (node->removed) {
		free_node(node);
	} else if (op->rc == ZNONODE || (op->rc == ZOK && op->stat.ephemeralOwner != session->id)) {
		node->gone = session->own_lost = true;
		give_rest_back(session, node->together);
		dlock_zk_session_event(session, NULL);
		dlock_wakeup_send(&session->thread_wakeup);
	}
}

/* Handles the response `rc`: frees the node, or keeps it for the next attempt. */
static void take_result(dlock_zk_node *node, int rc)
{
	dlock_zk_session *session = node->session;

	node->asked = false;
	if (dlock_zk_is_loss(rc) || rc == ZSYSTEMERROR || rc == ZMARSHALLINGERROR) {
		return;
	}
	free_node(node);
	if (!session->unowned_nodes) {
		dlock_zk_session_event(session, NULL);
	}
}

static void deleted(void *context, const dlock_zk_op *op)
{
	take_result(context, op->rc);
}

/* The list was requested after any request that may still create the node, on the same connection or after a sync. So
 * if the guid is not in it now, it never will be. But if the connection broke between the sync and the list, the
 * library may have lost the sync and sent the list over the next connection, to a server that is behind. Then the
 * thread asks again. */
static void listed(void *context, const dlock_zk_op *op)
{
	dlock_zk_node *node = context;
	dlock_zk_session *session = node->session;
	bool counts = node->connection == session->connections || dlock_zk_is_dead(op->rc);
	int rc = counts ? op->rc : ZCONNECTIONLOSS;

	for (int i = 0; i < op->children_count; i++) {
		if (!dlock_zk_is_node_of(op->children[i], node->guid)) {
			continue;
		}
		char *path = dlock_zk_child_path(node->path, op->children[i]);
		dlock_zk_node *found = path ? new_node(session, path) : NULL;
		free(path);
		if (found) {
			link_node(found, &session->unowned_nodes);
			dlock_wakeup_send(&session->thread_wakeup); /* its thread sends the delete */
		} else {
			rc = ZSYSTEMERROR;
		}
	}
	take_result(node, rc);
}

/* ---- own nodes ---- */

dlock_zk_node *dlock_zk_own_node_add(dlock_zk_session *session, const char *path, const void *together)
{
	dlock_zk_node *node = new_node(session, path);

	if (node) {
		node->together = together;
		pthread_mutex_lock(&session->mutex);
		link_node(node, &session->own_nodes);
		pthread_mutex_unlock(&session->mutex);
	}
	return node;
}

bool dlock_zk_own_node_is_gone(const dlock_zk_node *node)
{
	return node->gone;
}

void dlock_zk_own_node_remove(dlock_zk_node *node)
{
	if (!node || node->session->process != dlock_process_current()) {
		return;
	}
	dlock_zk_session *session = node->session;
	pthread_mutex_lock(&session->mutex);
	node->removed = true;
	if (!node->asked) {
		free_node(node);
	}
	pthread_mutex_unlock(&session->mutex);
}

void dlock_zk_own_nodes_ask(dlock_zk_session *session)
{
	dlock_zk_node *node;

	pthread_mutex_lock(&session->mutex);
	session->own_next = session->own_nodes;
	while ((node = session->own_next)) {
		session->own_next = node->next;
		if (node->asked || node->gone) {
			continue;
		}
		node->asked = true; /* so the node stays until its response has come */
		pthread_mutex_unlock(&session->mutex);
		int rc = dlock_zk_ask_then(session, DLOCK_ZK_EXISTS, node->path, looked, node);
		pthread_mutex_lock(&session->mutex);
		if (rc != ZOK) {
			node->asked = false; /* the next probe asks again */
			if (node->removed) {
				free_node(node);
			}
		}
	}
	pthread_mutex_unlock(&session->mutex);
}

/* ---- unowned nodes ---- */

static int send_about(dlock_zk_node *node)
{
	if (!*node->guid) {
		return dlock_zk_ask_then(node->session, DLOCK_ZK_DELETE, node->path, deleted, node);
	}
	int rc = dlock_zk_ask_then(node->session, DLOCK_ZK_SYNC, node->path, NULL, NULL);
	return rc == ZOK ? dlock_zk_ask_then(node->session, DLOCK_ZK_LIST, node->path, listed, node) : rc;
}

void dlock_zk_unowned_nodes_send(dlock_zk_session *session)
{
	int rc = ZOK;

	pthread_mutex_lock(&session->mutex);
	while (rc == ZOK) { /* otherwise out of memory or a dead session: the session's thread tries again */
		dlock_zk_node *node = session->state == DLOCK_ZK_CONNECTED ? session->unowned_nodes : NULL;
		while (node && node->asked) {
			node = node->next;
		}
		if (!node) {
			break;
		}
		node->asked = true;
		node->connection = session->connections;
		pthread_mutex_unlock(&session->mutex);
		rc = send_about(node);
		pthread_mutex_lock(&session->mutex);
		if (rc != ZOK) {
			take_result(node, rc);
		}
	}
	for (dlock_zk_node *node = session->unowned_nodes, *next; node && session->state >= DLOCK_ZK_EXPIRED; node = next) {
		next = node->next;
		if (!node->asked) {
			take_result(node, ZSESSIONEXPIRED);
		}
	}
	pthread_mutex_unlock(&session->mutex);
}

void dlock_zk_discard_node(dlock_zk_session *session, const char *path, const char *guid)
{
	dlock_zk_node *node = new_node(session, path);

	if (!node) {
		return;
	}
	strcpy(node->guid, guid ? guid : "");
	pthread_mutex_lock(&session->mutex);
	link_node(node, &session->unowned_nodes);
	pthread_mutex_unlock(&session->mutex);
	dlock_zk_unowned_nodes_send(session);
}
