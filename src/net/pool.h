#ifndef DLOCK_NET_POOL_H
#define DLOCK_NET_POOL_H

#include "endpoint/endpoint.h"
#include "loop.h"

/* The connections of one thread, whatever is spoken over them, and what they do while no caller waits. Redis has
 * a pool of its own. */

typedef struct dlock_net_conn dlock_net_conn;
typedef struct dlock_background dlock_background;

/* The first member of each protocol's own struct. */
struct dlock_net_conn {
	dlock_source source;
	void (*free)(dlock_net_conn *conn);
	dlock_endpoint *server;
	dlock_nanos timeout_cap; /* a bound for the server's timeouts */
	unsigned long opened;    /* how often it was connected */
	bool spare;              /* it is for one user alone, and is not found */
	dlock_net_conn *next;
};

typedef struct {
	dlock_loop *loop;    /* that its connections are sources of; NULL: none yet */
	dlock_loop own_loop; /* for a pool that has joined none */
	dlock_net_conn *first;
	dlock_background *background; /* oldest first */
} dlock_net_pool;

/* Before it has any connections: they are sources of this loop. */
void dlock_net_pool_join(dlock_net_pool *pool, dlock_loop *loop);
dlock_loop *dlock_net_pool_loop(dlock_net_pool *pool);

/* The connection to this server whose timeouts are at most this long; NULL: there is none yet. */
void *dlock_net_pool_find(
	const dlock_net_pool *pool, const dlock_endpoint *server, dlock_nanos timeout_cap);
bool dlock_net_conn_leads_to(const dlock_net_conn *conn, const dlock_endpoint *server);

/* A new one, whose own struct has `size` bytes, zero except its first member. NULL when out of memory. `free_conn`
 * ends with dlock_net_conn_free(). */
void *dlock_net_pool_add(dlock_net_pool *pool, size_t size, dlock_endpoint *server, dlock_nanos timeout_cap,
	const dlock_source_ops *ops, void (*free_conn)(dlock_net_conn *conn));
void dlock_net_conn_free(dlock_net_conn *conn);

/* Takes in what has arrived, or has failed, since the loop ran last: that must not fail what is asked next. */
void dlock_net_pool_catch_up(dlock_net_pool *pool);

/* How many connections were opened so far, and how many of these in the place of one that had ended. */
void dlock_net_pool_count(const dlock_net_pool *pool, unsigned long *opened, unsigned long *reopened);

void dlock_net_pool_clear(dlock_net_pool *pool);

/* ---- in the background ---- */

typedef struct {
	void (*send)(dlock_background *own);
	bool (*is_under_way)(const dlock_background *own);

	/* It is answered, or has failed. False: it is done with. Otherwise it is sent again when it is `due`: after a
	 * pause, unless this sets something else. */
	bool (*take)(dlock_background *own, dlock_nanos now);
	void (*free)(dlock_background *own);
} dlock_background_ops;

/* What is sent again and again until it is answered or its time is over. The first member of its own struct. */
struct dlock_background {
	const dlock_background_ops *ops;
	dlock_net_pool *pool;
	dlock_background *next;
	dlock_adopted adopted;
	bool sent;
	dlock_nanos due, useful_until;
};

/* Sends it, and takes it over. */
void dlock_net_pool_begin_background(
	dlock_net_pool *pool, dlock_background *own, const dlock_background_ops *ops, dlock_nanos useful_until);

/* Is there nothing of it left? */
bool dlock_net_pool_is_at_rest(const dlock_net_pool *pool);

/* Waits for all of it, until `deadline`. */
void dlock_net_pool_drain(dlock_net_pool *pool, dlock_nanos deadline);

#endif
