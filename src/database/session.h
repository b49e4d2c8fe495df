#ifndef DLOCK_DATABASE_SESSION_H
#define DLOCK_DATABASE_SESSION_H

#include "../base/process.h"
#include "../net/pool.h"
#include "../net/resolve.h"
#include "client.h"

/* One session with one database, kept over many calls. It never blocks: looking the name up, connecting and logging in
 * are states that it passes through while the loop polls it. Where the server has several hosts, the first that can be
 * written to is taken. */

typedef enum {
	DLOCK_DB_CLOSED,
	DLOCK_DB_RESOLVING,
	DLOCK_DB_CONNECTING,
	DLOCK_DB_OPEN
} dlock_db_session_state;

/* Who waits for a notification, PostgreSQL's. */
typedef struct dlock_db_listener {
	const char *token;
	bool told;       /* since this was set to false */
	int64_t number;  /* of the request that was refused */
	int64_t granted; /* the fencing token; 0: it is to ask */
	struct dlock_db_listener *next;
} dlock_db_listener;

struct dlock_db_session {
	dlock_net_conn base; /* `spare`: for a waiter that sleeps in the database */
	const dlock_db_client *client;
	dlock_process process;
	dlock_db_session_state state;
	dlock_db_link *link;  /* NULL: none */

	/* While it connects. */
	int seed, seeds_tried; /* of the server's hosts; it begins with the one that was good last */
	dlock_lookup *lookup;
	dlock_addresses addresses;
	int tried;
	dlock_nanos deadline, step; /* `step`: until then this address may take */
	char obstacle[300];         /* why it has not succeeded yet */
	bool transient;

	dlock_db_call *first, *last; /* whose answers are still to come */
	dlock_db_call *unsent;       /* the first that was not sent yet; NULL: none */
	dlock_nanos heard_at;        /* when the last answer came */
	bool used;                   /* there was one over this connection */
	bool reserved;               /* a waiter sleeps in it */

	char inbox[DLOCK_TOKEN_MAX + 1]; /* the channel on which it listens; "": it does not */
	dlock_db_listener *listeners;

	dlock_error error; /* why it broke last; names the server */
};

/* The pool's with this database whose timeouts are at most this long. NULL when out of memory. */
dlock_db_session *dlock_db_session_of(dlock_net_pool *pool, dlock_endpoint *server, dlock_nanos timeout_cap);

/* One of its own, reserved, for a waiter that sleeps in the database. NULL when out of memory. */
dlock_db_session *dlock_db_session_spare(dlock_net_pool *pool, dlock_endpoint *server);

/* Queues the call and retains it; opens the session where needed. Where that is not possible, the call has failed. */
void dlock_db_send(dlock_db_session *session, dlock_db_call *call);

/* While it listens, notifications arrive; the session says where to in its inbox. Listening begins before whatever is
 * sent next, and ends with the last listener. */
void dlock_db_listen(dlock_db_session *session, dlock_db_listener *listener);
void dlock_db_unlisten(dlock_db_session *session, dlock_db_listener *listener);

/* ---- for clients ---- */

/* The call whose answer comes next. */
dlock_db_call *dlock_db_session_next(const dlock_db_session *session);

/* It is answered; or has failed where it is `refused`, with a message that names no server yet. */
void dlock_db_session_answered(dlock_db_session *session);

/* A notification: "token number fence". */
void dlock_db_session_notified(dlock_db_session *session, const char *text);

#endif
