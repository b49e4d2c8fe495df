#ifndef DLOCK_REDIS_DELIVERY_H
#define DLOCK_REDIS_DELIVERY_H

#include "topology.h"

/* A request's way to the master of a slot, and what replicas say to it. */

typedef struct {
	dlock_pool *pool;
	dlock_topology *topology;
	int replicas;            /* the number that must confirm it; 0: none is asked */
	dlock_nanos until;       /* nobody waits for longer; DLOCK_FOREVER: the servers' timeouts bound each step */
} dlock_route;

typedef struct {
	dlock_conn *conn;         /* that it went over last; NULL: none */
	dlock_call *call;         /* NULL: none */
	dlock_call *confirmation; /* NULL: none */
	dlock_call *behind;       /* sent behind the confirmation; NULL: none */
	bool repeated;            /* other servers were asked before: it may be executed there yet */
	bool transient;           /* it failed as happens while a server fails over, or a slot moves */
} dlock_delivery;

/* Sends it, takes the call over, and waits for its answer. Redirections are followed; where a server does not answer,
 * or is no master any more, the topology is asked, and another master once more. DLOCK_OK: the slot's master has
 * answered; perhaps with an error. DLOCK_CONNECTION: nobody has. dlock_delivery_end() follows in any case. */
dlock_status dlock_deliver(
	dlock_delivery *delivery, const dlock_route *route, int slot, dlock_call *call, dlock_error *error);

/* The same, with another call behind the WAIT, in the same packet; NULL: none. It is taken over, too. */
dlock_status dlock_deliver_with(dlock_delivery *delivery, const dlock_route *route, int slot, dlock_call *call,
	dlock_call *behind, dlock_error *error);

/* Waits until enough replicas have what the call has written. Only where it has written: WAIT answers for the last
 * write of a connection. DLOCK_CONNECTION: too few of them in time, or it is not known. */
dlock_status dlock_delivery_confirm(dlock_delivery *delivery, const dlock_route *route, dlock_error *error);

/* Of what is confirmed: waits for the answer to what was sent behind the WAIT. DLOCK_OK: that is the delivery's call
 * from then on, and not confirmed. DLOCK_CONNECTION: it was not answered. */
dlock_status dlock_delivery_pass_on(dlock_delivery *delivery, const dlock_route *route, dlock_error *error);

/* May it be executed yet, once or again? Then it may be so after others that follow it over another connection. */
bool dlock_delivery_may_run_later(const dlock_delivery *delivery);

void dlock_delivery_end(dlock_delivery *delivery);

/* Asks who is the master now, and waits for the outcome. */
dlock_status dlock_route_discover(const dlock_route *route, dlock_error *error);

/* The connection to the slot's master as far as it is known; NULL: not known. */
dlock_conn *dlock_route_conn(const dlock_route *route, int slot);

/* ---- its steps, for whoever must not wait ---- */

/* Sends the call, and behind it, in the same packet, a WAIT, where `replicas` are to confirm it, and behind that
 * another call; NULL: none. `asks`: after ASK. Returns the WAIT, to be released; NULL: none. */
dlock_call *dlock_delivery_send(dlock_conn *conn, dlock_call *call, int replicas, dlock_call *behind, bool asks);

/* A WAIT for that number of replicas. NULL when out of memory. */
dlock_call *dlock_delivery_wait(const dlock_conn *conn, int replicas);

/* Of a call that was answered: was the WAIT sent behind it, over the same connection? */
bool dlock_delivery_is_behind(const dlock_call *call, const dlock_call *confirmation);

/* Have `replicas` confirmed it? Not what was sent before the call was sent last, or over another connection. */
bool dlock_delivery_is_confirmed(const dlock_call *call, const dlock_call *confirmation, int replicas);

typedef enum {
	DLOCK_ANSWER_FINAL,  /* by a master */
	DLOCK_ANSWER_MOVED,  /* the slot is at another address, */
	DLOCK_ANSWER_ASK,    /* or its keys are on their way to it */
	DLOCK_ANSWER_LATER,  /* nobody serves it at the moment, */
	DLOCK_ANSWER_UNSERVED, /* since no master has the slot */
	DLOCK_ANSWER_REPLICA /* the server is no master */
} dlock_answer;

/* Of an answered call. `address`, of MOVED and ASK, lives as long as the call. */
dlock_answer dlock_delivery_answer(const dlock_call *call, const char **address);

#endif
