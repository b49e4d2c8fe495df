#include "pool.h"

#include <stdlib.h>
#include <string.h>

/* The shortest time between two requests to a server that cannot be reached, or has no answer yet. */
#define PAUSE (100 * DLOCK_MS)

void dlock_net_pool_join(dlock_net_pool *pool, dlock_loop *loop)
{
	pool->loop = loop;
}

dlock_loop *dlock_net_pool_loop(dlock_net_pool *pool)
{
	pool->loop = pool->loop ? pool->loop : &pool->own_loop;
	return pool->loop;
}

/* ---- connections ---- */

bool dlock_net_conn_leads_to(const dlock_net_conn *conn, const dlock_endpoint *server)
{
	return conn->server == server || (conn->server->kind == server->kind && !strcmp(conn->server->key, server->key));
}

/* More than the databases that most processes use in turns. */
#define MOST_UNUSED 128

/* Returns how many connections except this one are unused. */
static int count_unused(const dlock_net_pool *pool, const dlock_net_conn *except, dlock_net_conn **oldest)
{
	dlock_nanos since = DLOCK_FOREVER;
	int count = 0;

	for (dlock_net_conn *conn = pool->first; conn; conn = conn->next) {
		dlock_nanos its = conn != except && conn->unused_since ? conn->unused_since(conn) : DLOCK_FOREVER;
		count += its != DLOCK_FOREVER;
		*oldest = its < since ? conn : *oldest;
		since = dlock_earlier(since, its);
	}
	return count;
}

void dlock_net_conn_make_room(const dlock_net_conn *conn)
{
	dlock_net_conn *oldest = NULL;

	while (count_unused(conn->pool, conn, &oldest) >= MOST_UNUSED) {
		oldest->close(oldest);
	}
}

void *dlock_net_pool_find(dlock_net_pool *pool, const dlock_endpoint *server, dlock_nanos timeout_cap)
{
	dlock_net_conn *conn = pool->first;

	while (conn && (conn->spare || conn->timeout_cap != timeout_cap || !dlock_net_conn_leads_to(conn, server))) {
		conn = conn->next;
	}
	if (conn) {
		dlock_net_conn_make_room(conn);
	}
	return conn;
}

void *dlock_net_pool_add(dlock_net_pool *pool, size_t size, dlock_endpoint *server, dlock_nanos timeout_cap,
	const dlock_source_ops *ops, void (*free_conn)(dlock_net_conn *conn))
{
	dlock_net_conn *conn = calloc(1, size);

	if (conn) {
		*conn = (dlock_net_conn) { .source.ops = ops, .free = free_conn, .pool = pool,
			.server = dlock_endpoint_retain(server), .timeout_cap = timeout_cap, .next = pool->first };
		pool->first = conn;
		dlock_loop_add_source(dlock_net_pool_loop(pool), &conn->source);
	}
	return conn;
}

void dlock_net_conn_free(dlock_net_conn *conn)
{
	dlock_endpoint_release(conn->server);
	free(conn);
}

void dlock_net_pool_catch_up(dlock_net_pool *pool)
{
	for (dlock_net_conn *conn = pool->first; conn; conn = conn->next) {
		dlock_source_catch_up(&conn->source);
	}
}

void dlock_net_pool_count(const dlock_net_pool *pool, unsigned long *opened, unsigned long *reopened)
{
	*opened = *reopened = 0;
	for (const dlock_net_conn *conn = pool->first; conn; conn = conn->next) {
		*opened += conn->opened;
		*reopened += conn->opened > 0 ? conn->opened - 1 : 0;
	}
}

/* ---- in the background ---- */

static dlock_status step(void *task, dlock_loop *loop, dlock_nanos now)
{
	dlock_background *own = task;

	if (now >= own->useful_until) {
		return DLOCK_TIMEOUT;
	}
	if (own->sent && !own->ops->is_under_way(own)) {
		own->sent = false;
		own->due = now + PAUSE;
		if (!own->ops->take(own, now)) {
			return DLOCK_OK;
		}
	}
	if (!own->sent && dlock_loop_is_time(loop, own->due, now)) {
		own->sent = true;
		own->ops->send(own);
		loop->again |= !own->ops->is_under_way(own);
	}
	dlock_loop_wake_by(loop, own->useful_until);
	return DLOCK_PENDING;
}

static void end(void *task)
{
	dlock_background *own = task, **at = &own->pool->background;

	while (*at != own) {
		at = &(*at)->next;
	}
	*at = own->next;
	dlock_loop_forget(&own->adopted);
	own->ops->free(own);
}

void dlock_net_pool_begin_background(
	dlock_net_pool *pool, dlock_background *own, const dlock_background_ops *ops, dlock_nanos useful_until)
{
	dlock_background **last = &pool->background;

	*own = (dlock_background) { .ops = ops, .pool = pool, .sent = true, .useful_until = useful_until };
	while (*last) {
		last = &(*last)->next;
	}
	*last = own;
	ops->send(own);
	dlock_loop_adopt(dlock_net_pool_loop(pool), &own->adopted, step, end, own);
}

/* The parent's requests do not count in a child of fork(). */
bool dlock_net_pool_is_at_rest(const dlock_net_pool *pool)
{
	for (const dlock_background *one = pool->background; one; one = one->next) {
		if (!one->rests && one->adopted.process == dlock_process_current()) {
			return false;
		}
	}
	return true;
}

static bool is_at_rest(void *pool)
{
	return dlock_net_pool_is_at_rest(pool);
}

void dlock_net_pool_drain(dlock_net_pool *pool, dlock_nanos deadline)
{
	dlock_net_pool_catch_up(pool);
	dlock_loop_await(dlock_net_pool_loop(pool), is_at_rest, pool, deadline);
}

/* ---- the end ---- */

void dlock_net_pool_clear(dlock_net_pool *pool)
{
	while (pool->background) {
		end(pool->background);
	}
	while (pool->first) {
		dlock_net_conn *conn = pool->first;
		pool->first = conn->next;
		dlock_loop_remove_source(pool->loop, &conn->source);
		conn->free(conn);
	}
	pool->loop = NULL;
	dlock_loop_end(&pool->own_loop);
}
