#include "watches.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct dlock_zk_watch watch;

struct dlock_zk_watch {
	watch *next;
	dlock_zk_news *news;
	char path[];
};

/* ---- the list; with the mutex held ---- */

/* Finds the first watch of the node from `at` on. `news` NULL: for any news. */
static watch **find(watch **at, const char *path, const dlock_zk_news *news)
{
	while (*at && ((news && (*at)->news != news) || strcmp((*at)->path, path) != 0)) {
		at = &(*at)->next;
	}
	return at;
}

static void take(watch **at)
{
	watch *taken = *at;

	*at = taken->next;
	free(taken);
}

static bool is_among(const char *path, char *const *paths, int count)
{
	int i = 0;

	while (i < count && strcmp(path, paths[i]) != 0) {
		i++;
	}
	return i < count;
}

/* `news` NULL: the watches for all news. */
static void retain_only(dlock_zk_session *session, const dlock_zk_news *news, char *const *paths, int count)
{
	for (watch **at = &session->watches; *at;) {
		if ((news && (*at)->news != news) || is_among((*at)->path, paths, count)) {
			at = &(*at)->next;
		} else {
			take(at);
		}
	}
}

/* ---- for the owner ---- */

bool dlock_zk_watches_add(dlock_zk_session *session, const char *path, dlock_zk_news *news)
{
	watch *added = malloc(sizeof *added + strlen(path) + 1);

	if (!added) {
		return false;
	}
	strcpy(added->path, path);
	added->news = news;
	pthread_mutex_lock(&session->mutex);
	watch **before = find(&session->watches, path, news);
	if (*before) {
		take(before);
	}
	added->next = session->watches;
	session->watches = added;
	pthread_mutex_unlock(&session->mutex);
	return true;
}

bool dlock_zk_is_watched(dlock_zk_session *session, const char *path, const dlock_zk_news *news)
{
	pthread_mutex_lock(&session->mutex);
	bool watched = *find(&session->watches, path, news);
	pthread_mutex_unlock(&session->mutex);
	return watched;
}

void dlock_zk_watch_only(dlock_zk_session *session, const dlock_zk_news *news, char *const *paths, int count)
{
	if (session->process != dlock_process_current()) { /* a wait continued in a child of fork() */
		return;
	}
	pthread_mutex_lock(&session->mutex);
	retain_only(session, news, paths, count);
	pthread_mutex_unlock(&session->mutex);
}

void dlock_zk_watch_none(dlock_zk_session *session)
{
	dlock_zk_watch_only(session, NULL, NULL, 0);
}

/* ---- for the library ---- */

static void change_state(dlock_zk_session *session, zhandle_t *handle, int state)
{
	if (session->state >= DLOCK_ZK_EXPIRED) {
		return;
	}
	if (state == ZOO_CONNECTED_STATE) {
		session->handle = handle; /* zookeeper_init() may not have returned yet */
		session->state = DLOCK_ZK_CONNECTED;
		session->connections++;
		session->id = zoo_client_id(handle)->client_id;
		session->timeout = zoo_recv_timeout(handle) * DLOCK_MS;
		session->probe_due = 0; /* only a response shows that the session has moved here */
		session->reason[0] = '\0';
		session->awaited = false;
		retain_only(session, NULL, NULL, 0); /* even if the library sets them again */
	} else if (state == ZOO_EXPIRED_SESSION_STATE) {
		session->state = DLOCK_ZK_EXPIRED;
	} else if (state == ZOO_AUTH_FAILED_STATE) {
		session->state = DLOCK_ZK_AUTH_FAILED;
	} else if (session->state == DLOCK_ZK_CONNECTED) {
		session->state = DLOCK_ZK_DISCONNECTED;
		/* The library leaves a server that hangs only after two thirds of the timeout without a word. */
		session->cut_off = session->probing ? session->probe_sent : dlock_now();
	}
	dlock_zk_session_event(session, NULL);
	dlock_wakeup_send(&session->thread_wakeup);
}

/* Hands the credentials to the library, which sends them ahead of everything else on each connection. The library
 * accepts them only on a connection. So this happens on the first one, before the owner learns of it. Returns false if
 * the connection is gone again. */
static bool have_credentials(dlock_zk_session *session, zhandle_t *handle)
{
	if (!session->auth || session->auth_given) {
		return true;
	}
	const char *colon = strchr(session->auth, ':');
	char scheme[16];
	snprintf(scheme, sizeof scheme, "%.*s", (int) (colon - session->auth), session->auth);
	session->auth_given = zoo_add_auth(handle, scheme, colon + 1, (int) strlen(colon + 1), NULL, NULL) == ZOK;
	return session->auth_given;
}

void dlock_zk_watcher(zhandle_t *handle, int type, int state, const char *path, void *context)
{
	dlock_zk_session *session = context;

	if (type == ZOO_SESSION_EVENT && state == ZOO_CONNECTED_STATE && !have_credentials(session, handle)) {
		return; /* the next connection is another chance */
	}
	pthread_mutex_lock(&session->mutex);
	if (type == ZOO_SESSION_EVENT) {
		change_state(session, handle, state);
	} else {
		for (watch **at = &session->watches; path && *(at = find(at, path, NULL));) {
			dlock_zk_news *news = (*at)->news;
			take(at);
			dlock_zk_session_event(session, news);
		}
	}
	pthread_mutex_unlock(&session->mutex);
}
