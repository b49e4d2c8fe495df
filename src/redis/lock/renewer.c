#include "renewer.h"

#include <stdlib.h>

#include "../route/delivery.h"

/* A WAIT that a number of rounds share; it goes out at the end of the batch. */
typedef struct {
	dlock_conn *conn;
	dlock_call *call;
	int replicas;
} confirmation;

enum { MOST_SHARED = 16 };

typedef struct {
	dlock_renewer base;
	dlock_pool pool;
	confirmation shared[MOST_SHARED];
	int shared_count;
} redis_renewer;

dlock_pool *dlock_redis_renewer_pool(dlock_renewer *renewer)
{
	return &((redis_renewer *) renewer)->pool;
}

static const dlock_pool *pool_of(const dlock_renewer *renewer)
{
	return &((const redis_renewer *) renewer)->pool;
}

static dlock_renewer *create(void)
{
	redis_renewer *renewer = calloc(1, sizeof *renewer);

	if (!renewer) {
		return NULL;
	}
	renewer->base.ops = &dlock_redis_renewer_ops;
	return &renewer->base;
}

static void destroy(dlock_renewer *renewer)
{
	dlock_pool_clear(dlock_redis_renewer_pool(renewer));
	free(renewer);
}

static void begin_batch(dlock_renewer *renewer)
{
	for (dlock_conn *conn = pool_of(renewer)->first; conn; conn = conn->next) {
		dlock_conn_cork(conn);
	}
}

static dlock_call *share_wait(redis_renewer *renewer, dlock_conn *conn, int replicas)
{
	for (int i = 0; i < renewer->shared_count; i++) {
		confirmation *one = &renewer->shared[i];
		if (one->conn == conn && one->replicas == replicas) {
			return dlock_call_retain(one->call);
		}
	}
	dlock_call *call = dlock_delivery_wait(conn, replicas);
	if (call) {
		renewer->shared[renewer->shared_count++] = (confirmation) { conn, dlock_call_retain(call), replicas };
	}
	return call;
}

dlock_call *dlock_redis_renewer_send(dlock_renewer *base, dlock_conn *conn, dlock_call *call, int replicas, bool asks)
{
	redis_renewer *renewer = (redis_renewer *) base;

	dlock_conn_cork(conn); /* it may have been made in this batch */
	if (asks || renewer->shared_count == MOST_SHARED) {
		return dlock_delivery_send(conn, call, replicas, NULL, asks);
	}
	return dlock_conn_send(conn, call) && replicas > 0 ? share_wait(renewer, conn, replicas) : NULL;
}

static void end_batch(dlock_renewer *base)
{
	redis_renewer *renewer = (redis_renewer *) base;

	for (int i = 0; i < renewer->shared_count; i++) {
		dlock_conn_send(renewer->shared[i].conn, renewer->shared[i].call);
		dlock_call_release(renewer->shared[i].call);
	}
	renewer->shared_count = 0;
	for (dlock_conn *conn = renewer->pool.first; conn; conn = conn->next) {
		dlock_conn_uncork(conn);
	}
}

/* The connections that have something under way, in the pool's order. */
static int poll_busy(dlock_renewer *renewer, struct pollfd *fds, int room)
{
	int count = 0;

	for (dlock_conn *conn = pool_of(renewer)->first; conn; conn = conn->next) {
		if (dlock_conn_busy(conn)) {
			if (count < room) {
				fds[count] = (struct pollfd) { .fd = dlock_conn_fd(conn), .events = dlock_conn_events(conn) };
			}
			count++;
		}
	}
	return count;
}

/* In the same order. Whether a connection is busy is asked before it is advanced. */
static void advance(dlock_renewer *renewer, const struct pollfd *fds, int count)
{
	int i = 0;

	for (dlock_conn *conn = pool_of(renewer)->first; conn && i < count; conn = conn->next) {
		if (dlock_conn_busy(conn) && fds[i++].revents) {
			dlock_conn_advance(conn);
		}
	}
	dlock_topologies_advance(dlock_redis_renewer_pool(renewer));
}

static void expire(dlock_renewer *renewer)
{
	for (dlock_conn *conn = pool_of(renewer)->first; conn; conn = conn->next) {
		dlock_conn_expire(conn);
	}
	dlock_topologies_advance(dlock_redis_renewer_pool(renewer));
}

static dlock_nanos timer(const dlock_renewer *renewer)
{
	dlock_nanos first = dlock_topologies_timer(pool_of(renewer));

	for (const dlock_conn *conn = pool_of(renewer)->first; conn; conn = conn->next) {
		dlock_nanos time = dlock_conn_timer(conn);
		first = time < first ? time : first;
	}
	return first;
}

static void drain(dlock_renewer *renewer, dlock_nanos deadline)
{
	dlock_pool_drain(dlock_redis_renewer_pool(renewer), deadline);
}

static dlock_renewer_counts count(const dlock_renewer *renewer)
{
	return (dlock_renewer_counts) { dlock_pool_opened(pool_of(renewer)), dlock_pool_reopened(pool_of(renewer)) };
}

const dlock_renewer_ops dlock_redis_renewer_ops = {
	.create = create,
	.destroy = destroy,
	.begin_batch = begin_batch,
	.end_batch = end_batch,
	.poll = poll_busy,
	.advance = advance,
	.expire = expire,
	.timer = timer,
	.drain = drain,
	.count = count,
};
