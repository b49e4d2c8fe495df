#ifndef DLOCK_DATABASE_SESSION_H
#define DLOCK_DATABASE_SESSION_H

#include "../base/process.h"
#include "../net/pool.h"
#include "../net/resolve.h"
#include "client.h"

/* One session with one database, kept across many calls. It never blocks: it resolves the name, connects and logs in
 * step by step, while the loop polls it. If the server has several hosts, the session uses the first that accepts
 * writes. */

typedef enum {
	DLOCK_DB_CLOSED,
	DLOCK_DB_RESOLVING,
	DLOCK_DB_CONNECTING,
	DLOCK_DB_OPEN
} dlock_db_session_state;

/* A waiter that waits for a notification of PostgreSQL. */
typedef struct dlock_db_listener {
	const char *token;
	bool told;       /* news has come after the waiter set this to false */
	int64_t number;  /* of the refused request that the notification names */
	int64_t granted; /* the fencing token; 0: the waiter must ask */
	struct dlock_db_listener *next;
} dlock_db_listener;

struct dlock_db_session {
	dlock_net_conn base; /* `spare`: for a waiter that sleeps in the database */
	const dlock_db_client *client;
	dlock_process process;
	dlock_db_session_state state;
	dlock_db_link *link;  /* NULL: none */

	/* While the session connects. */
	int seed, seeds_tried; /* of the server's hosts; the session begins with the host that was good last */
	dlock_lookup *lookup;
	dlock_addresses addresses;
	int tried;
	bool asked; /* a lookup of this host's name has begun since the session turned to it, or would be useless */
	dlock_nanos deadline, step; /* `step`: the time until which this address, or the lookup, may answer */
	char obstacle[300];         /* why it has not connected yet */
	bool transient;

	dlock_db_call *first, *last; /* calls whose answers are still to come */
	dlock_db_call *unsent;       /* the first call that was not sent yet; NULL: none */
	dlock_nanos heard_at;        /* when the last answer came */
	bool used;                   /* a call was answered over this connection */
	bool reserved;               /* for a waiter that sleeps in it */

	char inbox[DLOCK_TOKEN_MAX + 1]; /* the channel on which it listens; "": it does not listen */
	dlock_db_listener *listeners;

	dlock_error error; /* why it broke last; names the server */
};

/* Returns the pool's session with this database whose timeouts are at most `timeout_cap`. Makes it if there is none.
 * Returns NULL if out of memory. */
dlock_db_session *dlock_db_session_of(dlock_net_pool *pool, dlock_endpoint *server, dlock_nanos timeout_cap);

/* Returns a session that is reserved for a waiter that sleeps in the database. The waiter ends the reservation by
 * setting `reserved` to false. Returns NULL if out of memory. */
dlock_db_session *dlock_db_session_spare(dlock_net_pool *pool, dlock_endpoint *server);

/* Queues the call and retains it. Opens the session if needed; if that fails, the call fails. */
void dlock_db_send(dlock_db_session *session, dlock_db_call *call);

/* While a session has a listener, it receives notifications on the channel `inbox`. It begins to listen before it sends
 * the next call, and stops listening after the last listener. */
void dlock_db_listen(dlock_db_session *session, dlock_db_listener *listener);
void dlock_db_unlisten(dlock_db_session *session, dlock_db_listener *listener);

/* ---- for clients ---- */

/* The call whose answer comes next. NULL: none. */
dlock_db_call *dlock_db_session_next(const dlock_db_session *session);

/* Ends this call. It is answered, or, if it is `refused`, it has failed: its message then names no server yet. */
void dlock_db_session_answered(dlock_db_session *session);

/* Passes a notification, "token number fence", on to its listener. */
void dlock_db_session_notified(dlock_db_session *session, const char *text);

#endif
