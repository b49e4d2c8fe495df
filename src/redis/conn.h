#ifndef DLOCK_REDIS_CONN_H
#define DLOCK_REDIS_CONN_H

#include "../base/error.h"
#include "../base/process.h"
#include "call_queue.h"
#include "dial.h"
#include "handshake.h"
#include "server.h"

/* One connection to one server, kept open over many calls and requests. It never blocks: looking up a name, connecting, TLS, AUTH and
 * SELECT are states that it passes through while somebody polls it (see exchange.h). Replies come in the order of the calls. */

typedef enum {
	DLOCK_CONN_CLOSED,
	DLOCK_CONN_CONNECTING, /* until there is a socket that is connected; see dial.h */
	DLOCK_CONN_HANDSHAKE,  /* until AUTH and SELECT are answered; see handshake.h */
	DLOCK_CONN_READY
} dlock_conn_state;

typedef struct dlock_conn {
	dlock_server *server;
	dlock_process process; /* where another one is current, the socket is the parent's */
	dlock_conn_state state;
	dlock_dial dial;     /* while it is connecting */
	redisContext *redis; /* once it is connected */
	dlock_handshake handshake;
	bool unsent;        /* bytes are left to write */
	size_t partial;     /* so much has come of an answer that is not complete */
	dlock_nanos connect_deadline;
	dlock_nanos patience; /* a bound for the server's timeouts, for who cannot wait so long */
	bool corked;          /* what is sent is kept together */
	bool peeking;         /* nothing new is begun */
	dlock_call_queue calls; /* whose replies are still to come */
	unsigned long opened; /* how often it was connected */
	unsigned long taught; /* the last of these that was sent the text of the release script */
	const dlock_script *unknown; /* the server did not know it when nobody waited for the answer any more */
	bool heard;           /* the server has said something over this connection */
	dlock_error error;    /* why the last call failed; names the server */
	/* Takes replies that answer no call: a subscription's messages. NULL: there are none. */
	void (*on_push)(void *context, const redisReply *reply);
	void *push_context;
	struct dlock_conn *next;
} dlock_conn;

dlock_conn *dlock_conn_new(dlock_server *server);
void dlock_conn_free(dlock_conn *conn);

/* Ends the connection; what is under way on it fails. */
void dlock_conn_close(dlock_conn *conn);

/* Queues the call; connects first where needed. A connection that died while idle, or whose server has owed a reply for
 * longer than its read timeout, is replaced. False (and the call failed) when that is not possible. Where a call
 * needs the server's uptime, the handshake's question for that goes ahead of it in the same round trip, once, or again where the server has
 * refused to say it. */
bool dlock_conn_send(dlock_conn *conn, dlock_call *call);

/* For what nobody waits for: sends the script as text, since nobody may be there to hear that the server does not know it; again
 * over any number of connections, until it is of no use any more. Takes the call over; NULL (out of memory): does nothing. */
void dlock_conn_tell(dlock_conn *conn, dlock_call *call, dlock_nanos useful_until);

/* Between the two, what is sent goes out in one piece at the end. */
void dlock_conn_cork(dlock_conn *conn);
void dlock_conn_uncork(dlock_conn *conn);

/* Has the server stopped answering, so that more calls would only pile up? Past its read timeout it is false again, so
 * that the next call tries a new connection. */
bool dlock_conn_stuck(dlock_conn *conn);

/* What to poll, which may change with each step, and for what; -1 and 0 when there is nothing to wait for but time. */
int dlock_conn_fd(const dlock_conn *conn);
short dlock_conn_events(const dlock_conn *conn);

/* Goes on as far as it can without blocking. To be called when that is ready. */
void dlock_conn_advance(dlock_conn *conn);

/* Takes in what has arrived already: it neither connects nor waits. */
void dlock_conn_peek(dlock_conn *conn);

/* When dlock_conn_expire() has something to do next; DLOCK_FOREVER for never. */
dlock_nanos dlock_conn_timer(const dlock_conn *conn);

/* Does what is due: fails what has taken longer than the server's timeouts allow, unless the answer has arrived by now. */
void dlock_conn_expire(dlock_conn *conn);

/* Is anything of this process under way on it? */
bool dlock_conn_busy(const dlock_conn *conn);

#endif
