#ifndef DLOCK_REDIS_ROUTE_H
#define DLOCK_REDIS_ROUTE_H

#include "topology.h"

/* A request's way to the master of a slot, and its confirmation by replicas. The steps never sleep. */

/* The masters of a service, as one thread reaches them. */
typedef struct {
	dlock_pool *pool;
	dlock_topology *topology;
	int replicas;     /* how many must confirm a write; 0: none is asked */
	dlock_conn *conn; /* to a server with a fixed address, while the pool lends it; NULL: each call asks the pool */
} dlock_masters;

/* A task. */
typedef struct {
	/* Set by the owner; dlock_route_begin() sets the defaults. */
	const dlock_masters *masters;
	int slot, replicas;
	/* the latest end of each wait; DLOCK_FOREVER: only the servers' timeouts bound each step */
	dlock_nanos until;
	dlock_nanos timeout_cap; /* bounds the servers' timeouts */
	dlock_endpoint *hint;    /* the server to ask first; NULL: the topology's master. Retained */
	dlock_error *error;      /* why the route has failed */

	/* The outcome. */
	dlock_conn *conn;          /* the last one that the call went over; NULL: none */
	dlock_call *call;          /* NULL: none */
	dlock_call *confirmation;  /* NULL: none */
	dlock_call *after_confirm; /* sent behind the confirmation; NULL: none */
	bool repeated;             /* an earlier sending, perhaps to another server, may still be executed */
	bool transient;            /* it failed as calls do while a server fails over or a slot moves */
	bool asks;                 /* it went to the node to which the slot is moving */

	/* Internal. */
	dlock_task task, confirming;
	dlock_endpoint *server, *next;
	int hops, replaced, answer;
	bool cancelled;
	dlock_status said, found;
	dlock_discovery discovery;
} dlock_route;

void dlock_route_begin(dlock_route *own, const dlock_masters *masters, int slot, dlock_error *error);

/* Sets the call to send next, and takes over both calls. `after_confirm`: another call, sent behind the WAIT in the
 * same packet; NULL: none. The previous call ends. If it may still be executed, the route counts as repeated. */
void dlock_route_send(dlock_route *own, dlock_call *call, dlock_call *after_confirm);

/* Sends the call until it is answered, and follows redirections. If a server does not answer, or is no longer the
 * master, the topology asks for another one. It asks at most twice: again if it names the same server, or if the next
 * one fails, too. DLOCK_OK: the slot's master has answered, perhaps with an error. DLOCK_CONNECTION: no master has
 * answered. */
dlock_status dlock_route_step(dlock_route *own, dlock_loop *loop, dlock_nanos now);

/* Waits until enough replicas have what the call has written. The call must have written something, because WAIT
 * answers for the last write of a connection. DLOCK_CONNECTION: too few confirmed in time, or it is not known. */
dlock_status dlock_route_confirm(dlock_route *own, dlock_loop *loop, dlock_nanos now);

/* After a confirmation, waits until the call behind the WAIT is answered. DLOCK_OK: that call is now the route's call,
 * and is not confirmed. DLOCK_CONNECTION: it was not answered. */
dlock_status dlock_route_pass_on(dlock_route *own, dlock_loop *loop, dlock_nanos now);

/* The owner no longer needs the route. Nothing of it is sent from now on, and its step ends with what is under way. */
void dlock_route_cancel(dlock_route *own);

/* Frees what the route has. It may be begun again. */
void dlock_route_end(dlock_route *own);

/* May a server still execute the call, once or again? Then it may do so after later calls over another connection. */
bool dlock_route_may_run_later(const dlock_route *own);

/* Was the call sent without success to a server that is no longer the master? */
bool dlock_route_is_replaced(const dlock_route *own);

/* The connection to the slot's known master; NULL: no master is known. */
dlock_conn *dlock_masters_conn(const dlock_masters *masters, int slot);

/* dlock_route_send() and dlock_route_step() for callers that wait; sleeps. */
dlock_status dlock_route_ask(dlock_route *own, dlock_call *call);

/* ---- parts of it ---- */

/* Sends the call, then a WAIT if `replicas` must confirm it, then another call (NULL: none), all in one packet. `asks`:
 * each call follows ASKING. Returns the WAIT, which the caller must release; NULL: none. */
dlock_call *dlock_send_with_wait(
	dlock_conn *conn, dlock_call *call, int replicas, dlock_call *after_confirm, bool asks);

/* Have `replicas` replicas confirmed the call? A WAIT that was sent before the last sending of the call, or over
 * another connection, proves nothing. */
bool dlock_is_confirmed(const dlock_call *call, const dlock_call *confirmation, int replicas);

#endif
