#include "pool.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* A server that cannot be reached, or has nothing yet, is not asked more often than that. */
#define PAUSE (100 * DLOCK_MS)

struct dlock_db_background {
	dlock_db_background *next;
	dlock_db_pool *pool;
	dlock_adopted adopted;
	dlock_db_session *session;
	dlock_db_call *call;
	bool sent;   /* once at least */
	bool missed; /* there was nothing, once */
	dlock_nanos due, useful_until;
};

static dlock_db_session *add_session(dlock_db_pool *pool, dlock_endpoint *server, dlock_nanos timeout_cap)
{
	dlock_db_session *session = dlock_db_session_new(server, timeout_cap);

	if (session) {
		session->next = pool->first;
		pool->first = session;
	}
	return session;
}

static bool is_for(const dlock_db_session *session, const dlock_endpoint *server)
{
	return session->server == server || !strcmp(session->server->key, server->key);
}

dlock_db_session *dlock_db_pool_session(dlock_db_pool *pool, dlock_endpoint *server, dlock_nanos timeout_cap)
{
	for (dlock_db_session *session = pool->first; session; session = session->next) {
		if (!session->spare && session->timeout_cap == timeout_cap && is_for(session, server)) {
			return session;
		}
	}
	return add_session(pool, server, timeout_cap);
}

dlock_db_session *dlock_db_pool_spare(dlock_db_pool *pool, dlock_endpoint *server)
{
	dlock_db_session *session = pool->first;

	while (session && !(session->spare && !session->reserved && !session->first && is_for(session, server))) {
		session = session->next;
	}
	session = session ? session : add_session(pool, server, DLOCK_FOREVER);
	if (session) {
		session->spare = session->reserved = true;
	}
	return session;
}

/* ---- in the background ---- */

static bool found_nothing(const dlock_db_call *call)
{
	return call->function == DLOCK_DB_EXCHANGE ? call->answer[0] == DLOCK_DB_NOT_OURS : call->answer[0] == 0;
}

/* Does it go on? */
static bool take_answer(dlock_db_background *own, dlock_nanos now)
{
	dlock_db_call *call = own->call;
	bool answered = call->state == DLOCK_DB_ANSWERED;

	own->due = now + PAUSE;
	if (answered && call->function == DLOCK_DB_EXTEND) {
		return false;
	}
	if (answered && !(call->function == DLOCK_DB_EXCHANGE && call->answer[0] < DLOCK_DB_NOT_OURS)) {
		if (own->missed || !found_nothing(call)) {
			return false;
		}
		own->missed = true;
	}
	if (call->state == DLOCK_DB_FAILED && !call->transient && call->refused) {
		return false;
	}
	call->state = DLOCK_DB_PENDING;
	call->seen = false;
	own->sent = false;
	return true;
}

static dlock_status step(void *task, dlock_loop *loop, dlock_nanos now)
{
	dlock_db_background *own = task;

	if (now >= own->useful_until) {
		return DLOCK_TIMEOUT;
	}
	if (own->sent && own->call->state != DLOCK_DB_PENDING && !take_answer(own, now)) {
		return DLOCK_OK;
	}
	if (!own->sent && dlock_loop_is_time(loop, own->due, now)) {
		own->sent = true;
		dlock_db_send(own->session, own->call);
		loop->again |= own->call->state != DLOCK_DB_PENDING;
	}
	dlock_loop_wake_by(loop, own->useful_until);
	return DLOCK_PENDING;
}

static void end(void *task)
{
	dlock_db_background *own = task, **at = &own->pool->background;

	while (*at != own) {
		at = &(*at)->next;
	}
	*at = own->next;
	dlock_loop_forget(&own->adopted);
	dlock_db_call_release(own->call);
	free(own);
}

void dlock_db_pool_call(
	dlock_db_pool *pool, dlock_db_session *session, dlock_db_call *call, dlock_nanos useful_until)
{
	dlock_db_background *own = call ? calloc(1, sizeof *own) : NULL, **last = &pool->background;

	if (!own) {
		dlock_db_call_release(call);
		return;
	}
	*own = (dlock_db_background) {
		.pool = pool, .session = session, .call = call, .sent = true, .useful_until = useful_until
	};
	while (*last) {
		last = &(*last)->next;
	}
	*last = own;
	dlock_db_send(session, call);
	dlock_loop_adopt(dlock_db_pool_loop(pool), &own->adopted, step, end, own);
}

/* A child of fork() has none of its parent's. */
static bool has_none(void *pool)
{
	for (const dlock_db_background *one = ((const dlock_db_pool *) pool)->background; one; one = one->next) {
		if (one->adopted.process == dlock_process_current()) {
			return false;
		}
	}
	return true;
}

void dlock_db_pool_drain(dlock_db_pool *pool, dlock_nanos deadline)
{
	dlock_db_pool_look(pool);
	dlock_loop_await(dlock_db_pool_loop(pool), has_none, pool, deadline);
}

/* ---- as a source ---- */

static dlock_db_pool *pool_of(const dlock_source *source)
{
	return (dlock_db_pool *) ((char *) source - offsetof(dlock_db_pool, source));
}

static int poll_busy(dlock_source *source, struct pollfd *fds, int room)
{
	int count = 0;

	for (dlock_db_session *session = pool_of(source)->first; session; session = session->next) {
		if (dlock_db_is_busy(session)) {
			if (count < room) {
				fds[count] = (struct pollfd) { .fd = dlock_db_fd(session), .events = dlock_db_events(session) };
			}
			count++;
		}
	}
	return count;
}

static void advance(dlock_source *source, const struct pollfd *fds, int count)
{
	int i = 0;

	for (dlock_db_session *session = pool_of(source)->first; session && i < count; session = session->next) {
		if (dlock_db_is_busy(session) && fds[i++].revents) {
			dlock_db_advance(session);
		}
	}
}

static void expire(dlock_source *source)
{
	for (dlock_db_session *session = pool_of(source)->first; session; session = session->next) {
		if (dlock_db_is_busy(session)) {
			dlock_db_expire(session);
		}
	}
}

static dlock_nanos timer(const dlock_source *source)
{
	dlock_nanos first = DLOCK_FOREVER;

	for (const dlock_db_session *session = pool_of(source)->first; session; session = session->next) {
		dlock_nanos time = dlock_db_is_busy(session) ? dlock_db_timer(session) : DLOCK_FOREVER;
		first = time < first ? time : first;
	}
	return first;
}

static unsigned long count_news(const dlock_db_pool *pool)
{
	unsigned long news = 0;

	for (const dlock_db_session *session = pool->first; session; session = session->next) {
		news += session->news;
	}
	return news;
}

static void begin_turn(dlock_source *source)
{
	pool_of(source)->news_before = count_news(pool_of(source));
}

/* Whoever sends looks for the end of its session first, and so may take in what is news to a task that went on before
 * it. */
static bool end_turn(dlock_source *source)
{
	return count_news(pool_of(source)) != pool_of(source)->news_before;
}

void dlock_db_pool_join(dlock_db_pool *pool, dlock_loop *loop)
{
	static const dlock_source_ops ops = { poll_busy, advance, expire, timer, begin_turn, end_turn };

	pool->source.ops = &ops;
	pool->loop = loop;
	dlock_loop_add_source(loop, &pool->source);
}

dlock_loop *dlock_db_pool_loop(dlock_db_pool *pool)
{
	if (!pool->loop) {
		dlock_db_pool_join(pool, &pool->own_loop);
	}
	return pool->loop;
}

void dlock_db_pool_look(dlock_db_pool *pool)
{
	for (dlock_db_session *session = pool->first; session; session = session->next) {
		if (dlock_db_is_busy(session)) {
			dlock_db_advance(session);
			dlock_db_expire(session);
		}
	}
}

/* ---- the pool ---- */

void dlock_db_pool_count(const dlock_db_pool *pool, unsigned long *opened, unsigned long *reopened)
{
	*opened = *reopened = 0;
	for (const dlock_db_session *session = pool->first; session; session = session->next) {
		*opened += session->opened;
		*reopened += session->opened > 0 ? session->opened - 1 : 0;
	}
}

void dlock_db_pool_clear(dlock_db_pool *pool)
{
	while (pool->background) {
		end(pool->background);
	}
	while (pool->first) {
		dlock_db_session *session = pool->first;
		pool->first = session->next;
		dlock_db_session_free(session);
	}
	if (pool->loop) {
		dlock_loop_remove_source(pool->loop, &pool->source);
		pool->loop = NULL;
	}
	dlock_loop_end(&pool->own_loop);
}
