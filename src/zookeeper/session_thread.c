#include "internal.h"
#include "session_thread.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

/* The session's own thread and what the library's threads tell about the session. See session.h for the reasoning. */

#define RETRY (250 * DLOCK_MS)

/* Since 3.7, which the headers do not let a preprocessor find out. */
extern int zoo_set_servers_resolution_delay(zhandle_t *handle, int delay_ms) __attribute__((weak));

static void silent(const char *message)
{
	(void) message;
}

void dlock_zk_session_event(dlock_zk_session *session)
{
	session->events++;
	if (session->sleeper == session) {
		dlock_wakeup_send(&session->owner_wakeup);
	}
}

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
	} else if (state == ZOO_EXPIRED_SESSION_STATE) {
		session->state = DLOCK_ZK_EXPIRED;
	} else if (state == ZOO_AUTH_FAILED_STATE) {
		session->state = DLOCK_ZK_AUTH_FAILED;
	} else if (session->state == DLOCK_ZK_CONNECTED) {
		session->state = DLOCK_ZK_DISCONNECTED;
		/* A server that hangs is given up only when it has said nothing for two thirds of the timeout. */
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

void dlock_zk_session_watch(zhandle_t *handle, int type, int state, const char *path, void *context)
{
	dlock_zk_session *session = context;

	if (type == ZOO_SESSION_EVENT && state == ZOO_CONNECTED_STATE && !have_credentials(session, handle)) {
		return; /* the next connection is a new chance */
	}
	pthread_mutex_lock(&session->mutex);
	if (type == ZOO_SESSION_EVENT) {
		change_state(session, handle, state);
	} else if (session->watched && path && strcmp(path, session->watched) == 0) {
		dlock_zk_session_event(session);
	}
	pthread_mutex_unlock(&session->mutex);
}

/* Did the probe fail because the connection ended, so that the next answer comes after a reconnection? */
static bool is_cut(int rc)
{
	return rc == ZCONNECTIONLOSS || rc == ZOPERATIONTIMEOUT;
}

static void probed(int rc, const char *path, const void *context)
{
	dlock_zk_session *session = (dlock_zk_session *) context;

	(void) path;
	pthread_mutex_lock(&session->mutex);
	session->probing = false;
	if (rc == ZOK && session->before_sent > session->lived) {
		/* Of interest only to who waits for it: a waiter in line need not look again each time. */
		bool had_passed = dlock_now() >= dlock_zk_session_deadline(session);
		session->lived = session->before_sent;
		if (had_passed) {
			dlock_zk_session_event(session);
		}
	} else if (rc != ZOK && !is_cut(rc)) {
		session->probe_sent = session->before_sent; /* refused somehow: not what the next answer may build upon */
	}
	dlock_wakeup_send(&session->thread_wakeup);
	pthread_mutex_unlock(&session->mutex);
}

static void probe(dlock_zk_session *session)
{
	pthread_mutex_lock(&session->mutex);
	dlock_nanos before = session->before_sent, last = session->probe_sent, now = dlock_now();
	session->probing = true;
	session->probe_due = dlock_after(now, session->timeout / 4);
	session->before_sent = last;
	session->probe_sent = now; /* before it is sent, never after */
	pthread_mutex_unlock(&session->mutex);
	if (zoo_async(session->handle, "/", probed, session) != ZOK) {
		pthread_mutex_lock(&session->mutex);
		session->probing = false;
		session->before_sent = before;
		session->probe_sent = last;
		pthread_mutex_unlock(&session->mutex);
	}
}

static void open_handle(dlock_zk_session *session)
{
	dlock_nanos ms = session->asked / DLOCK_MS;
	int flags = 0;

#ifdef ZOO_NO_LOG_CLIENTENV
	flags |= ZOO_NO_LOG_CLIENTENV;
#endif
	zhandle_t *handle = zookeeper_init2(session->expanded, dlock_zk_session_watch,
		ms < 1 ? 1 : ms > INT_MAX ? INT_MAX : (int) ms, NULL, session, flags, silent);
	int cause = errno;

	/* By default the host names are looked up again with every request. That takes time, and a fork() that meets it
	 * leaves the child with glibc's resolver locked for ever. With -1 it is done for each new connection only. */
	if (handle && zoo_set_servers_resolution_delay) {
		zoo_set_servers_resolution_delay(handle, -1);
	}
	pthread_mutex_lock(&session->mutex);
	session->handle = handle;
	if (!handle) {
		session->state = DLOCK_ZK_REFUSED;
		snprintf(session->reason, sizeof session->reason, "%s",
			cause == ENOENT || cause == EINVAL ? "a host name cannot be resolved" : strerror(cause));
		dlock_zk_session_event(session);
	}
	pthread_mutex_unlock(&session->mutex);
}

/* Finds out why there is no connection, for the owner's message. */
static void look_into_it(dlock_zk_session *session)
{
	char reason[sizeof session->reason];

	dlock_zk_diagnose(session->expanded, session->asked / 8, reason, sizeof reason);
	pthread_mutex_lock(&session->mutex);
	if (session->state != DLOCK_ZK_CONNECTED && !session->reason[0]) {
		memcpy(session->reason, reason, sizeof reason);
	}
	pthread_mutex_unlock(&session->mutex);
}

static dlock_nanos earlier(dlock_nanos a, dlock_nanos b)
{
	return a < b ? a : b;
}

/* When to find out why there is no connection. That may keep the thread for as long as a resolver takes, so it waits until no
 * lease depends on the probe of the next connection any more. */
static dlock_nanos diagnosis_due(const dlock_zk_session *session)
{
	dlock_nanos due = dlock_after(session->cut_off, session->asked / 2), bound = dlock_zk_session_deadline(session);

	return session->reason[0] ? DLOCK_FOREVER : due > bound ? due : bound;
}

/* What the thread has to do, and when if not now. */
typedef struct {
	bool stop;
	dlock_nanos probe, diagnose, orphans;
} chores;

static chores find_chores(dlock_zk_session *session, unsigned long *probed_connections)
{
	pthread_mutex_lock(&session->mutex);
	chores todo = { session->stop, DLOCK_FOREVER, DLOCK_FOREVER, DLOCK_FOREVER };
	if (session->state == DLOCK_ZK_CONNECTED && !session->probing) { /* otherwise the answer rings */
		/* Each connection is probed at once: only an answer tells that the session came over. */
		todo.probe = session->connections != *probed_connections ? 0 : session->probe_due;
		*probed_connections = session->connections;
	} else if (session->state < DLOCK_ZK_CONNECTED || session->state == DLOCK_ZK_DISCONNECTED) {
		todo.diagnose = diagnosis_due(session);
	}
	if (session->orphans && session->state < DLOCK_ZK_EXPIRED) {
		todo.orphans = dlock_now() + RETRY;
	}
	pthread_mutex_unlock(&session->mutex);
	return todo;
}

static void keep(dlock_zk_session *session)
{
	struct pollfd wakeup = { .fd = session->thread_wakeup.read_fd, .events = POLLIN };
	unsigned long probed_connections = 0;

	for (;;) {
		chores todo = find_chores(session, &probed_connections);
		if (todo.stop) {
			return;
		}
		dlock_zk_orphans_send(session);
		if (dlock_now() >= todo.probe) {
			probe(session);
		} else if (dlock_now() >= todo.diagnose) {
			look_into_it(session);
		} else if (dlock_wait_poll(&wakeup, 1, earlier(todo.probe, earlier(todo.diagnose, todo.orphans)), NULL) > 0) {
			dlock_wakeup_clear(&session->thread_wakeup);
		}
	}
}

void *dlock_zk_keep(void *context)
{
	dlock_zk_session *session = context;

	open_handle(session);
	keep(session);
	zookeeper_close(session->handle);
	/* What the library did not get to answer when it closed. */
	dlock_zk_ops_forget(session);
	dlock_zk_orphans_forget(session);
	pthread_mutex_lock(&session->mutex);
	session->ended = true;
	dlock_zk_session_event(session);
	pthread_mutex_unlock(&session->mutex);
	return NULL;
}
