#ifndef DLOCK_DIAL_H
#define DLOCK_DIAL_H

#include <stdbool.h>

#include "clock.h"
#include "platform.h"
#include "resolve.h"
#include "server.h"

/* Gets a socket connected to a server, without blocking: by its path, its address, or one of the addresses of its name. A name's
 * last good addresses are used at once; it is waited for a look-up only where there are none, or none of them works. */

typedef struct {
	const dlock_server *server;
	dlock_socket fd;           /* which is connecting, where there is one at the moment */
	bool has_socket;
	dlock_lookup *lookup;      /* NULL: none that matters */
	dlock_addresses addresses; /* to try, all that have become known */
	int tried;                 /* how many of these */
	bool is_name;
	bool asked, asked_all;     /* for its addresses; for all, since those that were known do not work */
	dlock_nanos seen;          /* the last look-up of which it knows */
	bool outdated;             /* another one was under way when it succeeded, and may find something else */
	bool full;                 /* a unix socket whose backlog takes no more */
	dlock_nanos begun, deadline, timeout;
	dlock_nanos step;   /* when there may be something else to try, if nothing happens before */
	char obstacle[160]; /* why it has not succeeded yet */
} dlock_dial;

typedef enum { DLOCK_DIAL_GOES_ON, DLOCK_DIAL_CONNECTED, DLOCK_DIAL_FAILED } dlock_dial_result;

/* The timeout is for everything, with what follows the connection. The server must stay. Never says that it is connected. */
dlock_dial_result dlock_dial_begin(dlock_dial *dial, const dlock_server *server, dlock_nanos timeout);

/* What to poll, and for what; -1 and 0: nothing but time. */
int dlock_dial_fd(const dlock_dial *dial);
short dlock_dial_events(const dlock_dial *dial);

/* To be called when that is ready, and at `step`. After DLOCK_DIAL_FAILED, `obstacle` says why. */
dlock_dial_result dlock_dial_advance(dlock_dial *dial);

/* What has not happened by the deadline, to be followed by "within ... s"; NULL: there is an obstacle. */
const char *dlock_dial_delay(const dlock_dial *dial);

/* Hands over the connected socket, which does not block. */
dlock_socket dlock_dial_take(dlock_dial *dial);

/* Of what was handed over: has the name been found to lead elsewhere since then? */
bool dlock_dial_has_moved(dlock_dial *dial);

/* Closes and forgets what is left. It need not have been begun, if it is zeroed. */
void dlock_dial_end(dlock_dial *dial);

#endif
