#ifndef DLOCK_REDIS_WAIT_H
#define DLOCK_REDIS_WAIT_H

#include "../request/requests.h"
#include "../route/route.h"
#include "../wire/inbox.h"

/* How a waiter asks the master of a slot, whichever server that is, for something that other clients may hold. It asks
 * at once, and again whenever its turn may have come. If the server fails over or the slot moves, it waits for the end
 * of that as for a holder. Its owner defines what it asks for. This is a task: its steps never sleep. */

typedef struct dlock_waiter dlock_waiter;

/* The owner's parts of the task, which use waiter->route. */
typedef struct {
	/* Asks once, until waiter->until. With waiter->queue, a waiter that is refused joins the queue, and is notified at
	 * waiter->inbox. DLOCK_OK: it has acquired what it waits for. DLOCK_TIMEOUT: it was refused, and waiter->response
	 * says when to look again. DLOCK_CONNECTION with waiter->transient: a later attempt may succeed. */
	dlock_status (*attempt)(dlock_waiter *waiter, dlock_loop *loop, dlock_nanos now);

	/* Leaves the queue when the time has passed. DLOCK_OK: the waiter may ask once more, because it is in no queue or
	 * was granted the lock in that instant. */
	dlock_status (*leave)(dlock_waiter *waiter, dlock_loop *loop, dlock_nanos now);

	/* A message says that the waiter was granted what it waits for. True: the waiter relies on that. False: it asks. */
	bool (*accept)(dlock_waiter *waiter, const dlock_grant *grant, dlock_nanos now);
} dlock_waiter_ops;

struct dlock_waiter {
	/* Set by the owner before the wait. */
	const dlock_waiter_ops *ops;
	const dlock_endpoint *service;
	const dlock_masters *masters;
	int slot;
	dlock_nanos ttl, deadline;
	const char *name;    /* by which messages name the waiter */
	bool legacy;         /* older code uses the same lock, and notifies no waiter of a release */
	/* other strands of this process may ask meanwhile, and all queue in the order in which they ask */
	bool is_strand;
	bool needs_inbox;    /* if the inbox cannot be opened, the wait fails, unless the server refuses it */
	dlock_error *error;

	int64_t ticket;        /* its position in the queue, on whichever server; 0: none yet */
	int64_t number;        /* of the last request */
	bool waited;           /* an attempt was refused or met trouble */
	bool received;         /* it was notified of its turn after it was last refused */
	dlock_inbox *inbox;    /* at the master where it waits */
	/* The server whose queue it is in. Its connection keeps it in memory until the request ends. */
	const dlock_endpoint
		*queued_at;
	unsigned long queued_over; /* the generation of the inbox's connection at that time */
	dlock_nanos refused_at; /* when the last request that was refused and queued was first sent */

	/* The attempt under way. */
	bool queue;
	dlock_nanos until;
	dlock_response response;
	bool transient;
	bool settled_just_now; /* set by attempt(): the epoch has just settled, so the waiter may ask again */
	dlock_route route;

	/* Internal state. */
	dlock_task task, turn;
	bool last, first, trouble, granted, listening;
	dlock_nanos trouble_since; /* since when no master has answered; 0: one has */
	dlock_nanos over_since;    /* when the waiter has noticed that its time is up; 0: not yet */
	dlock_nanos next;          /* when it goes on without a message */
	dlock_status said;
	dlock_opening opening;
};

/* Waits until it has acquired what it waits for (DLOCK_OK), or until the deadline (DLOCK_TIMEOUT). Returns any other
 * outcome of attempt(). While it waits for other clients, it lends the thread, and the caller may resume it after an
 * interruption. */
dlock_status dlock_waiter_step(void *waiter, dlock_loop *loop, dlock_nanos now);

/* Ends the wait: from now on, nothing that it has begun is sent. The owner releases what servers may have granted
 * it. */
void dlock_waiter_drop(dlock_waiter *waiter);

/* For attempt(): notes that the server has refused the waiter, over this route. */
void dlock_waiter_refused(dlock_waiter *waiter, const dlock_route *route, const dlock_response *response);

/* For attempt(): begins waiter->route, which waiter->until limits. */
void dlock_waiter_begin_route(dlock_waiter *waiter);
/* For leave(): begins a route that ends soon and asks no replicas. */
void dlock_waiter_begin_last_route(dlock_waiter *waiter);

/* ---- how long a wait may outlast its deadline ---- */

/* When an attempt ends, however slowly its servers connect and answer. Each step has its own timeout, but several steps
 * may follow one another. An attempt that begins before the deadline (`over_since` is 0), or the only one, may take a
 * connection and an answer, or two answers. What follows shares one answer's time, and what is left of that
 * attempt's. */
dlock_nanos dlock_longest_attempt(
	dlock_nanos deadline, dlock_nanos over_since, bool waited, dlock_nanos connecting, dlock_nanos answer);

/* ---- when a waiter looks again without a message ---- */

/* How long a grant lasts that its waiter does not accept; GRACE in handover.lua. */
#define DLOCK_GRANT_TTL (3 * DLOCK_SECOND)

/* When a waiter looks: as its sign of life, and when the holder's lease should have ended. If its own lease time `ttl`
 * is short, also when another waiter may have held the lock for as long. A waiter further back in the queue looks
 * later, so that not all look at once. */
dlock_nanos dlock_next_look(const dlock_response *refusal, dlock_nanos ttl, dlock_nanos now);

/* The same for a lock that older code uses, too, which notifies no waiter of a release. */
dlock_nanos dlock_next_look_legacy(const dlock_response *refusal, dlock_nanos ttl, dlock_nanos now);

/* The same for a waiter that no server can notify; see dlock_inbox_can_notify(). */
dlock_nanos dlock_next_look_unnotified(const dlock_response *refusal, dlock_nanos ttl, dlock_nanos now);

#endif
