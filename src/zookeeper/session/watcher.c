#include "watcher.h"

#include <stdio.h>
#include <string.h>

static void change_state(dlock_zk_session *session, zhandle_t *handle, int state)
{
	if (session->state >= DLOCK_ZK_EXPIRED) {
		return;
	}
	if (state == ZOO_CONNECTED_STATE) {
		session->handle = handle; /* zookeeper_init() may not have returned yet */
		session->state = DLOCK_ZK_CONNECTED;
		session->id = zoo_client_id(handle)->client_id;
		session->timeout = zoo_recv_timeout(handle) * DLOCK_MS;
		session->connections++;
		session->reason[0] = '\0';
		session->awaited = false;
		dlock_zk_watches_keep(&session->watches, NULL, 0); /* whatever the library has made of them */
	} else if (state == ZOO_EXPIRED_SESSION_STATE) {
		session->state = DLOCK_ZK_EXPIRED;
	} else if (state == ZOO_AUTH_FAILED_STATE) {
		session->state = DLOCK_ZK_AUTH_FAILED;
	} else if (session->state == DLOCK_ZK_CONNECTED) {
		session->state = DLOCK_ZK_DISCONNECTED;
		/* A server that hangs is left only when it has said nothing for two thirds of the timeout. */
		session->cut_off = session->probing ? session->probe_sent : dlock_now();
	}
	dlock_zk_session_event(session);
	dlock_wakeup_send(&session->thread_wakeup);
}

/* Hands the credentials to the library, which sends them ahead of all else on each connection. It takes them on a
 * connection only, so this is done on the first one, before anyone hears of it. False: the connection is gone again. */
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
		return; /* the next connection is a new chance */
	}
	pthread_mutex_lock(&session->mutex);
	if (type == ZOO_SESSION_EVENT) {
		change_state(session, handle, state);
	} else if (path && dlock_zk_watches_take(&session->watches, path)) {
		dlock_zk_session_event(session);
	}
	pthread_mutex_unlock(&session->mutex);
}
