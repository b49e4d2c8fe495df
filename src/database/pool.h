#ifndef DLOCK_DATABASE_POOL_H
#define DLOCK_DATABASE_POOL_H

#include "../net/loop.h"
#include "session.h"

/* The sessions of one thread, one for each database, and what is called without waiting for the answer. */

typedef struct dlock_db_background dlock_db_background;

typedef struct {
	dlock_source source;
	dlock_loop *loop;    /* that it is a source of; NULL: none yet */
	dlock_loop own_loop; /* for a pool that has joined none */
	dlock_db_session *first;
	dlock_db_background *background;
	unsigned long news_before; /* of all sessions, at the beginning of a turn */
} dlock_db_pool;

void dlock_db_pool_join(dlock_db_pool *pool, dlock_loop *loop);
dlock_loop *dlock_db_pool_loop(dlock_db_pool *pool);

/* The session with this database whose timeouts are at most this long. NULL when out of memory. */
dlock_db_session *dlock_db_pool_session(dlock_db_pool *pool, dlock_endpoint *server, dlock_nanos timeout_cap);

/* One of its own for somebody who sleeps in the database, who reserves it. NULL when out of memory. */
dlock_db_session *dlock_db_pool_spare(dlock_db_pool *pool, dlock_endpoint *server);

/* Takes in what has arrived, or has failed, since the loop ran last: that must not fail what is asked next. */
void dlock_db_pool_look(dlock_db_pool *pool);

/* Calls it again and again, until it is answered or its time is over. Takes over the reference, and NULL. What gives
 * back may come before what it is to give back, which was sent over a session that broke: so it is called once more
 * where there was nothing. */
void dlock_db_pool_call(
	dlock_db_pool *pool, dlock_db_session *session, dlock_db_call *call, dlock_nanos useful_until);

/* Waits for these, until `deadline`. */
void dlock_db_pool_drain(dlock_db_pool *pool, dlock_nanos deadline);

/* How many connections were opened so far, and how many of these in the place of one that had ended. */
void dlock_db_pool_count(const dlock_db_pool *pool, unsigned long *opened, unsigned long *reopened);

void dlock_db_pool_clear(dlock_db_pool *pool);

#endif
