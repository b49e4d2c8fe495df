#ifndef DLOCK_MEMCACHED_CONN_H
#define DLOCK_MEMCACHED_CONN_H

#include <poll.h>

#include "../base/error.h"
#include "../net/channel.h"
#include "../net/pool.h"
#include "request.h"
#include "server_clock.h"

/* One connection to one memcached server, kept over many requests. It never blocks: connecting and asking for the
 * version are states that it passes through while the loop polls it. Replies come in the order of the requests. Nothing
 * is sent twice: whether a request was executed that has no reply, its sender has to find out. */

typedef enum {
	DLOCK_MEMCACHED_CLOSED,
	DLOCK_MEMCACHED_CONNECTING,
	DLOCK_MEMCACHED_HANDSHAKE, /* until the version is known */
	DLOCK_MEMCACHED_READY
} dlock_memcached_conn_state;

typedef struct {
	dlock_net_conn base; /* `opened` is the generation of the connection */
	dlock_memcached_conn_state state;
	dlock_channel channel;
	dlock_memcached_request *first, *last; /* whose replies are still to come */
	dlock_memcached_request *unsent; /* the first that was not handed to the channel yet; NULL: none */
	char line[256];        /* of a reply, as far as it has come */
	size_t line_len;
	dlock_memcached_reply reply; /* the one that is coming in */
	bool in_value;         /* its line is complete, its value is to come */
	size_t value_got;      /* bytes of it, with its line end */
	dlock_memcached_clock clock; /* the server's, as read over this connection */
	dlock_nanos late;      /* by the last reading */
	dlock_error error;     /* why the last request failed; names the server */
} dlock_memcached_conn;

/* The pool's to this server whose timeouts are at most this long. NULL when out of memory. */
dlock_memcached_conn *dlock_memcached_conn_of(dlock_net_pool *pool, dlock_endpoint *server, dlock_nanos timeout_cap);

/* Queues the request and retains it. Connects where needed: a connection that was closed by the server while it was
 * idle is replaced. Where that is not possible, the request has failed. */
void dlock_memcached_send(dlock_memcached_conn *conn, dlock_memcached_request *request);

/* For what has a CAS in it: a server that was started again counts these anew, so that an old one may come to be
 * another holder's. Sends over the connection with that generation alone; where there is another one, or none, the
 * request has failed and is not sent. */
void dlock_memcached_send_over(dlock_memcached_conn *conn, dlock_memcached_request *request, unsigned long opened);

/* Has it requests of this process under way? */
bool dlock_memcached_is_busy(const dlock_memcached_conn *conn);

#endif
