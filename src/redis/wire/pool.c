#include "pool.h"

#include <string.h>

void dlock_pool_join(dlock_pool *pool, dlock_loop *loop)
{
	pool->loop = loop;
}

dlock_loop *dlock_pool_loop(dlock_pool *pool)
{
	pool->loop = pool->loop ? pool->loop : &pool->own_loop;
	return pool->loop;
}

/* More than the servers of a RedLock, or the nodes of a cluster that a process uses. */
#define MOST_UNUSED 128

static bool is_unused(const dlock_conn *conn)
{
	return conn->users == 0 && conn->state != DLOCK_CONN_CLOSED && !dlock_conn_busy(conn);
}

/* The connection is not freed, because a caller may keep its address during a call. */
static void retire(dlock_conn *conn)
{
	dlock_conn_close(conn);
	conn->retired = true;
}

/* A connection is about to be opened. */
static void make_room(dlock_pool *pool)
{
	dlock_conn *oldest = NULL;
	int count = 0;

	for (dlock_conn *conn = pool->first; conn; conn = conn->next) {
		if (is_unused(conn)) {
			count++;
			oldest = oldest && oldest->turn < conn->turn ? oldest : conn;
		}
	}
	if (count >= MOST_UNUSED) {
		retire(oldest);
	}
}

static void make_room_for_inbox(dlock_pool *pool)
{
	dlock_conn *oldest = NULL;
	int count = 0;

	for (dlock_inbox *inbox = pool->inboxes; inbox; inbox = inbox->next) {
		if (is_unused(inbox->conn)) {
			count++;
			oldest = oldest && oldest->turn < inbox->conn->turn ? oldest : inbox->conn;
		}
	}
	if (count >= MOST_UNUSED) {
		retire(oldest);
	}
}

static void note_freed(dlock_pool *pool, const dlock_conn *conn)
{
	pool->freed_opened += conn->generation;
	pool->freed_used += conn->generation > 0;
}

void dlock_pool_free_retired(dlock_pool *pool)
{
	for (dlock_conn **at = &pool->first, *conn; (conn = *at);) {
		if (conn->retired && conn->users == 0) {
			*at = conn->next;
			note_freed(pool, conn);
			dlock_loop_remove_source(pool->loop, &conn->source);
			dlock_conn_free(conn);
		} else {
			at = &conn->next;
		}
	}
	for (dlock_inbox **at = &pool->inboxes, *inbox; (inbox = *at);) {
		if (inbox->conn->retired && inbox->conn->users == 0) {
			*at = inbox->next;
			note_freed(pool, inbox->conn);
			dlock_loop_remove_source(pool->loop, &inbox->conn->source);
			dlock_inbox_free(inbox);
		} else {
			at = &inbox->next;
		}
	}
}

static bool leads_to(const dlock_conn *conn, const dlock_endpoint *server)
{
	return conn->server == server || !strcmp(conn->server->key, server->key);
}

static void use(dlock_pool *pool, dlock_conn *conn)
{
	conn->turn = ++pool->turns;
	conn->retired = false;
}

dlock_conn *dlock_pool_conn(dlock_pool *pool, dlock_endpoint *server)
{
	return dlock_pool_capped_conn(pool, server, DLOCK_FOREVER);
}

dlock_conn *dlock_pool_capped_conn(dlock_pool *pool, dlock_endpoint *server, dlock_nanos timeout_cap)
{
	dlock_conn *conn = pool->first;

	while (conn && !(conn->timeout_cap == timeout_cap && leads_to(conn, server))) {
		conn = conn->next;
	}
	if (conn) {
		dlock_conn_expect(conn, server);
	} else if ((conn = dlock_conn_new(server))) {
		conn->timeout_cap = timeout_cap;
		conn->next = pool->first;
		pool->first = conn;
		dlock_loop_add_source(dlock_pool_loop(pool), &conn->source);
	} else {
		return NULL;
	}
	if (conn->state == DLOCK_CONN_CLOSED) {
		make_room(pool);
	}
	use(pool, conn);
	return conn;
}

dlock_inbox *dlock_pool_inbox(dlock_pool *pool, dlock_endpoint *server)
{
	dlock_inbox *inbox = pool->inboxes;

	while (inbox && !leads_to(inbox->conn, server)) {
		inbox = inbox->next;
	}
	if (inbox) {
		dlock_conn_expect(inbox->conn, server);
	} else if ((inbox = dlock_inbox_new(server))) {
		inbox->next = pool->inboxes;
		pool->inboxes = inbox;
		dlock_loop_add_source(dlock_pool_loop(pool), &inbox->conn->source);
	} else {
		return NULL;
	}
	if (inbox->conn->state == DLOCK_CONN_CLOSED) {
		make_room_for_inbox(pool);
	}
	use(pool, inbox->conn);
	return inbox;
}

bool dlock_pool_lend(dlock_pool *pool, dlock_endpoint *server, dlock_conn **conn, dlock_inbox **inbox)
{
	*conn = dlock_pool_conn(pool, server);
	*inbox = *conn ? dlock_pool_inbox(pool, server) : NULL;
	if (!*inbox) {
		*conn = NULL;
		return false;
	}
	(*conn)->users++;
	(*inbox)->conn->users++;
	return true;
}

void dlock_pool_return(dlock_conn *conn, dlock_inbox *inbox)
{
	if (conn) {
		conn->users--;
		inbox->conn->users--;
	}
}

static unsigned long count_opened(const dlock_pool *pool, unsigned long *first)
{
	unsigned long opened = pool->freed_opened;

	*first = pool->freed_used;
	for (const dlock_conn *conn = pool->first; conn; conn = conn->next) {
		opened += conn->generation;
		*first += conn->generation > 0;
	}
	for (const dlock_inbox *inbox = pool->inboxes; inbox; inbox = inbox->next) {
		opened += inbox->conn->generation;
		*first += inbox->conn->generation > 0;
	}
	return opened;
}

unsigned long dlock_pool_opened(const dlock_pool *pool)
{
	unsigned long first;

	return count_opened(pool, &first);
}

unsigned long dlock_pool_reopened(const dlock_pool *pool)
{
	unsigned long first, opened = count_opened(pool, &first);

	return opened - first;
}

bool dlock_pool_is_busy(const dlock_pool *pool)
{
	for (const dlock_conn *conn = pool->first; conn; conn = conn->next) {
		if (dlock_conn_busy(conn)) {
			return true;
		}
	}
	return false;
}

static bool is_at_rest(void *pool)
{
	return !dlock_pool_is_busy(pool);
}

void dlock_pool_end_questions(dlock_pool *pool)
{
	if (pool->topologies) {
		pool->end_questions(pool->topologies);
	}
}

void dlock_pool_drain(dlock_pool *pool, dlock_nanos deadline)
{
	dlock_pool_end_questions(pool);
	dlock_loop_await(dlock_pool_loop(pool), is_at_rest, pool, deadline);
}

void dlock_pool_clear(dlock_pool *pool)
{
	if (pool->topologies) { /* first, because their questions are on the connections */
		pool->free_topologies(pool->topologies);
		pool->topologies = NULL;
	}
	while (pool->first) {
		dlock_conn *conn = pool->first;
		pool->first = conn->next;
		dlock_loop_remove_source(pool->loop, &conn->source);
		dlock_conn_free(conn);
	}
	while (pool->inboxes) {
		dlock_inbox *inbox = pool->inboxes;
		pool->inboxes = inbox->next;
		dlock_loop_remove_source(pool->loop, &inbox->conn->source);
		dlock_inbox_free(inbox);
	}
	pool->loop = NULL;
	dlock_loop_end(&pool->own_loop);
}
