#ifndef DLOCK_DIAL_H
#define DLOCK_DIAL_H

#include <sys/socket.h>
#include <stdbool.h>

#include "../base/clock.h"
#include "resolve.h"
#include "endpoint/endpoint.h"

/* A dial connects a socket to a server without blocking: by its path, its address, or one of its name's addresses. It
 * uses a name's last good addresses at once. It waits for a lookup only if there are none, or none of them works. */

typedef struct {
	const dlock_endpoint *server;
	int fd;           /* the socket that is connecting, if there is one now */
	bool has_socket;
	dlock_lookup *lookup;      /* under way; NULL: none */
	dlock_addresses addresses; /* known so far, in the order in which they are tried */
	int tried;                 /* how many of them have been tried */
	bool is_name;
	bool asked, asked_all;     /* a lookup was begun; one of all addresses, because the known ones do not work */
	dlock_nanos seen;          /* when the last lookup ended whose result is in `addresses` */
	bool outdated;             /* connected while a lookup was under way, which may find other addresses */
	bool full;                 /* a unix socket with a full backlog */
	dlock_nanos begun, deadline, timeout;
	dlock_nanos step;   /* when to try something else, if nothing happens before */
	char obstacle[160]; /* why it has not succeeded yet; "": nothing has failed */
} dlock_dial;

typedef enum { DLOCK_DIAL_GOES_ON, DLOCK_DIAL_CONNECTED, DLOCK_DIAL_FAILED } dlock_dial_result;

/* Begins to connect. `timeout` is for connection and handshake together. `server` must outlive the dial. Never returns
 * DLOCK_DIAL_CONNECTED. */
dlock_dial_result dlock_dial_begin(dlock_dial *dial, const dlock_endpoint *server, dlock_nanos timeout);

/* The descriptor to poll, and the events; -1 and 0: only `step` counts. */
int dlock_dial_fd(const dlock_dial *dial);
short dlock_dial_events(const dlock_dial *dial);

/* Continues to connect. The owner calls it when the descriptor is ready, and at `step`. After DLOCK_DIAL_FAILED,
 * `obstacle` says why. */
dlock_dial_result dlock_dial_advance(dlock_dial *dial);

/* What has not happened by the deadline, for a message that continues with "within ... s"; NULL: `obstacle` says
 * more. */
const char *dlock_dial_delay(const dlock_dial *dial);

/* Hands over the connected socket, which does not block, and leaves the lookup. */
int dlock_dial_take(dlock_dial *dial);

/* After that: has the lookup that was under way found that the name leads elsewhere? True only once. */
bool dlock_dial_take_moved(dlock_dial *dial);

/* Closes the socket, unless it was handed over, and leaves the lookup. A zeroed dial may be ended, too. */
void dlock_dial_end(dlock_dial *dial);

#endif
