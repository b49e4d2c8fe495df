#ifndef DLOCK_DATABASE_CLIENT_H
#define DLOCK_DATABASE_CLIENT_H

#include "../net/endpoint/endpoint.h"
#include "call.h"

/* What a client library provides to a session: a connection that never blocks. dlock does not use the library's own
 * time limits, name look-ups, environment variables and password files. mysql.c and postgresql.c have one exception
 * each. */

typedef enum { DLOCK_DB_GOES_ON, DLOCK_DB_READY, DLOCK_DB_BROKEN } dlock_db_progress;

/* The first member of each library's own struct. */
typedef struct {
	char problem[300]; /* why the link is broken */
	bool transient;    /* the problem may end soon */
} dlock_db_link;

typedef struct dlock_db_session dlock_db_session;

typedef struct {
	const char *name; /* in messages */
	/* True: waiters are notified over the session. False: each waiter sleeps in the database, over a session of its
	 * own. */
	bool notifies;

	/* Begins to connect. `address` is numeric; NULL stands for the server's unix socket. Returns NULL if out of
	 * memory. */
	dlock_db_link *(*open)(const dlock_endpoint *server, const char *host, const char *address, int port);

	/* Continues to connect and to log in, and prepares the session for its first call. */
	dlock_db_progress (*connect)(dlock_db_link *link);

	/* The descriptor to poll, and the events to poll for. */
	int (*fd)(const dlock_db_link *link);
	short (*events)(const dlock_db_link *link);

	/* True if another call can be sent now. */
	bool (*has_room)(const dlock_db_link *link);

	/* Sends a call. False: the link is broken. */
	bool (*send)(dlock_db_link *link, dlock_db_call *call);

	/* True if the answer has come already, so that poll() would not report it. NULL: never. */
	bool (*is_ahead)(const dlock_db_link *link);

	/* Reads what has come. Calls dlock_db_session_answered() for each call, in their order, and
	 * dlock_db_session_notified() for each notification. False: the link is broken. */
	bool (*receive)(dlock_db_link *link, dlock_db_session *session);

	/* close() closes the link and frees it. In a forked child, leave() closes only the child's copy of the
	 * descriptor. */
	void (*close)(dlock_db_link *link);
	void (*leave)(dlock_db_link *link);
} dlock_db_client;

/* A build without the library lacks its client. */
extern const dlock_db_client dlock_db_postgresql, dlock_db_mysql;

#endif
