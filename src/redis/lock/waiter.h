#ifndef DLOCK_REDIS_WAITER_H
#define DLOCK_REDIS_WAITER_H

#include "../request/requests.h"
#include "../route/delivery.h"
#include "../wire/inbox.h"

/* How the master of a slot, whichever server that is, is asked for something that others may have: at once, and again
 * whenever it may be the waiter's turn. A fail-over, or a slot that moves, is waited for as a holder is. What is asked
 * is the caller's. */

typedef struct dlock_waiter dlock_waiter;

typedef struct {
	/* Asks once; with `queue`, to be in the queue if it is refused, told over waiter->inbox. DLOCK_TIMEOUT: not now,
	 * and the response says when to look again. DLOCK_CONNECTION with `transient`: another time, perhaps. */
	dlock_status (*attempt)(dlock_waiter *waiter, const dlock_route *route, bool queue, dlock_response *response,
		bool *transient, dlock_error *error);

	/* Out of time. DLOCK_OK: it may ask once more, since it is in no queue, or was granted it in that instant. */
	dlock_status (*leave)(dlock_waiter *waiter, dlock_error *error);

	/* The message says that it has what it waits for. True: it relies upon that. */
	bool (*accept)(dlock_waiter *waiter, const dlock_grant *grant);
} dlock_waiter_ops;

/* The first members are the caller's, set before the wait. */
struct dlock_waiter {
	const dlock_waiter_ops *ops;
	const dlock_server *service;
	const dlock_route *route;
	int slot;
	dlock_nanos ttl;
	const char *name;      /* in messages */

	int64_t ticket;        /* keeps its position in the queue, on whichever server; 0: none yet */
	int64_t number;        /* of the last request */
	bool waited;           /* it was refused at first */
	bool received;         /* it was told that it is its turn, since it was refused last */
	bool settled_just_now; /* set by attempt(): the era was settled for it, so that it may ask again */
	dlock_inbox *inbox;    /* of the master where it waits */
	const dlock_server *queued_at; /* whose queue it is in; only compared, or used as long as its connection is */
	dlock_nanos refused_at; /* when the last request that was refused in the queue was sent, for the first time */
	dlock_nanos next_look;         /* when to look again without having been told */
	dlock_nanos trouble_since;     /* nobody could be asked since then; 0: somebody could */
};

/* Until it has it (DLOCK_OK), until wait->deadline (DLOCK_TIMEOUT), or until interrupted (DLOCK_INTERRUPTED: call again
 * to resume); otherwise as attempt(). */
dlock_status dlock_waiter_acquire(dlock_waiter *waiter, const dlock_wait *wait, dlock_error *error);

/* For attempt(): the server has refused it. */
void dlock_waiter_refused(
	dlock_waiter *waiter, const dlock_delivery *delivery, bool queue, const dlock_response *response);

/* For leave(): a route that ends soon and asks no replicas. */
dlock_route dlock_waiter_last_route(const dlock_waiter *waiter);

#endif
