#ifndef DLOCK_REDIS_POOL_H
#define DLOCK_REDIS_POOL_H

#include "conn.h"
#include "inbox.h"

/* The connections of one thread, one for each server and way to log in, kept over requests. */
typedef struct {
	dlock_conn *first;
	dlock_inbox *inboxes;
} dlock_pool;

/* The connection to this server, opened on first use. NULL when out of memory. */
dlock_conn *dlock_pool_conn(dlock_pool *pool, dlock_server *server);

/* Another one, for who cannot wait as long as the server's timeouts allow: it is given up early, so that those who can wait
 * must not share it. */
dlock_conn *dlock_pool_hasty_conn(dlock_pool *pool, dlock_server *server, dlock_nanos patience);

/* The inbox on this server. NULL when out of memory. */
dlock_inbox *dlock_pool_inbox(dlock_pool *pool, dlock_server *server);

/* Gives what is still under way until `deadline` to end; at a request's end these are releases. */
void dlock_pool_drain(dlock_pool *pool, dlock_nanos deadline);

/* How many connections were opened so far; and how many of these in the place of one that had ended. */
unsigned long dlock_pool_opened(const dlock_pool *pool);
unsigned long dlock_pool_reopened(const dlock_pool *pool);

void dlock_pool_clear(dlock_pool *pool);

#endif
