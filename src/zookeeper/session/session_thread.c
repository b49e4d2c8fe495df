/* The session's own thread. It opens the handle, probes the session (session.h), and in the end closes the handle. It
 * has own nodes checked and unowned nodes deleted, and finds out why there is no connection. */

#include "session.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../base/thread.h"
#include "../../lock/renewal.h"
#include "hosts.h"
#include "node.h"
#include "op.h"
#include "watches.h"

#define RETRY (250 * DLOCK_MS)

/* The state of the thread's task. */
typedef struct {
	dlock_zk_session *session;
	dlock_zk_diagnosis diagnosis;
	dlock_zk_look *look; /* at the addresses of the hosts; NULL: none is under way */
	dlock_nanos recount_due;
} worker;

/* The library has it from 3.7 on, which the preprocessor cannot learn from the headers. */
extern int zoo_set_servers_resolution_delay(zhandle_t *handle, int delay_ms) __attribute__((weak));

static void silent(const char *message)
{
	(void) message;
}

static void probed(void *context, const dlock_zk_op *op)
{
	dlock_zk_session *session = context;

	session->probing = false;
	if (op->rc == ZOK) {
		session->probe_due = dlock_after(dlock_now(), session->timeout / 4); /* not earlier: see session.h */
	}
	if (op->rc == ZOK && session->before_sent > session->lived) {
		/* Only a call that waits for the bound needs this event: a waiter in the queue need not look again after each
		 * probe. */
		bool had_passed = dlock_now() >= dlock_zk_session_deadline(session);
		session->lived = session->before_sent;
		if (had_passed) {
			dlock_zk_session_event(session, NULL);
		}
	} else if (op->rc != ZOK && op->rc != ZCONNECTIONLOSS && op->rc != ZOPERATIONTIMEOUT) {
		/* The server refused the probe. The next response may not build upon it, because no reconnection lies between
		 * the two. */
		session->probe_sent = session->before_sent;
	}
	dlock_wakeup_send(&session->thread_wakeup);
}

static void probe(dlock_zk_session *session, dlock_nanos now)
{
	pthread_mutex_lock(&session->mutex);
	session->probing = true;
	session->probe_due = dlock_after(now, session->timeout / 4); /* if this probe fails */
	session->before_sent = session->probe_sent;
	session->probe_sent = now; /* the time before the sending, never after it */
	pthread_mutex_unlock(&session->mutex);
	if (dlock_zk_ask_then(session, DLOCK_ZK_SYNC, "/", probed, session) == ZOK) {
		dlock_zk_own_nodes_ask(session);
		return;
	}
	pthread_mutex_lock(&session->mutex);
	session->probing = false;
	session->probe_sent = session->before_sent;
	pthread_mutex_unlock(&session->mutex);
}

static void open_handle(worker *own)
{
	dlock_zk_session *session = own->session;
	dlock_nanos ms = session->asked / DLOCK_MS;
	int flags = 0;

#ifdef ZOO_NO_LOG_CLIENTENV
	flags |= ZOO_NO_LOG_CLIENTENV;
#endif
	session->given = dlock_zk_hosts_odd(session->expanded);
	zhandle_t *handle = zookeeper_init2(session->given ? session->given : session->expanded, dlock_zk_watcher,
		ms < 1 ? 1 : ms > INT_MAX ? INT_MAX : (int) ms, NULL, session, flags, silent);
	int cause = errno;

	/* By default, the library looks up the host names again with every request. That costs time, and a fork() during a
	 * look-up leaves glibc's resolver locked in the child for good. With -1, it looks them up only for each new
	 * connection. */
	if (handle && zoo_set_servers_resolution_delay) {
		zoo_set_servers_resolution_delay(handle, -1);
	}
	pthread_mutex_lock(&session->mutex);
	session->handle = handle;
	if (!handle) {
		session->state = DLOCK_ZK_REFUSED;
		snprintf(session->reason, sizeof session->reason, "%s",
			cause == ENOENT || cause == EINVAL ? "a host name cannot be resolved" : strerror(cause));
		dlock_zk_session_event(session, NULL);
	}
	pthread_mutex_unlock(&session->mutex);
}

/* When to find out why there is no connection, and whether the hosts have other addresses. Both take time, and the
 * first uses one of the connections that the server has room for. So both wait until no lease depends on the next
 * connection any more. */
static dlock_nanos care_due(const dlock_zk_session *session)
{
	dlock_nanos due = dlock_after(session->cut_off, session->asked / 2), bound = dlock_zk_session_deadline(session);

	return due > bound ? due : bound;
}

/* Finds the reason for the owner's message. */
static void diagnose(worker *own, dlock_loop *loop, dlock_nanos now)
{
	dlock_zk_session *session = own->session;
	char reason[sizeof session->reason];

	if (!dlock_zk_diagnose(&own->diagnosis, session->hosts, session->asked / 8, loop, now, reason, sizeof reason)) {
		return;
	}
	pthread_mutex_lock(&session->mutex);
	if (session->state != DLOCK_ZK_CONNECTED && !session->reason[0]) {
		memcpy(session->reason, reason, sizeof reason);
	}
	pthread_mutex_unlock(&session->mutex);
}

static void end_look(worker *own)
{
	dlock_zk_look_leave(own->look);
	own->look = NULL;
}

/* The hosts may have more or fewer addresses now. */
static void recount(worker *own, dlock_loop *loop, dlock_nanos now)
{
	dlock_zk_session *session = own->session;

	if (!own->look && session->given) {
		own->look = dlock_zk_look_begin(session->given, session->expanded);
	}
	char *odd = NULL;
	if (own->look && !dlock_zk_look_ended(own->look, &odd)) {
		dlock_loop_wake_by(loop, now + RETRY);
		return;
	}
	end_look(own);
	own->recount_due = dlock_after(now, session->asked > DLOCK_SECOND ? session->asked : DLOCK_SECOND);
	dlock_loop_wake_by(loop, own->recount_due);
	if (odd && dlock_zk_session_view(session).state != DLOCK_ZK_CONNECTED) {
		zoo_set_servers(session->handle, odd); /* looks these names up once more */
		free(session->given);
		session->given = odd;
	} else {
		free(odd);
	}
}

static dlock_status work(void *task, dlock_loop *loop, dlock_nanos now)
{
	worker *own = task;
	dlock_zk_session *session = own->session;
	dlock_nanos probe_due = DLOCK_FOREVER, diagnosis = DLOCK_FOREVER, recount_due = DLOCK_FOREVER;

	pthread_mutex_lock(&session->mutex);
	bool stop = session->stop, lost = session->own_lost;
	session->own_lost = false;
	if (session->state == DLOCK_ZK_CONNECTED && !session->probing) { /* otherwise the response wakes the thread */
		probe_due = session->probe_due;
	} else if (session->state < DLOCK_ZK_CONNECTED || session->state == DLOCK_ZK_DISCONNECTED) {
		dlock_nanos due = care_due(session);
		diagnosis = session->reason[0] ? DLOCK_FOREVER : due;
		recount_due = own->recount_due > due ? own->recount_due : due;
	}
	if (session->unowned_nodes && session->state < DLOCK_ZK_EXPIRED) {
		dlock_loop_wake_by(loop, now + RETRY);
	}
	pthread_mutex_unlock(&session->mutex);
	if (stop) {
		return DLOCK_OK;
	}
	dlock_zk_unowned_nodes_send(session);
	if (lost) {
		dlock_renewal_wake();
	}
	if (dlock_loop_is_time(loop, probe_due, now)) {
		probe(session, now);
	}
	if (recount_due == DLOCK_FOREVER) {
		end_look(own); /* there is a connection: the next time, the addresses may have changed */
	} else if (dlock_loop_is_time(loop, recount_due, now)) {
		recount(own, loop, now);
	}
	if (now >= diagnosis) {
		diagnose(own, loop, now);
	} else {
		dlock_loop_wake_by(loop, diagnosis);
		dlock_zk_diagnosis_end(&own->diagnosis);
	}
	return DLOCK_PENDING;
}

static void *thread_main(void *context)
{
	dlock_zk_session *session = context;
	worker own = { .session = session };
	dlock_bell bell;

	open_handle(&own);
	dlock_loop_add_bell(&session->thread_loop, &bell, &session->thread_wakeup);
	dlock_loop_run(&session->thread_loop, work, &own, DLOCK_FOREVER, NULL);
	dlock_zk_diagnosis_end(&own.diagnosis);
	end_look(&own);
	dlock_loop_end(&session->thread_loop);
	zookeeper_close(session->handle);
	dlock_zk_ops_discard(session); /* the ops that the library left without a response */
	dlock_zk_unowned_nodes_send(session);
	dlock_zk_watch_none(session);
	pthread_mutex_lock(&session->mutex);
	session->ended = true;
	dlock_zk_session_event(session, NULL);
	pthread_mutex_unlock(&session->mutex);
	return NULL;
}

int dlock_zk_session_start(dlock_zk_session *session)
{
	return dlock_thread_start(&session->thread, thread_main, session);
}
