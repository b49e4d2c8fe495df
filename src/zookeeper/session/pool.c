#include "pool.h"

#include <stdlib.h>
#include <string.h>

#include "session.h"

struct dlock_zk_pool {
	dlock_loop *loop;
	dlock_zk_session *sessions;
	dlock_zk_session *closing; /* their threads close them */
	unsigned long opened;
};

/* The library's own time limits for closing a session add up to about 5 s. */
#define CLOSE_TIME (8 * DLOCK_SECOND)

/* Sessions that this process leaves alone for good, and only keeps reachable. A session that came over a fork belongs
 * to the parent, with all that the library's threads own. The thread of any other session here does not return from the
 * library. */
static dlock_zk_session *left_alone;
static pthread_mutex_t left_alone_mutex = PTHREAD_MUTEX_INITIALIZER;

static void leave_alone(dlock_zk_session *session)
{
	pthread_mutex_lock(&left_alone_mutex);
	session->next = left_alone;
	left_alone = session;
	pthread_mutex_unlock(&left_alone_mutex);
}

dlock_zk_pool *dlock_zk_pool_new(dlock_loop *loop)
{
	dlock_zk_pool *pool = calloc(1, sizeof *pool);

	if (pool) {
		pool->loop = loop;
	}
	return pool;
}

unsigned long dlock_zk_pool_sessions_opened(const dlock_zk_pool *pool)
{
	return pool->opened;
}

/* Leaves sessions that came over a fork alone. */
static void leave_inherited(dlock_zk_session **list)
{
	while (*list) {
		dlock_zk_session *session = *list;
		if (session->process == dlock_process_current()) {
			list = &session->next;
			continue;
		}
		*list = session->next;
		/* These descriptors are this process's own copies, and none of its threads sleeps on them. */
		dlock_loop_remove_source(session->loop, &session->bell.source);
		dlock_wakeup_close(&session->owner_wakeup);
		dlock_wakeup_close(&session->thread_wakeup);
		leave_alone(session);
	}
}

/* Joins the threads of the sessions that are closed by now. */
static void join_closed(dlock_zk_pool *pool)
{
	for (dlock_zk_session **at = &pool->closing; *at;) {
		dlock_zk_session *session = *at;
		if (!dlock_zk_session_view(session).ended) {
			at = &session->next;
			continue;
		}
		*at = session->next;
		pthread_join(session->thread, NULL);
		dlock_zk_session_release(session);
	}
}

static dlock_zk_session *open_session(
	dlock_zk_pool *pool, const char *hosts, dlock_nanos timeout, const char *auth, dlock_error *error)
{
	int problem;
	dlock_zk_session *session = dlock_zk_session_new(pool->loop, hosts, timeout, auth, &problem);

	if (session) {
		session->next = pool->sessions;
		pool->sessions = session;
		pool->opened++;
	} else {
		dlock_fail(
			error, DLOCK_CONNECTION, "ZooKeeper at %.200s: no session could be started: %s", hosts, strerror(problem));
	}
	return session;
}

static bool is_for(const dlock_zk_session *session, const char *hosts, dlock_nanos timeout, const char *auth)
{
	return session->asked == timeout && strcmp(session->hosts, hosts) == 0
		&& (auth ? session->auth && strcmp(session->auth, auth) == 0 : !session->auth);
}

void dlock_zk_pool_discard(dlock_zk_pool *pool, dlock_zk_session *session)
{
	dlock_zk_session **at = &pool->sessions;

	while (*at && *at != session) {
		at = &(*at)->next;
	}
	if (!*at) {
		return;
	}
	*at = session->next;
	session->next = pool->closing;
	pool->closing = session;
	pthread_mutex_lock(&session->mutex);
	session->stop = true;
	if (session->state < DLOCK_ZK_EXPIRED) {
		session->state = DLOCK_ZK_EXPIRED; /* no request may use it any more */
	}
	dlock_wakeup_send(&session->thread_wakeup);
	pthread_mutex_unlock(&session->mutex);
}

static void tidy(dlock_zk_pool *pool)
{
	leave_inherited(&pool->sessions);
	leave_inherited(&pool->closing);
	for (dlock_zk_session *session = pool->sessions, *next; session; session = next) {
		next = session->next;
		if (dlock_zk_session_view(session).state >= DLOCK_ZK_EXPIRED) {
			dlock_zk_pool_discard(pool, session);
		}
	}
	join_closed(pool);
}

dlock_zk_session *dlock_zk_pool_session(dlock_zk_pool *pool, const char *hosts, dlock_nanos timeout, const char *auth,
	dlock_error *error)
{
	tidy(pool);
	dlock_zk_session *session = pool->sessions;
	while (session && !is_for(session, hosts, timeout, auth)) {
		session = session->next;
	}
	if (!session) {
		session = open_session(pool, hosts, timeout, auth, error);
	}
	if (session) {
		session->references++;
	}
	return session;
}

void dlock_zk_pool_forget_waits(dlock_zk_pool *pool)
{
	leave_inherited(&pool->sessions);
	leave_inherited(&pool->closing);
	for (dlock_zk_session *session = pool->sessions; session; session = session->next) {
		dlock_zk_session_forget_rests(session);
	}
	for (dlock_zk_session *session = pool->closing; session; session = session->next) {
		dlock_zk_session_forget_rests(session);
	}
}

void dlock_zk_pool_drain(dlock_zk_pool *pool, dlock_nanos deadline)
{
	dlock_zk_view view;

	tidy(pool);
	for (dlock_zk_session *session = pool->sessions; session; session = session->next) {
		while ((view = dlock_zk_session_view(session)).has_unowned
			&& dlock_zk_session_await(session, (dlock_zk_rest) { .seen = view.events }, deadline, NULL) == DLOCK_OK) {
		}
	}
}

void dlock_zk_pool_free(dlock_zk_pool *pool)
{
	dlock_zk_view view;

	tidy(pool);
	while (pool->sessions) {
		dlock_zk_pool_discard(pool, pool->sessions);
	}
	dlock_nanos until = dlock_after(dlock_now(), CLOSE_TIME);
	for (dlock_zk_session *session = pool->closing; session; session = session->next) {
		while (!(view = dlock_zk_session_view(session)).ended
			&& dlock_zk_session_await(session, (dlock_zk_rest) { .seen = view.events }, until, NULL) == DLOCK_OK) {
		}
	}
	join_closed(pool);
	while (pool->closing) {
		dlock_zk_session *session = pool->closing;
		pool->closing = session->next;
		pthread_detach(session->thread);
		leave_alone(session);
	}
	free(pool);
}
