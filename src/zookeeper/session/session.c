#include "session.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"

static void free_session(dlock_zk_session *session)
{
	dlock_wakeup_close(&session->owner_wakeup);
	dlock_wakeup_close(&session->thread_wakeup);
	dlock_zk_watches_keep(&session->watches, NULL, 0);
	pthread_mutex_destroy(&session->mutex);
	free(session->hosts);
	free(session->expanded);
	if (session->auth) {
		for (volatile char *secret = session->auth; *secret; secret++) {
			*secret = 0;
		}
	}
	free(session->auth);
	free(session);
}

void dlock_zk_session_release(dlock_zk_session *session)
{
	if (session && session->process == dlock_process_current() && --session->references == 0) {
		free_session(session);
	}
}

/* 0, or an errno. */
static int open_wakeups(dlock_zk_session *session)
{
	return dlock_wakeup_open(&session->owner_wakeup) && dlock_wakeup_open(&session->thread_wakeup) ? 0 : errno;
}

dlock_zk_session *dlock_zk_session_new(const char *hosts, dlock_nanos timeout, const char *auth, int *problem)
{
	dlock_zk_session *session = calloc(1, sizeof *session);

	*problem = ENOMEM;
	if (!session) {
		return NULL;
	}
	session->references = 1;
	session->process = dlock_process_current();
	session->asked = timeout;
	session->owner_wakeup = session->thread_wakeup = (dlock_wakeup) { -1, -1 };
	/* The server creates the session later than this. */
	session->cut_off = session->lived = session->before_sent = session->probe_sent = dlock_now();
	pthread_mutex_init(&session->mutex, NULL);
	session->hosts = strdup(hosts);
	session->expanded = dlock_zk_hosts_expand(hosts);
	session->auth = auth ? strdup(auth) : NULL;
	if (!session->hosts || !session->expanded || (auth && !session->auth) || (*problem = open_wakeups(session)) != 0) {
		free_session(session);
		return NULL;
	}
	return session;
}

dlock_nanos dlock_zk_session_deadline(const dlock_zk_session *session)
{
	return session->lived + session->timeout - session->timeout / 100 - 2 * DLOCK_MS;
}

dlock_zk_view dlock_zk_session_view(dlock_zk_session *session)
{
	pthread_mutex_lock(&session->mutex);
	dlock_zk_view view = {
		.state = session->state,
		.deadline = dlock_zk_session_deadline(session),
		.id = session->id,
		.events = session->events,
	};
	pthread_mutex_unlock(&session->mutex);
	return view;
}

void dlock_zk_session_event(dlock_zk_session *session)
{
	session->events++;
	if (session->sleeper == session) {
		dlock_wakeup_send(&session->owner_wakeup);
	}
}

dlock_status dlock_zk_session_await(dlock_zk_session *session, unsigned long seen, dlock_nanos until,
	const dlock_wait *wait)
{
	struct pollfd wakeup = { .fd = session->owner_wakeup.read_fd, .events = POLLIN };
	int ready = 1;

	for (;;) {
		pthread_mutex_lock(&session->mutex);
		bool happened = session->events != seen;
		session->sleeper = happened || ready <= 0 ? NULL : session;
		pthread_mutex_unlock(&session->mutex);
		if (happened) {
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

static dlock_status no_connection(dlock_zk_session *session, dlock_error *error)
{
	char reason[sizeof session->reason];

	pthread_mutex_lock(&session->mutex);
	dlock_zk_state state = session->state;
	dlock_nanos since = session->cut_off;
	memcpy(reason, session->reason, sizeof reason);
	pthread_mutex_unlock(&session->mutex);
	if (state == DLOCK_ZK_AUTH_FAILED) {
		return dlock_fail(error, DLOCK_CONNECTION, "ZooKeeper at %.200s: authentication failed", session->hosts);
	}
	if (state == DLOCK_ZK_REFUSED) {
		return dlock_fail(error, DLOCK_CONNECTION, "ZooKeeper at %.200s: no connection: %s", session->hosts, reason);
	}
	return dlock_fail(error, DLOCK_CONNECTION, "ZooKeeper at %.200s: no connection for %.1f s%s%s%s", session->hosts,
		(double) (dlock_now() - since) / DLOCK_SECOND, reason[0] ? " (" : "", reason, reason[0] ? ")" : "");
}

/* Until when a call waits for the connection. */
static dlock_nanos connect_limit(dlock_zk_session *session, const dlock_wait *wait)
{
	dlock_nanos callers = wait ? wait->deadline : 0, again = dlock_after(dlock_now(), session->asked);

	/* A process that has stood still meanwhile, as one does while the machine sleeps, has not tried. */
	pthread_mutex_lock(&session->mutex);
	bool tried = session->awaited || session->reason[0];
	dlock_nanos first = tried ? dlock_after(session->cut_off, session->asked) : again;
	pthread_mutex_unlock(&session->mutex);
	callers = callers < again ? callers : again;
	return first > callers ? first : callers;
}

dlock_status dlock_zk_session_connect(dlock_zk_session *session, dlock_nanos latest, const dlock_wait *wait,
	dlock_error *error)
{
	dlock_nanos until = connect_limit(session, wait);

	if (latest < until) {
		until = latest;
	}
	for (;;) {
		dlock_zk_view view = dlock_zk_session_view(session);
		if (view.state == DLOCK_ZK_CONNECTED) {
			return DLOCK_OK;
		}
		if (view.state == DLOCK_ZK_EXPIRED) {
			return DLOCK_LOST;
		}
		if (view.state > DLOCK_ZK_EXPIRED) {
			return no_connection(session, error);
		}
		dlock_status status = dlock_zk_session_await(session, view.events, until, wait);
		if (status == DLOCK_INTERRUPTED) {
			return status;
		}
		if (status == DLOCK_TIMEOUT) {
			pthread_mutex_lock(&session->mutex);
			session->awaited = session->state != DLOCK_ZK_CONNECTED;
			pthread_mutex_unlock(&session->mutex);
			return no_connection(session, error);
		}
	}
}
