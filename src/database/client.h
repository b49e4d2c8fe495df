#ifndef DLOCK_DATABASE_CLIENT_H
#define DLOCK_DATABASE_CLIENT_H

#include "../net/endpoint/endpoint.h"
#include "call.h"

/* What a client library gives to a session: a connection that never blocks. The library's own time limits, look-ups of
 * names, environment variables and files with passwords are out of use. */

typedef enum { DLOCK_DB_GOES_ON, DLOCK_DB_READY, DLOCK_DB_BROKEN } dlock_db_progress;

/* The first members of each library's own. */
typedef struct {
	char problem[300]; /* why it is broken */
	bool transient;    /* that may be over soon */
} dlock_db_link;

typedef struct dlock_db_session dlock_db_session;

typedef struct {
	const char *name; /* in messages */
	bool notifies;    /* waiters are told over the session. Otherwise they sleep in the database, each over its own */

	/* Begins to connect. `address` is numeric; NULL: the server's unix socket. NULL when out of memory. */
	dlock_db_link *(*open)(const dlock_endpoint *server, const char *host, const char *address, int port);

	/* Goes on with that, with the login, and with what a session needs before its first call. */
	dlock_db_progress (*connect)(dlock_db_link *link);

	/* What to poll, and for what. */
	int (*fd)(const dlock_db_link *link);
	short (*events)(const dlock_db_link *link);

	/* May another call be sent now? */
	bool (*has_room)(const dlock_db_link *link);

	/* False: it is broken. */
	bool (*send)(dlock_db_link *link, dlock_db_call *call);

	/* Has the answer come already, so that poll() would not tell of it? NULL: never. */
	bool (*is_ahead)(const dlock_db_link *link);

	/* Takes in what has come: calls dlock_db_session_answered() for each call, in their order, and
	 * dlock_db_session_notified(). False: it is broken. */
	bool (*receive)(dlock_db_link *link, dlock_db_session *session);

	/* Closes and frees it; in a forked child, only its copy of the descriptor. */
	void (*close)(dlock_db_link *link);
	void (*leave)(dlock_db_link *link);
} dlock_db_client;

/* Not there in builds without the library. */
extern const dlock_db_client dlock_db_postgresql, dlock_db_mysql;

#endif
