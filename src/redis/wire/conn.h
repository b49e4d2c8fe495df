#ifndef DLOCK_REDIS_CONN_H
#define DLOCK_REDIS_CONN_H

#include "../../base/error.h"
#include "../../net/channel.h"
#include "../../net/loop.h"
#include "call.h"
#include "handshake.h"
#include "resp.h"
#include "survey.h"

/* One connection to one server, kept open over many calls and requests: it sends calls, reads their replies, and
 * resends calls over a new connection. It never blocks: connecting (channel.h) and the handshake (handshake.h) are
 * states that it goes through while it is polled: it is a source of its pool's loop. Replies come in the order of the
 * calls. */

typedef enum {
	DLOCK_CONN_CLOSED,
	DLOCK_CONN_CONNECTING, /* until there is a channel; see channel.h */
	DLOCK_CONN_HANDSHAKE,  /* until AUTH and SELECT are answered; see handshake.h */
	DLOCK_CONN_READY
} dlock_conn_state;

typedef struct dlock_conn {
	dlock_source source;
	dlock_endpoint *server;  /* the same for as long as there is the connection */
	dlock_endpoint *node;    /* describes it with the node of a cluster that is to be there; NULL: any is fine */
	int users;             /* back ends that keep its address; others ask the pool for it each time */
	unsigned long turn;    /* when the pool was last asked for it */
	bool retired;          /* closed by the pool, for want of use */
	dlock_conn_state state;
	unsigned long generation; /* of the connection: how often it was opened */
	dlock_channel channel;    /* its process is the connection's, too */
	dlock_resp resp;          /* once it is connected */
	dlock_handshake handshake;
	dlock_nanos timeout_cap; /* bounds the server's timeouts; DLOCK_FOREVER: it does not */
	bool cannot_write;       /* the peer has closed: what it sent before is read, and then the connection ends */
	bool corked;             /* calls are collected before they are written */
	bool peeking;            /* no new connection is begun */
	bool refused;            /* the last handshake was refused: the user, the password, the database */
	unsigned long sequence;  /* of the call that was sent last */
	bool heard;              /* the server has sent something over this connection */
	dlock_nanos confirmed_at; /* when replicas were last asked that have confirmed what its server had written, */
	unsigned long confirmed_generation; /* and over which connection; 0: never */
	int64_t fence; /* the fencing token of the last lock acquired over it, where that is of use; 0: none yet */
	dlock_survey survey; /* what its server and the replicas of that have said last */
	dlock_call_queue calls;  /* whose replies are still to come */
	const dlock_script
		*unknown; /* the server did not know it, but the call could not be sent again: the next one is sent as text */
	/* the last generation that was sent the text of the release script: of one lock, and of several at once */
	unsigned long release_source_sent[2];
	dlock_call *last; /* a WAIT, sent at the end of a turn of the loop, behind all else; NULL: none */
	int last_replicas; /* whom it asks */
	dlock_error error; /* why the last call failed; names the server */
	/* Takes replies that answer no call: a subscription's messages. NULL: there are none. */
	void (*on_push)(void *context, const redisReply *reply);
	void *push_context;
	struct dlock_conn *next;
} dlock_conn;

dlock_conn *dlock_conn_new(dlock_endpoint *server);
void dlock_conn_free(dlock_conn *conn);

/* Ends the connection; what is under way on it fails. */
void dlock_conn_close(dlock_conn *conn);

/* What `server` describes, at the same address, is to be there: a node of a cluster, if it is known as one. Where
 * another was expected, the connection is closed. */
void dlock_conn_expect(dlock_conn *conn, dlock_endpoint *server);

/* Queues the call, and sends it as soon as the connection is ready; opens one where needed. A connection that died
 * while idle, or whose server has owed a reply for longer than its read timeout, is replaced. False (and the call
 * failed) when that is not possible. Where the call needs the server's uptime, the handshake asks for it, ahead of the
 * call in the same round trip: once, or again while the server refuses to tell it. */
bool dlock_conn_send(dlock_conn *conn, dlock_call *call);

/* Sends a call that no caller waits for, over any number of connections while it is useful. Its script goes as text,
 * since perhaps no caller is left to read that the server does not know it. Takes the call over; NULL (out of memory):
 * does nothing. */
void dlock_conn_send_background(dlock_conn *conn, dlock_call *call, dlock_nanos useful_until);

/* Sends the call at the end of this turn of the loop, behind all else, if a caller still has it then. */
void dlock_conn_send_last(dlock_conn *conn, dlock_call *call, int replicas);

/* Between the two, calls are collected; they are written in one piece at the end. */
void dlock_conn_cork(dlock_conn *conn);
void dlock_conn_uncork(dlock_conn *conn);

/* Where the server seems to have stopped answering, so that more calls would only pile up, reads what has arrived.
 * True: it has. After the read timeout it is false again, so that the next call tries a new connection. */
bool dlock_conn_drain_if_stuck(dlock_conn *conn);

/* What to poll, which may change with each step; -1 when there is only time to wait for. */
struct pollfd dlock_conn_poll(const dlock_conn *conn);

/* Goes on as far as it can without blocking. To be called when the descriptor is ready. */
void dlock_conn_advance(dlock_conn *conn);

/* Reads what has arrived already: it neither connects nor waits. */
void dlock_conn_peek(dlock_conn *conn);

/* When dlock_conn_expire() has something to do next; DLOCK_FOREVER for never. */
dlock_nanos dlock_conn_timer(const dlock_conn *conn);

/* Fails calls that have taken longer than the timeouts allow, unless their replies have arrived by now. */
void dlock_conn_expire(dlock_conn *conn);

/* Has this process calls under way on it? */
bool dlock_conn_busy(const dlock_conn *conn);

#endif
