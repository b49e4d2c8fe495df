#include "pool_source.h"

#include <stddef.h>

static dlock_pool *pool_of(const dlock_source *source)
{
	return (dlock_pool *) ((char *) source - offsetof(dlock_pool, source));
}

/* Also one that is being opened: it may be so now. */
static bool is_polled(const dlock_inbox *inbox)
{
	return dlock_conn_busy(inbox->conn) || (inbox->listeners > 0 && dlock_inbox_is_open(inbox));
}

static void put(const dlock_conn *conn, struct pollfd *fds, int room, int *count)
{
	if (*count < room) {
		fds[*count] = (struct pollfd) { .fd = dlock_conn_fd(conn), .events = dlock_conn_events(conn) };
	}
	++*count;
}

static int poll_pool(dlock_source *source, struct pollfd *fds, int room)
{
	int count = 0;

	for (const dlock_conn *conn = pool_of(source)->first; conn; conn = conn->next) {
		if (dlock_conn_busy(conn)) {
			put(conn, fds, room, &count);
		}
	}
	for (const dlock_inbox *inbox = pool_of(source)->inboxes; inbox; inbox = inbox->next) {
		if (is_polled(inbox)) {
			put(inbox->conn, fds, room, &count);
		}
	}
	return count;
}

/* In the same order. Whether one is polled is asked before it is advanced. */
static void advance(dlock_source *source, const struct pollfd *fds, int count)
{
	int i = 0;

	for (dlock_conn *conn = pool_of(source)->first; conn && i < count; conn = conn->next) {
		if (dlock_conn_busy(conn) && fds[i++].revents) {
			dlock_conn_advance(conn);
		}
	}
	for (dlock_inbox *inbox = pool_of(source)->inboxes; inbox && i < count; inbox = inbox->next) {
		if (is_polled(inbox) && fds[i++].revents) {
			dlock_conn_advance(inbox->conn);
			dlock_inbox_update(inbox);
		}
	}
}

static void expire(dlock_source *source)
{
	for (dlock_conn *conn = pool_of(source)->first; conn; conn = conn->next) {
		if (dlock_conn_busy(conn)) {
			dlock_conn_expire(conn);
		}
	}
	for (dlock_inbox *inbox = pool_of(source)->inboxes; inbox; inbox = inbox->next) {
		if (is_polled(inbox)) {
			dlock_conn_expire(inbox->conn);
			dlock_inbox_update(inbox);
		}
	}
}

static dlock_nanos timer(const dlock_source *source)
{
	dlock_nanos first = DLOCK_FOREVER;

	for (const dlock_conn *conn = pool_of(source)->first; conn; conn = conn->next) {
		dlock_nanos time = dlock_conn_busy(conn) ? dlock_conn_timer(conn) : DLOCK_FOREVER;
		first = time < first ? time : first;
	}
	for (const dlock_inbox *inbox = pool_of(source)->inboxes; inbox; inbox = inbox->next) {
		dlock_nanos time = is_polled(inbox) ? dlock_conn_timer(inbox->conn) : DLOCK_FOREVER;
		first = time < first ? time : first;
	}
	return first;
}

static void begin_turn(dlock_source *source)
{
	for (dlock_conn *conn = pool_of(source)->first; conn; conn = conn->next) {
		dlock_conn_cork(conn);
	}
}

static bool end_turn(dlock_source *source)
{
	dlock_pool *pool = pool_of(source);
	bool settled = false;

	for (int i = 0; i < pool->last_count; i++) {
		if (pool->last[i].call->references > 1) { /* otherwise nobody waits for it any more */
			settled |= !dlock_conn_send(pool->last[i].conn, pool->last[i].call);
		}
		dlock_call_release(pool->last[i].call);
	}
	pool->last_count = 0;
	for (dlock_conn *conn = pool->first; conn; conn = conn->next) {
		size_t calls = conn->calls.count;
		dlock_conn_uncork(conn);
		settled |= conn->calls.count < calls;
	}
	return settled;
}

static const dlock_source_ops ops = { poll_pool, advance, expire, timer, begin_turn, end_turn };

void dlock_pool_join(dlock_pool *pool, dlock_loop *loop)
{
	pool->source.ops = &ops;
	pool->loop = loop;
	dlock_loop_add_source(loop, &pool->source);
}

dlock_loop *dlock_pool_loop(dlock_pool *pool)
{
	if (!pool->loop) {
		dlock_pool_join(pool, &pool->own_loop);
	}
	return pool->loop;
}

dlock_call *dlock_pool_find_last(const dlock_pool *pool, const dlock_conn *conn, int replicas)
{
	for (int i = 0; i < pool->last_count; i++) {
		if (pool->last[i].conn == conn && pool->last[i].replicas == replicas) {
			return pool->last[i].call;
		}
	}
	return NULL;
}

bool dlock_pool_send_last(dlock_pool *pool, dlock_conn *conn, dlock_call *call, int replicas)
{
	if (pool->last_count == DLOCK_MOST_LAST) {
		return false;
	}
	pool->last[pool->last_count++] = (dlock_last) { conn, dlock_call_retain(call), replicas };
	return true;
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
