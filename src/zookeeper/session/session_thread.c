#include "session_thread.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "../../lock/renewal.h"
#include "diagnose.h"
#include "op.h"
#include "own_node.h"
#include "unowned_node.h"
#include "watcher.h"

/* The library's and glibc's resolver run on it. */
#define STACK_SIZE (256 * 1024)

#define RETRY (250 * DLOCK_MS)

/* Since 3.7, which the headers do not let a preprocessor find out. */
extern int zoo_set_servers_resolution_delay(zhandle_t *handle, int delay_ms) __attribute__((weak));

static void silent(const char *message)
{
	(void) message;
}

/* Did the probe fail because the connection ended, so that the next response comes after a reconnection? */
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
		/* Of interest only to a call that waits for it: a waiter in the queue need not look again each time. */
		bool had_passed = dlock_now() >= dlock_zk_session_deadline(session);
		session->lived = session->before_sent;
		if (had_passed) {
			dlock_zk_session_event(session);
		}
	} else if (rc != ZOK && !is_cut(rc)) {
		session->probe_sent = session->before_sent; /* refused somehow: not what the next response may build upon */
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
		return;
	}
	dlock_zk_own_nodes_ask(session);
}

static void open_handle(dlock_zk_session *session)
{
	dlock_nanos ms = session->asked / DLOCK_MS;
	int flags = 0;

#ifdef ZOO_NO_LOG_CLIENTENV
	flags |= ZOO_NO_LOG_CLIENTENV;
#endif
	zhandle_t *handle = zookeeper_init2(session->expanded, dlock_zk_watcher,
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
static void find_reason(dlock_zk_session *session)
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

/* When to find out why there is no connection. That may keep the thread for as long as a resolver takes, so it waits
 * until no lease depends on the probe of the next connection any more. */
static dlock_nanos diagnosis_due(const dlock_zk_session *session)
{
	dlock_nanos due = dlock_after(session->cut_off, session->asked / 2), bound = dlock_zk_session_deadline(session);

	return session->reason[0] ? DLOCK_FOREVER : due > bound ? due : bound;
}

/* What the thread has to do, and when if not now. */
typedef struct {
	bool stop;
	dlock_nanos probe, diagnose, unowned_nodes;
} tasks;

static tasks find_tasks(dlock_zk_session *session, unsigned long *probed_connections)
{
	pthread_mutex_lock(&session->mutex);
	tasks todo = { session->stop, DLOCK_FOREVER, DLOCK_FOREVER, DLOCK_FOREVER };
	if (session->state == DLOCK_ZK_CONNECTED && !session->probing) { /* otherwise the response wakes it */
		/* Each connection is probed at once: only a response tells that the session came over. */
		todo.probe = session->connections != *probed_connections ? 0 : session->probe_due;
		*probed_connections = session->connections;
	} else if (session->state < DLOCK_ZK_CONNECTED || session->state == DLOCK_ZK_DISCONNECTED) {
		todo.diagnose = diagnosis_due(session);
	}
	if (session->unowned_nodes && session->state < DLOCK_ZK_EXPIRED) {
		todo.unowned_nodes = dlock_now() + RETRY;
	}
	pthread_mutex_unlock(&session->mutex);
	return todo;
}

static void run(dlock_zk_session *session)
{
	struct pollfd wakeup = { .fd = session->thread_wakeup.read_fd, .events = POLLIN };
	unsigned long probed_connections = 0;

	for (;;) {
		tasks todo = find_tasks(session, &probed_connections);
		if (todo.stop) {
			return;
		}
		dlock_zk_unowned_nodes_send(session);
		if (dlock_zk_own_nodes_lost(session)) {
			dlock_renewal_look();
		}
		if (dlock_now() >= todo.probe) {
			probe(session);
		} else if (dlock_now() >= todo.diagnose) {
			find_reason(session);
		} else if (dlock_wait_poll(&wakeup, 1, earlier(todo.probe, earlier(todo.diagnose, todo.unowned_nodes)), NULL)
			> 0) {
			dlock_wakeup_clear(&session->thread_wakeup);
		}
	}
}

static void *thread_main(void *context)
{
	dlock_zk_session *session = context;

	open_handle(session);
	run(session);
	zookeeper_close(session->handle);
	/* Those that the library has not responded to when it closed. */
	dlock_zk_ops_discard(session);
	dlock_zk_unowned_nodes_free(session);
	dlock_zk_own_nodes_free(session);
	pthread_mutex_lock(&session->mutex);
	session->ended = true;
	dlock_zk_session_event(session);
	pthread_mutex_unlock(&session->mutex);
	return NULL;
}

int dlock_zk_session_thread_start(dlock_zk_session *session)
{
	pthread_attr_t attributes;
	sigset_t all, before;
	int problem = pthread_attr_init(&attributes);

	if (problem != 0) {
		return problem;
	}
	pthread_attr_setstacksize(&attributes, STACK_SIZE);
	/* The library's threads are started by this one and inherit its mask: no handler ever runs on any of them. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	problem = pthread_create(&session->thread, &attributes, thread_main, session);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attributes);
	return problem;
}
