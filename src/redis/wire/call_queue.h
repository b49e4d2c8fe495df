#ifndef DLOCK_REDIS_CALL_QUEUE_H
#define DLOCK_REDIS_CALL_QUEUE_H

#include "call.h"

/* The calls of one connection, oldest first: the order in which they are sent, and in which their replies come. The
 * queue has a reference to each. */
typedef struct {
	dlock_call **ring;
	size_t first, count, capacity;
} dlock_call_queue;

dlock_call *dlock_call_queue_at(const dlock_call_queue *queue, size_t index);

/* False when out of memory. */
bool dlock_call_queue_push(dlock_call_queue *queue, dlock_call *call);

/* Takes the oldest one out, with the queue's reference. */
dlock_call *dlock_call_queue_shift(dlock_call_queue *queue);

/* Puts a call that has just been taken out at the end, with its reference: for that there is room. */
void dlock_call_queue_requeue(dlock_call_queue *queue, dlock_call *call);

/* Their connection is gone: fails all but those for the next one. Background calls are kept while they
 * are useful: a lock that a server gave late must be released there, also after it was out of reach for a while. With
 * `resend`, so are calls that were sent for the first time: the connection may have died while it was idle, and every
 * command may be repeated. */
void dlock_call_queue_fail_others(dlock_call_queue *queue, bool resend);

/* Fails all of them. */
void dlock_call_queue_clear(dlock_call_queue *queue);

/* Clears it and frees its memory. */
void dlock_call_queue_dispose(dlock_call_queue *queue);

#endif
