#ifndef DLOCK_REDIS_CONN_H
#define DLOCK_REDIS_CONN_H

#include "../../base/error.h"
#include "../../net/channel.h"
#include "../../net/loop.h"
#include "call.h"
#include "handshake.h"
#include "resp.h"
#include "survey.h"

/* One connection to one server, kept open over many calls and requests. It sends calls, reads their replies, and sends
 * calls again over a new connection. It never blocks: it connects (channel.h) and logs in (handshake.h) while its
 * pool's loop polls it as a source. Replies come in the order of the calls. */

typedef enum {
	DLOCK_CONN_CLOSED,
	DLOCK_CONN_CONNECTING, /* until there is a channel; see channel.h */
	DLOCK_CONN_HANDSHAKE,  /* until AUTH and SELECT are answered; see handshake.h */
	DLOCK_CONN_READY
} dlock_conn_state;

typedef struct dlock_conn {
	dlock_source source;
	dlock_endpoint *server; /* the same for the life of this struct */
	dlock_endpoint *node;   /* the cluster node that must be at the server's address; NULL: any node */
	int users;              /* back ends that keep its address; other users ask the pool for it each time */
	unsigned long turn;     /* when a user last asked the pool for it */
	bool retired;           /* the pool has closed it, because it was not used */
	dlock_conn_state state;
	unsigned long generation; /* how often it was opened */
	dlock_channel channel;    /* the channel's process is the connection's, too */
	dlock_resp resp;          /* once it is connected */
	dlock_handshake handshake;
	dlock_nanos timeout_cap;            /* bounds the server's timeouts; DLOCK_FOREVER: does not */
	bool cannot_write;                  /* the peer has closed: its last bytes are read, and then the connection ends */
	bool corked;                        /* calls are collected before they are written */
	bool peeking;                       /* no new connection is begun */
	bool refused;                       /* the last handshake was refused: the user, the password, the database */
	unsigned long sequence;             /* the place of the last call sent */
	bool heard;                         /* the server has sent something over this connection */
	dlock_nanos confirmed_at;           /* when replicas were last asked that have confirmed the server's writes */
	unsigned long confirmed_generation; /* over which connection they were asked; 0: never */
	int64_t fence;                      /* the last fencing token acquired over it, if it is of use; 0: none yet */
	dlock_survey survey;                /* what the server and its replicas last said */
	dlock_call_queue calls;             /* calls whose replies are still to come */
	const dlock_script
		*unknown; /* the server did not know it, but its call may not be sent again: the next call sends the text */
	/* the last generation that was sent the text of the release script: for one lock, and for several */
	unsigned long release_source_sent[2];
	dlock_call *last;  /* a WAIT, sent at the end of a turn of the loop, behind all other calls; NULL: none */
	int last_replicas; /* how many replicas it asks */
	dlock_error error; /* why the last call failed; it names the server */
	/* Handles replies that answer no call: a subscription's messages. NULL: there are none. */
	void (*on_push)(void *context, const redisReply *reply);
	void *push_context;
	struct dlock_conn *next;
} dlock_conn;

dlock_conn *dlock_conn_new(dlock_endpoint *server);
void dlock_conn_free(dlock_conn *conn);

/* Ends the connection, and fails the calls under way on it. */
void dlock_conn_close(dlock_conn *conn);

/* Expects the cluster node that `server` describes, if its id is known; the address is the same. If another node was
 * expected, the connection is closed. */
void dlock_conn_expect(dlock_conn *conn, dlock_endpoint *server);

/* Queues the call, and sends it as soon as the connection is ready; opens one if needed. A connection is replaced if it
 * died while idle, or if its server has owed a reply for longer than the read timeout. False, with the call failed:
 * that is not possible. If the call needs the server's uptime, the handshake asks for it ahead of the call, in the same
 * round trip. It asks once, and again while the server refuses to tell it, or if the answer was read late. */
bool dlock_conn_send(dlock_conn *conn, dlock_call *call);

/* Sends a call that no caller waits for, over any number of connections while it is useful. A second new connection is
 * opened only with the next call. The script goes as text, because perhaps no caller is left to read that the server
 * does not know it. Takes over the call; NULL (out of memory): does nothing. */
void dlock_conn_send_background(dlock_conn *conn, dlock_call *call, dlock_nanos useful_until);

/* Sends the call at the end of this turn of the loop, behind all other calls, if a caller still has it then. */
void dlock_conn_send_last(dlock_conn *conn, dlock_call *call, int replicas);

/* Calls between these two are collected, and written in one piece at the end. */
void dlock_conn_cork(dlock_conn *conn);
void dlock_conn_uncork(dlock_conn *conn);

/* If the server seems to have stopped answering, so that more calls would only pile up, reads what has arrived. True:
 * the server has stopped. After the read timeout the result is false again, so that the next call tries a new
 * connection. */
bool dlock_conn_drain_if_stuck(dlock_conn *conn);

/* The descriptor and events to poll, which may change with each step. Descriptor -1: there is only time to wait for. */
struct pollfd dlock_conn_poll(const dlock_conn *conn);

/* Continues as far as possible without blocking. The loop calls it when the descriptor is ready. */
void dlock_conn_advance(dlock_conn *conn);

/* Reads what has already arrived: neither connects nor waits. */
void dlock_conn_peek(dlock_conn *conn);

/* When dlock_conn_expire() has something to do next; DLOCK_FOREVER: never. */
dlock_nanos dlock_conn_timer(const dlock_conn *conn);

/* Fails calls that have taken longer than the timeouts allow, unless their replies have arrived by now. */
void dlock_conn_expire(dlock_conn *conn);

/* Does this process have calls under way on the connection? */
bool dlock_conn_busy(const dlock_conn *conn);

#endif
