#ifndef DLOCK_DIAL_H
#define DLOCK_DIAL_H

#include <sys/socket.h>
#include <stdbool.h>

#include "../base/clock.h"
#include "resolve.h"
#include "endpoint/endpoint.h"

/* Connects a socket to a server, without blocking: by its path, its address, or one of the addresses of its name. A
 * name's last good addresses are used at once; only where there are none, or none of them works, does it wait for a
 * look-up. */

typedef struct {
	const dlock_endpoint *server;
	int fd;           /* which is connecting, where there is one at the moment */
	bool has_socket;
	dlock_lookup *lookup;      /* under way; NULL: none */
	dlock_addresses addresses; /* known so far, in the order in which they are tried */
	int tried;                 /* the number of those that have been tried */
	bool is_name;
	bool asked, asked_all;     /* a look-up was begun; one for all addresses, since the known ones do not work */
	dlock_nanos seen;          /* the latest look-up whose result is in `addresses` */
	bool outdated;             /* connected while a look-up was under way, which may find something else */
	bool full;                 /* a unix socket with a full backlog */
	dlock_nanos begun, deadline, timeout;
	dlock_nanos step;   /* when to try something else, if nothing happens before */
	char obstacle[160]; /* why it has not succeeded yet; "": nothing has failed */
} dlock_dial;

typedef enum { DLOCK_DIAL_GOES_ON, DLOCK_DIAL_CONNECTED, DLOCK_DIAL_FAILED } dlock_dial_result;

/* The timeout is for connection and handshake together. `server` must outlive it. Never returns
 * DLOCK_DIAL_CONNECTED. */
dlock_dial_result dlock_dial_begin(dlock_dial *dial, const dlock_endpoint *server, dlock_nanos timeout);

/* The descriptor to poll, and the events; -1 and 0: there is only time to wait for. */
int dlock_dial_fd(const dlock_dial *dial);
short dlock_dial_events(const dlock_dial *dial);

/* To be called when the descriptor is ready, and at `step`. After DLOCK_DIAL_FAILED, `obstacle` says why. */
dlock_dial_result dlock_dial_advance(dlock_dial *dial);

/* What has not happened by the deadline, for a message that goes on with "within ... s"; NULL: `obstacle` says more. */
const char *dlock_dial_delay(const dlock_dial *dial);

/* Hands the connected socket over, which does not block, and leaves the look-up. */
int dlock_dial_take(dlock_dial *dial);

/* After that: has the name been found to lead elsewhere? True once: the look-up that has ended is noted. */
bool dlock_dial_take_moved(dlock_dial *dial);

/* Closes the socket, unless it was handed over, and leaves the look-up. A zeroed dial may be ended, too. */
void dlock_dial_end(dlock_dial *dial);

#endif
