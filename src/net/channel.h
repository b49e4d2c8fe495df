#ifndef DLOCK_CHANNEL_H
#define DLOCK_CHANNEL_H

#include "../base/process.h"
#include "dial.h"
#include "tls.h"

/* A channel carries bytes to and from one server, and knows no protocol. It opens in stages: the name's addresses, a
 * connected socket, TLS. It never sleeps: its owner polls its descriptor, and calls it when that is ready or its timer
 * has come. Every byte passes through recv() and send() in channel.c. A zeroed channel is closed. */

typedef enum {
	DLOCK_CHANNEL_CLOSED,
	DLOCK_CHANNEL_DIALING,  /* until a socket is connected; see dial.h */
	DLOCK_CHANNEL_SECURING, /* until the TLS handshake has ended */
	DLOCK_CHANNEL_OPEN
} dlock_channel_stage;

typedef struct {
	dlock_channel_stage stage;
	dlock_process process; /* the owner: in a child of fork(), the socket is the parent's */
	const dlock_endpoint *server;
	dlock_dial dial; /* while it is dialing; then what dlock_channel_take_moved() needs */
	int fd;          /* once it is connected */
	dlock_tls *tls;  /* NULL: no TLS */
	dlock_nanos deadline, timeout; /* for all stages, and for the login that follows */
	char *out; /* appended, but not sent yet */
	size_t out_len, out_size;
	char problem[200]; /* why it has failed */
} dlock_channel;

/* Begins to connect. `server` must outlive the connection. The time limit is the server's connect timeout, or
 * `timeout_cap` if that is shorter. False: it has failed, and the channel is closed. */
bool dlock_channel_open(dlock_channel *channel, const dlock_endpoint *server, dlock_nanos timeout_cap);

/* Continues to connect, until the deadline. The owner calls it when the descriptor is ready, and at the timer. */
dlock_dial_result dlock_channel_connect(dlock_channel *channel);

/* When to call dlock_channel_connect() even if the descriptor is not ready; DLOCK_FOREVER once the channel is open. */
dlock_nanos dlock_channel_timer(const dlock_channel *channel);

/* The descriptor to poll, which may change with each step, and the events; -1 and 0: only the timer counts. */
int dlock_channel_fd(const dlock_channel *channel);
short dlock_channel_events(const dlock_channel *channel);

/* Adds bytes for dlock_channel_flush() to send. False: out of memory, or TLS has failed. */
bool dlock_channel_append(dlock_channel *channel, const void *bytes, size_t len);

/* Sends as much as the socket accepts. False: it has failed, but bytes that the peer sent before can still be read. */
bool dlock_channel_flush(dlock_channel *channel);

/* Reads, and returns the number of bytes. 0: none have come; -1: the connection has ended or failed. `more` is false at
 * first, and the caller repeats the call while it is true: poll() does not report the rest. Only the first of these
 * calls reads from the socket, once. After the last, the caller calls dlock_channel_flush(), because TLS may have bytes
 * of its own to send. */
long dlock_channel_read(dlock_channel *channel, char *out, size_t size, bool *more);

/* Has a lookup found since the dialing that the name leads elsewhere? True only once. */
bool dlock_channel_take_moved(dlock_channel *channel);

/* Closes the channel, and tells the peer that nothing follows. A child of fork() closes only its copy of the
 * descriptor. */
void dlock_channel_close(dlock_channel *channel);

/* The same, but discards bytes that the system has not sent yet. They must not reach the server after bytes of the next
 * connection. close() alone is not enough: the system would still send them, and a child process may have the socket,
 * too. */
void dlock_channel_abort(dlock_channel *channel);

/* Was it opened by an ancestor of this process? */
bool dlock_channel_is_inherited(const dlock_channel *channel);

#endif
