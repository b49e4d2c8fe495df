#ifndef DLOCK_MEMCACHED_CONN_H
#define DLOCK_MEMCACHED_CONN_H

#include <poll.h>

#include "../base/error.h"
#include "../net/channel.h"
#include "../net/pool.h"
#include "request.h"
#include "server_clock.h"

/* One connection to one memcached server, kept across many requests. It never blocks: connecting and asking for the
 * version are states that it passes while the loop polls it. Replies come in the order of the requests. It never
 * repeats a request: if a reply is missing, the sender has to find out whether the server executed the request. */

typedef enum {
	DLOCK_MEMCACHED_CLOSED,
	DLOCK_MEMCACHED_CONNECTING,
	DLOCK_MEMCACHED_HANDSHAKE, /* until the version is known */
	DLOCK_MEMCACHED_READY
} dlock_memcached_conn_state;

typedef struct {
	dlock_net_conn base; /* `opened` is the connection's generation */
	dlock_memcached_conn_state state;
	dlock_channel channel;
	dlock_memcached_request *first, *last; /* the requests whose replies are missing */
	dlock_memcached_request *unsent; /* the first request that was not handed to the channel; NULL: none */
	char line[256];        /* of a reply, as far as it has arrived */
	size_t line_len;
	dlock_memcached_reply reply; /* the reply that is arriving */
	bool in_value;         /* its line is complete, its value is still arriving */
	size_t value_got;      /* bytes of the value and its line end that have arrived */
	dlock_memcached_clock clock; /* the server's clock, as this connection has read it */
	dlock_nanos late;      /* how late it was at the last reading */
	dlock_error error;     /* why the last request failed; names the server */
} dlock_memcached_conn;

/* Returns the pool's connection to this server whose timeouts are at most `timeout_cap`. NULL if out of memory. */
dlock_memcached_conn *dlock_memcached_conn_of(dlock_net_pool *pool, dlock_endpoint *server, dlock_nanos timeout_cap);

/* Queues the request and retains it. Connects if necessary, also if the server has closed an idle connection. If it
 * cannot connect, the request's state is FAILED. */
void dlock_memcached_send(dlock_memcached_conn *conn, dlock_memcached_request *request);

/* Sends a request that contains a CAS. A restarted server counts CAS values from the beginning, so an old one may
 * become that of another holder. The request is sent over the connection with generation `opened` only; if that one is
 * closed, its state is FAILED and it is not sent. */
void dlock_memcached_send_over(dlock_memcached_conn *conn, dlock_memcached_request *request, unsigned long opened);

/* No caller needs the answer any more. If the request was not sent yet, it is not sent at all. Accepts NULL. */
void dlock_memcached_cancel(dlock_memcached_conn *conn, dlock_memcached_request *request);

/* Are requests of this process under way? */
bool dlock_memcached_is_busy(const dlock_memcached_conn *conn);

#endif
