#include "pool.h"

#include <stdlib.h>
#include <string.h>

/* A server that cannot be reached is not asked more often than that. */
#define PAUSE (100 * DLOCK_MS)

struct dlock_memcached_discard {
	dlock_memcached_discard *next;
	dlock_memcached_pool *pool;
	dlock_adopted adopted;
	dlock_memcached_conn *conn;
	dlock_memcached_key key;
	char token[DLOCK_TOKEN_MAX + 1], instead[DLOCK_TOKEN_MAX + 1];
	dlock_memcached_cas known; /* where it is not, it is asked for */
	int64_t left; /* seconds that the key had left when it was asked for */
	bool missed;   /* nothing was found once */
	dlock_nanos due, useful_until;
	dlock_memcached_request *request; /* under way; NULL: none */
};

dlock_memcached_conn *dlock_memcached_pool_conn(
	dlock_memcached_pool *pool, dlock_endpoint *server, dlock_nanos timeout_cap)
{
	dlock_memcached_conn *conn;

	for (conn = pool->first; conn; conn = conn->next) {
		if (conn->timeout_cap == timeout_cap && (conn->server == server || !strcmp(conn->server->key, server->key))) {
			return conn;
		}
	}
	conn = dlock_memcached_conn_new(server, timeout_cap);
	if (conn) {
		conn->next = pool->first;
		pool->first = conn;
		dlock_loop_add_source(dlock_memcached_pool_loop(pool), &conn->source);
	}
	return conn;
}

/* ---- discards ---- */

static void free_discard(dlock_memcached_discard *discard)
{
	dlock_memcached_release(discard->request);
	free(discard);
}

static void ask(dlock_memcached_discard *discard)
{
	if (discard->known.cas == 0) {
		discard->request = dlock_memcached_get(&discard->key);
		if (discard->request) {
			dlock_memcached_send(discard->conn, discard->request);
		}
		return;
	}
	discard->request = *discard->instead
		? dlock_memcached_replace(&discard->key, discard->known.cas, discard->instead, discard->left)
		: dlock_memcached_delete(&discard->key, discard->known.cas);
	if (discard->request) {
		dlock_memcached_send_over(discard->conn, discard->request, discard->known.opened);
	}
}

/* What it is to be instead may be there still, while what would change it is on its way yet: then it gets another CAS,
 * so that this has no effect any more. */
static bool is_to_change(const dlock_memcached_discard *discard, const dlock_memcached_reply *reply)
{
	if (*discard->instead) {
		return reply->left > 0
			&& (dlock_memcached_is_token(reply, discard->token) || dlock_memcached_is_token(reply, discard->instead));
	}
	return dlock_memcached_is_token(reply, discard->token);
}

/* False: it is done with. */
static bool take_answer(dlock_memcached_discard *discard, dlock_nanos now)
{
	const dlock_memcached_reply *reply = &discard->request->reply;

	if (discard->request->state == DLOCK_MEMCACHED_FAILED) {
		bool moved = discard->known.cas > 0 && !discard->request->sent; /* there is another connection */
		discard->due = moved ? now : now + PAUSE;
		discard->known.cas = 0;
		return true;
	}
	if (discard->known.cas > 0 && reply->code == DLOCK_MEMCACHED_EX) { /* a renewal of ours, perhaps */
		discard->known.cas = 0;
		return true;
	}
	if (discard->known.cas == 0 && reply->cas > 0 && is_to_change(discard, reply)) {
		discard->known = (dlock_memcached_cas) { reply->cas, discard->request->opened };
		discard->left = reply->left;
		return true;
	}
	/* The server reads its connections in any order: what was sent over one that is closed may be executed yet. */
	if (discard->known.cas == 0 && reply->code == DLOCK_MEMCACHED_EN && !discard->missed) {
		discard->missed = true;
		discard->due = now + PAUSE;
		return true;
	}
	return false;
}

static dlock_status step(void *task, dlock_loop *loop, dlock_nanos now)
{
	dlock_memcached_discard *discard = task;

	if (now >= discard->useful_until) {
		return DLOCK_TIMEOUT;
	}
	if (discard->request && discard->request->state != DLOCK_MEMCACHED_PENDING) {
		bool goes_on = take_answer(discard, now);
		dlock_memcached_release(discard->request);
		discard->request = NULL;
		if (!goes_on) {
			return DLOCK_OK;
		}
	}
	if (!discard->request && dlock_loop_is_time(loop, discard->due, now)) {
		ask(discard);
	}
	dlock_loop_wake_by(loop, discard->useful_until);
	return DLOCK_PENDING;
}

static void end(void *task)
{
	dlock_memcached_discard *discard = task, **at = &discard->pool->discards;

	while (*at != discard) {
		at = &(*at)->next;
	}
	*at = discard->next;
	dlock_loop_forget(&discard->adopted);
	free_discard(discard);
}

void dlock_memcached_discard_key(dlock_memcached_pool *pool, dlock_memcached_conn *conn, const dlock_memcached_key *key,
	const char *token, dlock_memcached_cas known, const char *instead, dlock_nanos useful_until)
{
	dlock_memcached_discard *discard = calloc(1, sizeof *discard), **last = &pool->discards;

	if (!discard) {
		return;
	}
	discard->conn = conn;
	discard->pool = pool;
	discard->key = *key;
	strcpy(discard->token, token);
	strcpy(discard->instead, instead ? instead : "");
	discard->known = instead ? (dlock_memcached_cas) { 0 } : known; /* the time that is left is asked for, too */
	discard->useful_until = useful_until;
	while (*last) {
		last = &(*last)->next;
	}
	*last = discard;
	ask(discard);
	dlock_loop_adopt(dlock_memcached_pool_loop(pool), &discard->adopted, step, end, discard);
}

/* A child of fork() has none of its parent's. */
bool dlock_memcached_pool_is_at_rest(const dlock_memcached_pool *pool)
{
	for (const dlock_memcached_discard *one = pool->discards; one; one = one->next) {
		if (one->adopted.process == dlock_process_current()) {
			return false;
		}
	}
	return true;
}

static bool is_at_rest(void *pool)
{
	return dlock_memcached_pool_is_at_rest(pool);
}

void dlock_memcached_pool_drain(dlock_memcached_pool *pool, dlock_nanos deadline)
{
	dlock_memcached_pool_catch_up(pool);
	dlock_loop_await(dlock_memcached_pool_loop(pool), is_at_rest, pool, deadline);
}

void dlock_memcached_pool_join(dlock_memcached_pool *pool, dlock_loop *loop)
{
	pool->loop = loop;
}

dlock_loop *dlock_memcached_pool_loop(dlock_memcached_pool *pool)
{
	pool->loop = pool->loop ? pool->loop : &pool->own_loop;
	return pool->loop;
}

void dlock_memcached_pool_catch_up(dlock_memcached_pool *pool)
{
	for (dlock_memcached_conn *conn = pool->first; conn; conn = conn->next) {
		if (dlock_memcached_is_busy(conn)) {
			dlock_memcached_advance(conn);
			dlock_memcached_expire(conn);
		}
	}
}

/* ---- the pool ---- */

void dlock_memcached_pool_count(const dlock_memcached_pool *pool, unsigned long *opened, unsigned long *reopened)
{
	*opened = *reopened = 0;
	for (const dlock_memcached_conn *conn = pool->first; conn; conn = conn->next) {
		*opened += conn->opened;
		*reopened += conn->opened > 0 ? conn->opened - 1 : 0;
	}
}

void dlock_memcached_pool_clear(dlock_memcached_pool *pool)
{
	while (pool->discards) {
		end(pool->discards);
	}
	while (pool->first) {
		dlock_memcached_conn *conn = pool->first;
		pool->first = conn->next;
		dlock_loop_remove_source(pool->loop, &conn->source);
		dlock_memcached_conn_free(conn);
	}
	pool->loop = NULL;
	dlock_loop_end(&pool->own_loop);
}
