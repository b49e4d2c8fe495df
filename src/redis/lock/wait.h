#ifndef DLOCK_REDIS_WAIT_H
#define DLOCK_REDIS_WAIT_H

#include "../request/requests.h"
#include "../route/route.h"
#include "../wire/inbox.h"

/* How the master of a slot, whichever server that is, is asked for something that others may have: at once, and again
 * whenever it may be the waiter's turn. A fail-over, or a slot that moves, is waited for as a holder is. What is asked
 * is its owner's. A task; its steps never sleep. */

typedef struct dlock_waiter dlock_waiter;

/* Parts of the task, on waiter->route. */
typedef struct {
	/* Asks once, until waiter->until; with waiter->queue, to be in the queue if it is refused, told over waiter->inbox.
	 * DLOCK_TIMEOUT: not now, and waiter->response says when to look again. DLOCK_CONNECTION with waiter->transient:
	 * another time, perhaps. */
	dlock_status (*attempt)(dlock_waiter *waiter, dlock_loop *loop, dlock_nanos now);

	/* Out of time. DLOCK_OK: it may ask once more, since it is in no queue, or was granted it in that instant. */
	dlock_status (*leave)(dlock_waiter *waiter, dlock_loop *loop, dlock_nanos now);

	/* The message says that it has what it waits for. True: it relies upon that. */
	bool (*accept)(dlock_waiter *waiter, const dlock_grant *grant, dlock_nanos now);
} dlock_waiter_ops;

struct dlock_waiter {
	/* Its owner's, set before the wait. */
	const dlock_waiter_ops *ops;
	const dlock_endpoint *service;
	const dlock_masters *masters;
	int slot;
	dlock_nanos ttl, deadline;
	const char *name;    /* in messages */
	bool legacy;         /* older code locks it, too, and notifies no waiter of a release */
	bool is_strand;      /* others of this process may ask while it does: they are to be in the queue in that order */
	bool needs_inbox;    /* unless the server refuses one, it is an error that it cannot be opened */
	dlock_error *error;

	int64_t ticket;        /* keeps its position in the queue, on whichever server; 0: none yet */
	int64_t number;        /* of the last request */
	bool waited;           /* it was refused at first */
	bool received;         /* it was told that it is its turn, since it was refused last */
	dlock_inbox *inbox;    /* of the master where it waits */
	const dlock_endpoint
		*queued_at;         /* whose queue it is in; its connection, and so it, lasts to the end of the request */
	unsigned long queued_over; /* the generation of the inbox's connection that it was told of there */
	dlock_nanos refused_at; /* when the last request that was refused in the queue was sent, for the first time */

	/* Of the attempt. */
	bool queue;
	dlock_nanos until;
	dlock_response response;
	bool transient;
	bool settled_just_now; /* set by attempt(): the epoch was settled for it, so that it may ask again */
	dlock_route route;

	/* Its own. */
	dlock_task task, turn;
	bool last, first, trouble, granted, listening;
	dlock_nanos trouble_since; /* no master could be asked since then; 0: one could */
	dlock_nanos over_since;    /* it has seen then that it is out of time; 0: it is not */
	dlock_nanos next;          /* when to go on without having been told */
	dlock_status said;
	dlock_opening opening;
};

/* Until it has it (DLOCK_OK), until the deadline (DLOCK_TIMEOUT); otherwise as attempt(). While it waits for others it
 * lends the thread, and can be gone on with after an interruption. */
dlock_status dlock_waiter_step(void *waiter, dlock_loop *loop, dlock_nanos now);

/* What it has begun is over: as it is now, nothing of it is sent any more. What the servers may have of it is the
 * owner's to take back. */
void dlock_waiter_drop(dlock_waiter *waiter);

/* For attempt(): the server has refused it, over this route. */
void dlock_waiter_refused(dlock_waiter *waiter, const dlock_route *route, const dlock_response *response);

/* For attempt() and leave(). */
void dlock_waiter_begin_route(dlock_waiter *waiter);
/* For leave(): one that ends soon and asks no replicas. */
void dlock_waiter_begin_last_route(dlock_waiter *waiter);

/* ---- how long a wait may take beyond its time ---- */

/* Until when an attempt goes on, however slowly its servers connect and answer: each step has its own timeout, but
 * several of them may follow one another. One that is begun before the deadline (`over_since` 0), or the only one, has
 * the time to connect and of an answer, or of two answers. What comes after that shares one answer's time, and what is
 * left of the former. */
dlock_nanos dlock_longest_attempt(
	dlock_nanos deadline, dlock_nanos over_since, bool waited, dlock_nanos connecting, dlock_nanos answer);

/* ---- when a waiter looks again by itself ---- */

/* How long a grant lasts that is not taken up; GRACE in handover.lua. */
#define DLOCK_GRANT_TTL (3 * DLOCK_SECOND)

/* As its sign of life, and when the holder's lease should be over, or one as long as its own, `ttl`, that another
 * waiter has had since. The further back in the queue, the later, so that not all look at once. */
dlock_nanos dlock_next_look(const dlock_response *refusal, dlock_nanos ttl, dlock_nanos now);

/* The same for locks shared with older code, which notifies no waiter of a release. */
dlock_nanos dlock_next_look_legacy(const dlock_response *refusal, dlock_nanos ttl, dlock_nanos now);

/* The same for a waiter that cannot be notified of anything; see dlock_inbox_can_notify(). */
dlock_nanos dlock_next_look_unnotified(const dlock_response *refusal, dlock_nanos ttl, dlock_nanos now);

#endif
