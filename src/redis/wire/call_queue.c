#include "call_queue.h"

#include <stdlib.h>

dlock_call *dlock_call_queue_at(const dlock_call_queue *queue, size_t index)
{
	return queue->ring[(queue->first + index) % queue->capacity];
}

static bool grow(dlock_call_queue *queue)
{
	size_t capacity = queue->capacity ? 2 * queue->capacity : 8;
	dlock_call **ring = malloc(capacity * sizeof *ring);

	if (!ring) {
		return false;
	}
	for (size_t i = 0; i < queue->count; i++) {
		ring[i] = dlock_call_queue_at(queue, i);
	}
	free(queue->ring);
	queue->ring = ring;
	queue->capacity = capacity;
	queue->first = 0;
	return true;
}

void dlock_call_queue_requeue(dlock_call_queue *queue, dlock_call *call)
{
	queue->ring[(queue->first + queue->count++) % queue->capacity] = call;
}

bool dlock_call_queue_push(dlock_call_queue *queue, dlock_call *call)
{
	if (queue->count == queue->capacity && !grow(queue)) {
		return false;
	}
	dlock_call_queue_requeue(queue, dlock_call_retain(call));
	return true;
}

dlock_call *dlock_call_queue_shift(dlock_call_queue *queue)
{
	dlock_call *call = queue->ring[queue->first];

	queue->first = (queue->first + 1) % queue->capacity;
	queue->count--;
	return call;
}

static bool may_be_resent(const dlock_call *call, bool resend)
{
	if (!call->wanted || call->once) {
		return false;
	}
	return call->background ? dlock_now() < call->useful_until : resend && !call->repeated;
}

static void fail_oldest(dlock_call_queue *queue)
{
	dlock_call *call = dlock_call_queue_shift(queue);

	dlock_call_fail(call);
	dlock_call_release(call);
}

void dlock_call_queue_fail_others(dlock_call_queue *queue, bool resend)
{
	for (size_t left = queue->count; left > 0; left--) {
		dlock_call *call = dlock_call_queue_at(queue, 0);
		if (may_be_resent(call, resend)) {
			call->repeated = true;
			dlock_call_queue_requeue(queue, dlock_call_queue_shift(queue));
		} else {
			fail_oldest(queue);
		}
	}
}

void dlock_call_queue_clear(dlock_call_queue *queue)
{
	while (queue->count > 0) {
		fail_oldest(queue);
	}
}

void dlock_call_queue_dispose(dlock_call_queue *queue)
{
	dlock_call_queue_clear(queue);
	free(queue->ring);
}
