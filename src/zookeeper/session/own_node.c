#include "own_node.h"

#include <stdlib.h>
#include <string.h>

struct dlock_zk_own_node {
	dlock_zk_own_node *previous, *next;
	dlock_zk_session *session;
	/* Under the session's mutex. */
	bool removed, gone;
	unsigned asked; /* responses that the library owes */
	unsigned long round;
	char path[];
};

static void unlink_node(dlock_zk_own_node *node)
{
	*(node->previous ? &node->previous->next : &node->session->own_nodes) = node->next;
	if (node->next) {
		node->next->previous = node->previous;
	}
}

dlock_zk_own_node *dlock_zk_own_node_add(dlock_zk_session *session, const char *path)
{
	dlock_zk_own_node *node = calloc(1, sizeof *node + strlen(path) + 1);

	if (!node) {
		return NULL;
	}
	strcpy(node->path, path);
	node->session = session;
	pthread_mutex_lock(&session->mutex);
	node->round = session->own_round;
	node->next = session->own_nodes;
	if (node->next) {
		node->next->previous = node;
	}
	session->own_nodes = node;
	pthread_mutex_unlock(&session->mutex);
	return node;
}

bool dlock_zk_own_node_is_gone(const dlock_zk_own_node *node)
{
	pthread_mutex_lock(&node->session->mutex);
	bool gone = node->gone;
	pthread_mutex_unlock(&node->session->mutex);
	return gone;
}

void dlock_zk_own_node_remove(dlock_zk_own_node *node)
{
	if (!node || node->session->process != dlock_process_current()) {
		return;
	}
	dlock_zk_session *session = node->session;
	pthread_mutex_lock(&session->mutex);
	node->removed = true;
	bool last = node->asked == 0;
	if (last) {
		unlink_node(node);
	}
	pthread_mutex_unlock(&session->mutex);
	if (last) {
		free(node);
	}
}

static void looked(int rc, const struct Stat *stat, const void *context)
{
	dlock_zk_own_node *node = (dlock_zk_own_node *) context;
	dlock_zk_session *session = node->session;

	pthread_mutex_lock(&session->mutex);
	bool gone = rc == ZNONODE || (rc == ZOK && stat->ephemeralOwner != session->id);
	if (gone && !node->removed) {
		node->gone = session->own_lost = true;
		dlock_zk_session_event(session);
		dlock_wakeup_send(&session->thread_wakeup);
	}
	bool last = --node->asked == 0 && node->removed;
	if (last) {
		unlink_node(node);
	}
	pthread_mutex_unlock(&session->mutex);
	if (last) {
		free(node);
	}
}

/* One that is not asked for in this round, and there still; it stays until its response has come. */
static dlock_zk_own_node *next_to_ask(dlock_zk_session *session, unsigned long round)
{
	pthread_mutex_lock(&session->mutex);
	dlock_zk_own_node *node = session->own_nodes;
	while (node && (node->round == round || node->removed || node->gone)) {
		node = node->next;
	}
	if (node) {
		node->round = round;
		node->asked++;
	}
	pthread_mutex_unlock(&session->mutex);
	return node;
}

void dlock_zk_own_nodes_ask(dlock_zk_session *session)
{
	unsigned long round;
	dlock_zk_own_node *node;

	pthread_mutex_lock(&session->mutex);
	round = ++session->own_round;
	zhandle_t *handle = session->handle;
	pthread_mutex_unlock(&session->mutex);
	while ((node = next_to_ask(session, round))) {
		int rc = zoo_aexists(handle, node->path, 0, looked, node);
		/* After a ZMARSHALLINGERROR the library may still respond, so it must stay as asked for. */
		if (rc != ZOK && rc != ZMARSHALLINGERROR) {
			looked(rc, NULL, node);
		}
	}
}

bool dlock_zk_own_nodes_lost(dlock_zk_session *session)
{
	pthread_mutex_lock(&session->mutex);
	bool lost = session->own_lost;
	session->own_lost = false;
	pthread_mutex_unlock(&session->mutex);
	return lost;
}

void dlock_zk_own_nodes_free(dlock_zk_session *session)
{
	pthread_mutex_lock(&session->mutex);
	for (dlock_zk_own_node *node = session->own_nodes, *next; node; node = next) {
		next = node->next;
		node->asked = 0;
		if (node->removed) {
			unlink_node(node);
			free(node);
		}
	}
	pthread_mutex_unlock(&session->mutex);
}
