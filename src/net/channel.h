#ifndef DLOCK_CHANNEL_H
#define DLOCK_CHANNEL_H

#include "../base/process.h"
#include "dial.h"
#include "tls.h"

/* Bytes to and from one server. It is opened in stages (the name's addresses, a socket that is connected, TLS) and
 * knows no protocol. It never sleeps: its owner polls its descriptor, and goes on when that is ready or when its
 * timer has come. Every byte goes through recv() and send() in channel.c. A zeroed channel is closed. */

typedef enum {
	DLOCK_CHANNEL_CLOSED,
	DLOCK_CHANNEL_DIALING,  /* until there is a socket that is connected; see dial.h */
	DLOCK_CHANNEL_SECURING, /* until the handshake of TLS is over */
	DLOCK_CHANNEL_OPEN
} dlock_channel_stage;

typedef struct {
	dlock_channel_stage stage;
	dlock_process process; /* in a process forked from this one, the socket is the parent's */
	const dlock_endpoint *server;
	dlock_dial dial; /* while it is dialing; then what dlock_channel_take_moved() has to know */
	int fd;          /* once it is connected */
	dlock_tls *tls;  /* NULL: without */
	dlock_nanos deadline, timeout; /* for all stages, and for the login that follows */
	char *out; /* appended, but not sent yet */
	size_t out_len, out_size;
	char problem[200]; /* why it has failed */
} dlock_channel;

/* Begins to connect. The server, which must outlive the connection, bounds the time, and so does the cap. False: it has
 * failed, and is closed. */
bool dlock_channel_open(dlock_channel *channel, const dlock_endpoint *server, dlock_nanos timeout_cap);

/* Goes on with that, until the deadline; to be called when the descriptor is ready, and at the timer. */
dlock_dial_result dlock_channel_connect(dlock_channel *channel);

/* When dlock_channel_connect() has something else to do; DLOCK_FOREVER once it is open. */
dlock_nanos dlock_channel_timer(const dlock_channel *channel);

/* The descriptor to poll, which may change with each step, and the events; -1 and 0 when there is only time to wait
 * for. */
int dlock_channel_fd(const dlock_channel *channel);
short dlock_channel_events(const dlock_channel *channel);

/* Adds to what is to be sent. False when out of memory. */
bool dlock_channel_append(dlock_channel *channel, const void *bytes, size_t len);

/* Sends as much as there is room for. False: it has failed. What the peer sent before can still be read. */
bool dlock_channel_flush(dlock_channel *channel);

/* The number of bytes that have come; 0: none at the moment; -1: the connection has ended, or failed. To be called
 * until it leaves `more`, which is false at first, false: of the rest, poll() would not tell. It reads from the socket
 * in the first of these calls only, once. Behind them, dlock_channel_flush(): TLS may have something to say by
 * itself. */
long dlock_channel_read(dlock_channel *channel, char *out, size_t size, bool *more);

/* Has the name been found to lead elsewhere since it was dialed? Once. */
bool dlock_channel_take_moved(dlock_channel *channel);

/* Closes it; the peer is told that nothing follows. In a forked child, only its copy of the descriptor. */
void dlock_channel_close(dlock_channel *channel);

/* The same, where something was sent, or may be unsent: that must not reach the server after what is sent over the next
 * connection. After close() alone the system would go on sending it, and a child process may have the socket, too. */
void dlock_channel_abort(dlock_channel *channel);

/* Was it opened by an ancestor of this process? */
bool dlock_channel_is_inherited(const dlock_channel *channel);

#endif
