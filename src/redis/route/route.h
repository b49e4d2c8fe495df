#ifndef DLOCK_REDIS_ROUTE_H
#define DLOCK_REDIS_ROUTE_H

#include "topology.h"

/* A request's way to the master of a slot, and what replicas say to it. The steps never sleep. */

/* The masters of a service, as one thread reaches them. */
typedef struct {
	dlock_pool *pool;
	dlock_topology *topology;
	int replicas;     /* the number that must confirm what is written; 0: none is asked */
	dlock_conn *conn; /* to a server with an address that stays, while the pool has lent it; NULL: it is looked for */
} dlock_masters;

/* A task. */
typedef struct {
	/* Its owner's; dlock_route_begin() has set what is usual. */
	const dlock_masters *masters;
	int slot, replicas;
	dlock_nanos until;       /* no task waits for longer; DLOCK_FOREVER: the servers' timeouts bound each step */
	dlock_nanos timeout_cap; /* bounds those */
	dlock_endpoint *hint;      /* is asked at first, where the topology does not know better; NULL: none. Retained */
	dlock_error *error;      /* why it has failed */

	/* What has become of the request. */
	dlock_conn *conn;         /* that it went over last; NULL: none */
	dlock_call *call;         /* NULL: none */
	dlock_call *confirmation; /* NULL: none */
	dlock_call *after_confirm;       /* sent behind the confirmation; NULL: none */
	bool repeated;            /* something was sent before, perhaps to others, that may be executed yet */
	bool transient;           /* it failed as happens while a server fails over, or a slot moves */
	bool asks;                /* it went to the node that the slot is moving to */

	/* Its own. */
	dlock_task task, confirming;
	dlock_endpoint *server, *next;
	int hops, replaced, answer;
	bool cancelled;
	dlock_status said, found;
	dlock_discovery discovery;
} dlock_route;

void dlock_route_begin(dlock_route *own, const dlock_masters *masters, int slot, dlock_error *error);

/* What it is to say next; takes both calls over. `after_confirm`: another call, behind the WAIT, in the same
 * packet; NULL: none. What was said before is over, and counts as repeated where it may be executed yet. */
void dlock_route_send(dlock_route *own, dlock_call *call, dlock_call *after_confirm);

/* Says it, until it is answered. Redirections are followed; where a server does not answer, or is no master any more,
 * the topology is asked, a second time if that server is named again, and another master once more. DLOCK_OK: the
 * slot's master has answered; perhaps with an error. DLOCK_CONNECTION: none has. */
dlock_status dlock_route_step(dlock_route *own, dlock_loop *loop, dlock_nanos now);

/* Until enough replicas have what the call has written. Only where it has written: WAIT answers for the last write of a
 * connection. DLOCK_CONNECTION: too few of them in time, or it is not known. */
dlock_status dlock_route_confirm(dlock_route *own, dlock_loop *loop, dlock_nanos now);

/* Of what is confirmed: until what was sent behind the WAIT is answered. DLOCK_OK: that is the route's call from then
 * on, and not confirmed. DLOCK_CONNECTION: it was not answered. */
dlock_status dlock_route_pass_on(dlock_route *own, dlock_loop *loop, dlock_nanos now);

/* Its owner needs it no more: nothing of it is sent from now on, and its step ends with what is under way. */
void dlock_route_cancel(dlock_route *own);

/* Lets go of what it has. It may be begun again. */
void dlock_route_end(dlock_route *own);

/* May it be executed yet, once or again? Then it may be so after others that follow it over another connection. */
bool dlock_route_may_run_later(const dlock_route *own);

/* Was it said without success to a server that is not the master any more? */
bool dlock_route_is_replaced(const dlock_route *own);

/* The connection to the slot's master as far as it is known; NULL: not known. */
dlock_conn *dlock_masters_conn(const dlock_masters *masters, int slot);

/* dlock_route_send() and dlock_route_step(), for callers that wait: it sleeps. */
dlock_status dlock_route_ask(dlock_route *own, dlock_call *call);

/* ---- parts of it ---- */

/* Sends the call, and behind it, in the same packet, a WAIT, where `replicas` are to confirm it, and behind that
 * another call; NULL: none. `asks`: after ASK. Returns the WAIT, to be released; NULL: none. */
dlock_call *dlock_send_with_wait(
	dlock_conn *conn, dlock_call *call, int replicas, dlock_call *after_confirm, bool asks);

/* Have `replicas` confirmed it? Not what was sent before the call was sent last, or over another connection. */
bool dlock_is_confirmed(const dlock_call *call, const dlock_call *confirmation, int replicas);

#endif
