#ifndef DLOCK_NET_POOL_H
#define DLOCK_NET_POOL_H

#include "endpoint/endpoint.h"
#include "loop.h"

/* The connections of one thread, for any protocol, and what they do while no caller waits. Redis has a pool of its
 * own. */

typedef struct dlock_net_conn dlock_net_conn;
typedef struct dlock_background dlock_background;

/* The first member of each protocol's own struct. */
struct dlock_net_conn {
	dlock_source source;
	void (*free)(dlock_net_conn *conn);
	/* DLOCK_FOREVER: it is closed, or in use. NULL: the pool closes none of these. */
	dlock_nanos (*unused_since)(const dlock_net_conn *conn);
	void (*close)(dlock_net_conn *conn); /* its next request opens it again */
	struct dlock_net_pool *pool;
	dlock_endpoint *server;
	dlock_nanos timeout_cap; /* a bound for the server's timeouts */
	unsigned long opened;    /* how often it was connected */
	bool spare;              /* it is for one user alone: dlock_net_pool_find() skips it */
	dlock_net_conn *next;
};

typedef struct dlock_net_pool {
	dlock_loop *loop;    /* its connections are sources of this loop; NULL: none yet */
	dlock_loop own_loop; /* for a pool that has joined no loop */
	dlock_net_conn *first;
	dlock_background *background; /* oldest first */
} dlock_net_pool;

/* Makes the pool's connections sources of this loop. The caller joins before the pool has connections. */
void dlock_net_pool_join(dlock_net_pool *pool, dlock_loop *loop);
dlock_loop *dlock_net_pool_loop(dlock_net_pool *pool);

/* The connection to this server with exactly this cap, which the caller is about to use; NULL: there is none yet. */
void *dlock_net_pool_find(dlock_net_pool *pool, const dlock_endpoint *server, dlock_nanos timeout_cap);
bool dlock_net_conn_leads_to(const dlock_net_conn *conn, const dlock_endpoint *server);

/* Adds a connection whose own struct has `size` bytes, zero except its first member. NULL: out of memory. `free_conn`
 * ends with dlock_net_conn_free(). */
void *dlock_net_pool_add(dlock_net_pool *pool, size_t size, dlock_endpoint *server, dlock_nanos timeout_cap,
	const dlock_source_ops *ops, void (*free_conn)(dlock_net_conn *conn));
void dlock_net_conn_free(dlock_net_conn *conn);

/* Closes unused connections before this one is opened or used. Those used last stay open, 128 with this one.
 * dlock_net_pool_find() does it, too. */
void dlock_net_conn_make_room(const dlock_net_conn *conn);

/* Handles what has come, or has failed, since the loop last ran, so that it does not fail the next request. */
void dlock_net_pool_catch_up(dlock_net_pool *pool);

/* Counts the connections that were opened so far, and how many of these replaced a connection that had ended. */
void dlock_net_pool_count(const dlock_net_pool *pool, unsigned long *opened, unsigned long *reopened);

void dlock_net_pool_clear(dlock_net_pool *pool);

/* ---- in the background ---- */

typedef struct {
	void (*send)(dlock_background *own);
	bool (*is_under_way)(const dlock_background *own);

	/* The request was answered, or has failed. False: it is done. True: the pool sends it again at `due`, which is
	 * after a pause unless this function sets it. It may also set `rests`. */
	bool (*take)(dlock_background *own, dlock_nanos now);
	void (*free)(dlock_background *own);
} dlock_background_ops;

/* A request that the pool repeats until it is answered or no longer useful. The first member of its own struct. */
struct dlock_background {
	const dlock_background_ops *ops;
	dlock_net_pool *pool;
	dlock_background *next;
	dlock_adopted adopted;
	bool sent;
	bool rests; /* the end of a request does not wait for it */
	dlock_nanos due, useful_until;
};

/* Sends the request. The pool owns it from now on, and frees it. */
void dlock_net_pool_begin_background(
	dlock_net_pool *pool, dlock_background *own, const dlock_background_ops *ops, dlock_nanos useful_until);

/* Has this process no background request left that the end of a request waits for? */
bool dlock_net_pool_is_at_rest(const dlock_net_pool *pool);

/* Waits until the pool is at rest, or until `deadline`. */
void dlock_net_pool_drain(dlock_net_pool *pool, dlock_nanos deadline);

#endif
