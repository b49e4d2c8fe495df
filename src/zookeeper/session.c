#include "internal.h"
#include "session_thread.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

/* The library's and glibc's resolver run on it. */
#define STACK_SIZE (256 * 1024)

struct dlock_zk_pool {
	dlock_zk_session *sessions;
	dlock_zk_session *retired; /* their threads are still closing them */
	unsigned long opened;
};

/* The library's own bounds for closing a session add up to some 5 s. */
#define CLOSE_TIME (8 * DLOCK_SECOND)

/* Sessions that are left alone for good, and only kept reachable: those that came over a fork, which belong to the
 * parent with all that the library's threads own; and those whose thread does not come back from the library. */
static dlock_zk_session *left_alone;
static pthread_mutex_t left_alone_mutex = PTHREAD_MUTEX_INITIALIZER;

static void leave_alone(dlock_zk_session *session)
{
	pthread_mutex_lock(&left_alone_mutex);
	session->next = left_alone;
	left_alone = session;
	pthread_mutex_unlock(&left_alone_mutex);
}

dlock_zk_pool *dlock_zk_pool_new(void)
{
	return calloc(1, sizeof(dlock_zk_pool));
}

unsigned long dlock_zk_pool_sessions_opened(const dlock_zk_pool *pool)
{
	return pool->opened;
}

static void free_session(dlock_zk_session *session)
{
	dlock_wakeup_close(&session->owner_wakeup);
	dlock_wakeup_close(&session->thread_wakeup);
	pthread_mutex_destroy(&session->mutex);
	free(session->watched);
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

static void disown(dlock_zk_session **list)
{
	while (*list) {
		dlock_zk_session *session = *list;
		if (session->process == dlock_process_current()) {
			list = &session->next;
			continue;
		}
		*list = session->next;
		/* These descriptors are our copies, and no thread of ours sleeps on them. */
		dlock_wakeup_close(&session->owner_wakeup);
		dlock_wakeup_close(&session->thread_wakeup);
		leave_alone(session);
	}
}

static bool has_ended(dlock_zk_session *session, unsigned long *events)
{
	pthread_mutex_lock(&session->mutex);
	bool ended = session->ended;
	*events = session->events;
	pthread_mutex_unlock(&session->mutex);
	return ended;
}

/* Joins the threads of those that are closed by now. */
static void reap(dlock_zk_pool *pool)
{
	unsigned long events;

	for (dlock_zk_session **at = &pool->retired; *at;) {
		dlock_zk_session *session = *at;
		if (!has_ended(session, &events)) {
			at = &session->next;
			continue;
		}
		*at = session->next;
		pthread_join(session->thread, NULL);
		dlock_zk_session_release(session);
	}
}

static void tidy(dlock_zk_pool *pool)
{
	disown(&pool->sessions);
	disown(&pool->retired);
	reap(pool);
}

/* 0, or an errno. */
static int start_thread(dlock_zk_session *session)
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
	problem = pthread_create(&session->thread, &attributes, dlock_zk_keep, session);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attributes);
	return problem;
}

static int open_bells(dlock_zk_session *session)
{
	return dlock_wakeup_open(&session->owner_wakeup) && dlock_wakeup_open(&session->thread_wakeup) ? 0 : errno;
}

/* NULL: *problem is an errno. */
static dlock_zk_session *open_session(const char *hosts, dlock_nanos timeout, const char *auth, int *problem)
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
	if (!session->hosts || !session->expanded || (auth && !session->auth)
		|| (*problem = open_bells(session)) != 0 || (*problem = start_thread(session)) != 0) {
		free_session(session);
		return NULL;
	}
	return session;
}

static bool is_for(const dlock_zk_session *session, const char *hosts, dlock_nanos timeout, const char *auth)
{
	return session->asked == timeout && strcmp(session->hosts, hosts) == 0
		&& (auth ? session->auth && strcmp(session->auth, auth) == 0 : !session->auth);
}

dlock_zk_session *dlock_zk_session_get(dlock_zk_pool *pool, const char *hosts, dlock_nanos timeout, const char *auth,
	dlock_error *error)
{
	dlock_zk_session *session, *next;
	int problem;

	tidy(pool);
	for (session = pool->sessions; session; session = next) {
		next = session->next;
		if (!is_for(session, hosts, timeout, auth)) {
			continue;
		}
		if (dlock_zk_session_view(session).state < DLOCK_ZK_EXPIRED) {
			session->references++;
			return session;
		}
		dlock_zk_session_retire(pool, session);
	}
	session = open_session(hosts, timeout, auth, &problem);
	if (!session) {
		dlock_fail(error, DLOCK_CONNECTION, "ZooKeeper at %.200s: no session could be started: %s", hosts, strerror(problem));
		return NULL;
	}
	session->next = pool->sessions;
	pool->sessions = session;
	pool->opened++;
	session->references++;
	return session;
}

void dlock_zk_session_retire(dlock_zk_pool *pool, dlock_zk_session *session)
{
	dlock_zk_session **at = &pool->sessions;

	while (*at && *at != session) {
		at = &(*at)->next;
	}
	if (!*at) {
		return;
	}
	*at = session->next;
	session->next = pool->retired;
	pool->retired = session;
	pthread_mutex_lock(&session->mutex);
	session->stop = true;
	if (session->state < DLOCK_ZK_EXPIRED) {
		session->state = DLOCK_ZK_EXPIRED; /* as good as: nothing may be asked of it any more */
	}
	dlock_wakeup_send(&session->thread_wakeup);
	pthread_mutex_unlock(&session->mutex);
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

static dlock_nanos patience(dlock_zk_session *session, const dlock_wait *wait)
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
	dlock_nanos until = patience(session, wait);

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

static bool has_orphans(dlock_zk_session *session, unsigned long *events)
{
	pthread_mutex_lock(&session->mutex);
	bool has = session->orphans && session->state < DLOCK_ZK_EXPIRED;
	*events = session->events;
	pthread_mutex_unlock(&session->mutex);
	return has;
}

void dlock_zk_pool_drain(dlock_zk_pool *pool, dlock_nanos deadline)
{
	unsigned long events;

	tidy(pool);
	for (dlock_zk_session *session = pool->sessions; session; session = session->next) {
		while (has_orphans(session, &events)
			&& dlock_zk_session_await(session, events, deadline, NULL) == DLOCK_OK) {
		}
	}
}

void dlock_zk_pool_free(dlock_zk_pool *pool)
{
	unsigned long events;

	tidy(pool);
	while (pool->sessions) {
		dlock_zk_session_retire(pool, pool->sessions);
	}
	dlock_nanos until = dlock_after(dlock_now(), CLOSE_TIME);
	for (dlock_zk_session *session = pool->retired; session; session = session->next) {
		while (!has_ended(session, &events)
			&& dlock_zk_session_await(session, events, until, NULL) == DLOCK_OK) {
		}
	}
	reap(pool);
	while (pool->retired) {
		dlock_zk_session *session = pool->retired;
		pool->retired = session->next;
		pthread_detach(session->thread);
		leave_alone(session);
	}
	free(pool);
}
