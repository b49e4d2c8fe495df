#include "session.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../net/endpoint/dsn.h"
#include "options.h"

static void free_session(dlock_zk_session *session)
{
	dlock_wakeup_close(&session->owner_wakeup);
	dlock_wakeup_close(&session->thread_wakeup);
	pthread_mutex_destroy(&session->mutex);
	free(session->hosts);
	free(session->expanded);
	free(session->given);
	dlock_free_secret(session->auth);
	free(session);
}

void dlock_zk_session_release(dlock_zk_session *session)
{
	if (session && session->process == dlock_process_current() && --session->references == 0) {
		free_session(session);
	}
}

/* Returns 0 or an errno. */
static int start(dlock_zk_session *session)
{
	return dlock_wakeup_open(&session->owner_wakeup) && dlock_wakeup_open(&session->thread_wakeup)
		? dlock_zk_session_start(session)
		: errno;
}

dlock_zk_session *dlock_zk_session_new(
	dlock_loop *loop, const char *hosts, dlock_nanos timeout, const char *auth, int *problem)
{
	dlock_zk_session *session = calloc(1, sizeof *session);

	*problem = ENOMEM;
	if (!session) {
		return NULL;
	}
	session->references = 1;
	session->loop = loop;
	session->process = dlock_process_current();
	session->asked = timeout;
	session->owner_wakeup = session->thread_wakeup = (dlock_wakeup) { -1, -1 };
	/* The server creates the session later than this, so the bound can count from here. */
	session->cut_off = session->lived = session->before_sent = session->probe_sent = dlock_now();
	pthread_mutex_init(&session->mutex, NULL);
	session->hosts = strdup(hosts);
	session->expanded = dlock_zk_hosts_expand(hosts);
	session->auth = auth ? strdup(auth) : NULL;
	if (!session->hosts || !session->expanded || (auth && !session->auth) || (*problem = start(session)) != 0) {
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
		.has_unowned = session->unowned_nodes && session->state < DLOCK_ZK_EXPIRED,
		.ended = session->ended,
	};
	pthread_mutex_unlock(&session->mutex);
	return view;
}

static void wake(const dlock_zk_rest *rest)
{
	dlock_wakeup_send(rest->bell ? rest->bell : &rest->session->owner_wakeup);
}

void dlock_zk_session_event(dlock_zk_session *session, dlock_zk_news *news)
{
	*(news ? &news->events : &session->events) += 1;
	for (const dlock_zk_rest *rest = session->rests; rest; rest = rest->next) {
		if (!rest->done && (!news || rest->news == news)) {
			wake(rest);
		}
	}
}

void dlock_zk_session_done(dlock_zk_session *session, const bool *done)
{
	for (const dlock_zk_rest *rest = session->rests; rest; rest = rest->next) {
		if (rest->done == done) {
			wake(rest);
		}
	}
}

unsigned long dlock_zk_session_events(dlock_zk_session *session, const dlock_zk_news *news)
{
	pthread_mutex_lock(&session->mutex);
	unsigned long events = session->events + (news ? news->events : 0);
	pthread_mutex_unlock(&session->mutex);
	return events;
}

/* The caller holds the mutex. */
static bool is_over(const dlock_zk_rest *rest)
{
	unsigned long events = rest->session->events + (rest->news ? rest->news->events : 0);

	return rest->done ? *rest->done : events != rest->seen;
}

static dlock_status look(void *task, dlock_loop *loop, dlock_nanos now)
{
	const dlock_zk_rest *own = task;

	(void) now;
	pthread_mutex_lock(&own->session->mutex);
	bool over = is_over(own);
	pthread_mutex_unlock(&own->session->mutex);
	dlock_loop_lend(loop);
	return over ? DLOCK_OK : DLOCK_PENDING;
}

/* The wait that began first is woken first. So loops that resume strands in the order of their bells keep the order of
 * the waits. */
static void begin_rest(dlock_zk_session *session, dlock_zk_rest *rest)
{
	dlock_zk_rest **end = &session->rests;

	if (!session->rests) {
		dlock_loop_add_bell(session->loop, &session->bell, &session->owner_wakeup);
	}
	rest->session = session;
	pthread_mutex_lock(&session->mutex);
	while (*end) {
		end = &(*end)->next;
	}
	rest->next = NULL;
	*end = rest;
	pthread_mutex_unlock(&session->mutex);
}

static void end_rest(dlock_zk_session *session, const dlock_zk_rest *rest)
{
	dlock_zk_rest **at = &session->rests;

	pthread_mutex_lock(&session->mutex);
	while (*at && *at != rest) {
		at = &(*at)->next;
	}
	if (*at) {
		*at = rest->next;
	}
	pthread_mutex_unlock(&session->mutex);
	if (!session->rests) {
		dlock_loop_remove_source(session->loop, &session->bell.source);
	}
}

static bool is_interrupted(void *context)
{
	const dlock_wait *wait = ((const dlock_zk_rest *) context)->wait;

	return wait->interrupted && wait->interrupted(wait->context);
}

/* The thread with news for a strand rings that strand's bell, and so wakes no other strand. */
static dlock_suspension suspend(void *context, const dlock_wakeup *bell, int fd, dlock_nanos until)
{
	dlock_zk_rest *own = context;
	dlock_zk_session *session = own->session;
	dlock_suspension suspension = DLOCK_SUSPENDED;

	pthread_mutex_lock(&session->mutex);
	own->bell = bell;
	bool over = is_over(own);
	pthread_mutex_unlock(&session->mutex);
	if (!over) {
		suspension = own->wait->suspend(own->wait->context, bell, fd, until);
	}
	if (session->process == dlock_process_current()) {
		pthread_mutex_lock(&session->mutex);
		own->bell = NULL;
		pthread_mutex_unlock(&session->mutex);
	}
	return suspension;
}

dlock_status dlock_zk_session_await(
	dlock_zk_session *session, dlock_zk_rest rest, dlock_nanos until, const dlock_wait *wait)
{
	dlock_wait own = { .deadline = DLOCK_FOREVER };

	rest.wait = wait;
	if (wait && wait->suspend) {
		own = *wait;
		own.interrupted = is_interrupted;
		own.suspend = suspend;
		own.context = &rest;
		wait = &own;
	}
	begin_rest(session, &rest);
	dlock_status status = dlock_loop_run(session->loop, look, &rest, until, wait);
	if (session->process == dlock_process_current()) {
		end_rest(session, &rest);
	}
	return status;
}

void dlock_zk_session_forget_rests(dlock_zk_session *session)
{
	pthread_mutex_lock(&session->mutex);
	session->rests = NULL;
	pthread_mutex_unlock(&session->mutex);
	dlock_loop_remove_source(session->loop, &session->bell.source);
}

dlock_status dlock_zk_session_no_connection(dlock_zk_session *session, dlock_error *error)
{
	char why[sizeof session->reason + 64];

	pthread_mutex_lock(&session->mutex);
	const char *reason = session->reason;
	session->awaited = session->state != DLOCK_ZK_CONNECTED;
	if (session->state == DLOCK_ZK_AUTH_FAILED) {
		snprintf(why, sizeof why, "authentication failed");
	} else if (session->state == DLOCK_ZK_REFUSED) {
		snprintf(why, sizeof why, "no connection: %s", reason);
	} else {
		double seconds = (double) (dlock_now() - session->cut_off) / DLOCK_SECOND;
		snprintf(why, sizeof why, "no connection for %.1f s%s%s%s", seconds, *reason ? " (" : "", reason,
			*reason ? ")" : "");
	}
	pthread_mutex_unlock(&session->mutex);
	return dlock_fail(error, DLOCK_CONNECTION, "ZooKeeper at %.200s: %s", session->hosts, why);
}

/* Returns the time until which a call waits for the connection, if its own session timeout ends at `again`. */
static dlock_nanos connect_limit(dlock_zk_session *session, dlock_nanos again, const dlock_wait *wait)
{
	dlock_nanos callers = dlock_earlier(wait ? wait->deadline : 0, again);

	/* A process that stood still meanwhile, for example while the machine slept, has not tried. */
	pthread_mutex_lock(&session->mutex);
	bool tried = session->awaited || session->reason[0];
	dlock_nanos first = tried ? dlock_after(session->cut_off, session->asked) : again;
	pthread_mutex_unlock(&session->mutex);
	return first > callers ? first : callers;
}

dlock_status dlock_zk_session_connect(dlock_zk_session *session, dlock_nanos latest, dlock_nanos *left,
	const dlock_wait *wait, dlock_error *error)
{
	dlock_nanos again = dlock_after(dlock_now(), *left ? *left : session->asked);
	dlock_nanos until = connect_limit(session, again, wait);

	*left = 0;
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
			return dlock_zk_session_no_connection(session, error);
		}
		dlock_status status = dlock_zk_session_await(session, (dlock_zk_rest) { .seen = view.events }, until, wait);
		if (status == DLOCK_TIMEOUT) {
			return dlock_zk_session_no_connection(session, error);
		}
		if (status != DLOCK_OK) {
			*left = dlock_zk_left_until(again);
			return status;
		}
	}
}
