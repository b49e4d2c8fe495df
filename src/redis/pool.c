#include "pool.h"

#include <string.h>

#include "exchange.h"

dlock_conn *dlock_pool_conn(dlock_pool *pool, dlock_server *server)
{
	return dlock_pool_capped_conn(pool, server, DLOCK_FOREVER);
}

dlock_conn *dlock_pool_capped_conn(dlock_pool *pool, dlock_server *server, dlock_nanos timeout_cap)
{
	dlock_conn *conn;

	for (conn = pool->first; conn; conn = conn->next) {
		if (conn->timeout_cap == timeout_cap && (conn->server == server || !strcmp(conn->server->key, server->key))) {
			dlock_conn_expect(conn, server);
			return conn;
		}
	}
	conn = dlock_conn_new(server);
	if (conn) {
		conn->timeout_cap = timeout_cap;
		conn->next = pool->first;
		pool->first = conn;
	}
	return conn;
}

dlock_inbox *dlock_pool_inbox(dlock_pool *pool, dlock_server *server)
{
	dlock_inbox *inbox;

	for (inbox = pool->inboxes; inbox; inbox = inbox->next) {
		if (inbox->conn->server == server || !strcmp(inbox->conn->server->key, server->key)) {
			return inbox;
		}
	}
	inbox = dlock_inbox_new(server);
	if (inbox) {
		inbox->next = pool->inboxes;
		pool->inboxes = inbox;
	}
	return inbox;
}

static bool never(void *context)
{
	(void) context;
	return false;
}

void dlock_pool_drain(dlock_pool *pool, dlock_nanos deadline)
{
	enum { AT_ONCE = 64 };
	dlock_conn *busy[AT_ONCE], *conn;

	if (pool->topologies) {
		pool->end_questions(pool->topologies);
	}
	conn = pool->first;
	while (conn) {
		int count = 0;
		for (; conn && count < AT_ONCE; conn = conn->next) {
			if (dlock_conn_busy(conn)) {
				busy[count++] = conn;
			}
		}
		dlock_exchange(busy, count, deadline, never, NULL);
	}
}

static unsigned long count_opened(const dlock_pool *pool, unsigned long *first)
{
	unsigned long opened = 0;

	*first = 0;
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

void dlock_pool_clear(dlock_pool *pool)
{
	if (pool->topologies) { /* first: their questions are on the connections */
		pool->free_topologies(pool->topologies);
		pool->topologies = NULL;
	}
	while (pool->first) {
		dlock_conn *conn = pool->first;
		pool->first = conn->next;
		dlock_conn_free(conn);
	}
	while (pool->inboxes) {
		dlock_inbox *inbox = pool->inboxes;
		pool->inboxes = inbox->next;
		dlock_inbox_free(inbox);
	}
}
