#ifndef DLOCK_MEMCACHED_POOL_H
#define DLOCK_MEMCACHED_POOL_H

#include "../net/loop.h"
#include "conn.h"

/* The memcached connections of one thread, one for each server, and the keys that are to be discarded there. */

typedef struct dlock_memcached_discard dlock_memcached_discard;

typedef struct {
	dlock_loop *loop;    /* that its connections are sources of; NULL: none yet */
	dlock_loop own_loop; /* for a pool that has joined none */
	dlock_memcached_conn *first;
	dlock_memcached_discard *discards; /* oldest first */
} dlock_memcached_pool;

/* Before it has any connections: they are sources of this loop. A pool that has joined none has one of its own. */
void dlock_memcached_pool_join(dlock_memcached_pool *pool, dlock_loop *loop);
dlock_loop *dlock_memcached_pool_loop(dlock_memcached_pool *pool);

/* The connection to this server whose timeouts are at most this long, opened on first use. NULL when out of memory. */
dlock_memcached_conn *dlock_memcached_pool_conn(
	dlock_memcached_pool *pool, dlock_endpoint *server, dlock_nanos timeout_cap);

/* A CAS, and the generation of the connection over which it was learned: it means nothing over another one. */
typedef struct {
	uint64_t cas; /* 0: not known */
	unsigned long opened;
} dlock_memcached_cas;

/* Deletes the key, if it has this token, without waiting: again and again until the server has answered or its time is
 * over. `known`: the key's CAS, as far as it is known. `instead`: the token that it is to have from then on, for the
 * time that is left, or NULL. Without memory for that, the key is left to its time. */
void dlock_memcached_discard_key(dlock_memcached_pool *pool, dlock_memcached_conn *conn, const dlock_memcached_key *key,
	const char *token, dlock_memcached_cas known, const char *instead, dlock_nanos useful_until);

/* Takes in what has arrived, or has failed, since the loop ran last: that must not fail what is asked next. */
void dlock_memcached_pool_catch_up(dlock_memcached_pool *pool);

/* Are there none? */
bool dlock_memcached_pool_is_at_rest(const dlock_memcached_pool *pool);

/* Waits for them, until `deadline`. */
void dlock_memcached_pool_drain(dlock_memcached_pool *pool, dlock_nanos deadline);

/* How many connections were opened so far, and how many of these in the place of one that had ended. */
void dlock_memcached_pool_count(const dlock_memcached_pool *pool, unsigned long *opened, unsigned long *reopened);

void dlock_memcached_pool_clear(dlock_memcached_pool *pool);

#endif
