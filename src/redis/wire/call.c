#include "call.h"

#include <stdlib.h>
#include <string.h>

dlock_arg dlock_number_arg(dlock_number *out, int64_t value)
{
	char *end = out->text + sizeof out->text, *at = end;
	uint64_t rest = value < 0 ? -(uint64_t) value : (uint64_t) value;

	do {
		*--at = (char) ('0' + rest % 10);
		rest /= 10;
	} while (rest > 0);
	if (value < 0) {
		*--at = '-';
	}
	return (dlock_arg) { at, (size_t) (end - at) };
}

static dlock_call *call_new(const dlock_script *script, int keys, const dlock_arg *args, int count)
{
	dlock_number number;
	dlock_arg key_count = dlock_number_arg(&number, keys);
	size_t size = key_count.len;
	int head = script ? 3 : 0;

	if (head + count > DLOCK_CALL_MOST_WORDS) {
		return NULL;
	}
	for (int i = 0; i < count; i++) {
		size += args[i].len;
	}
	size_t words = (size_t) (head + count);
	dlock_call *call = malloc(sizeof *call + words * (sizeof *call->word + sizeof *call->word_len) + size);
	if (!call) {
		return NULL;
	}
	memset(call, 0, sizeof *call);
	call->word_len = (size_t *) (call->word + words);
	call->references = 1;
	call->wanted = true;
	call->script = call->origin = script;
	call->keys = keys;
	call->words = head + count;

	char *out = (char *) (call->word_len + words);
	if (script) {
		call->word[0] = "EVALSHA";
		call->word_len[0] = strlen("EVALSHA");
		call->word[1] = script->sha1;
		call->word_len[1] = strlen(script->sha1);
		call->word[2] = memcpy(out, key_count.text, key_count.len);
		call->word_len[2] = key_count.len;
		out += key_count.len;
	}
	for (int i = 0; i < count; i++) {
		call->word[head + i] = memcpy(out, args[i].text, args[i].len);
		call->word_len[head + i] = args[i].len;
		out += args[i].len;
	}
	return call;
}

dlock_call *dlock_call_script(dlock_script_id script, int keys, const dlock_arg *words, int count, int least)
{
	while (count > least && words[count - 1].len == 0) {
		count--;
	}
	return call_new(&dlock_scripts[script], keys, words, count);
}

dlock_call *dlock_call_script_on(
	dlock_script_id script, const dlock_arg *keys, int key_count, const dlock_arg *args, int count, int least)
{
	dlock_arg words[DLOCK_CALL_MOST_WORDS];

	if (key_count + count > DLOCK_CALL_MOST_WORDS) {
		return NULL;
	}
	memcpy(words, keys, (size_t) key_count * sizeof *keys);
	memcpy(words + key_count, args, (size_t) count * sizeof *args);
	return dlock_call_script(script, key_count, words, key_count + count, key_count + least);
}

dlock_call *dlock_call_command(const dlock_arg *args, int count)
{
	return call_new(NULL, 0, args, count);
}

dlock_call *dlock_call_again(const dlock_call *call)
{
	dlock_arg args[DLOCK_CALL_MOST_WORDS];
	int head = call->origin ? 3 : 0;

	for (int i = head; i < call->words; i++) {
		args[i - head] = (dlock_arg) { call->word[i], call->word_len[i] };
	}
	return call_new(call->origin, call->keys, args, call->words - head);
}

void dlock_call_use_source(dlock_call *call)
{
	call->word[0] = "EVAL";
	call->word_len[0] = strlen("EVAL");
	call->word[1] = call->script->source;
	call->word_len[1] = strlen(call->script->source);
	call->script = NULL;
}

void dlock_call_to_background(dlock_call *call, dlock_nanos useful_until)
{
	call->background = true;
	call->useful_until = useful_until;
}

dlock_call *dlock_call_retain(dlock_call *call)
{
	call->references++;
	return call;
}

void dlock_call_release(dlock_call *call)
{
	if (call && --call->references == 0) {
		if (call->reply) {
			freeReplyObject(call->reply);
		}
		free(call);
	}
}

void dlock_call_cancel(dlock_call *call)
{
	call->wanted = false;
}

void dlock_call_cancel_sending(dlock_call *call)
{
	if (call->sent) {
		call->once = true;
	} else {
		dlock_call_cancel(call);
	}
}

void dlock_call_answer(dlock_call *call, redisReply *reply)
{
	if (call->state != DLOCK_CALL_PENDING) { /* it came after the caller's time was over */
		freeReplyObject(reply);
		return;
	}
	call->state = DLOCK_CALL_ANSWERED;
	call->reply = reply;
}

void dlock_call_fail(dlock_call *call)
{
	if (call->state == DLOCK_CALL_PENDING) {
		call->state = DLOCK_CALL_FAILED;
	}
	call->wanted = false;
}

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

bool dlock_call_queue_fail_others(dlock_call_queue *queue, bool resend)
{
	bool first = false;

	for (size_t left = queue->count; left > 0; left--) {
		dlock_call *call = dlock_call_queue_at(queue, 0);
		if (may_be_resent(call, resend)) {
			first |= !call->repeated;
			call->repeated = true;
			dlock_call_queue_requeue(queue, dlock_call_queue_shift(queue));
		} else {
			fail_oldest(queue);
		}
	}
	return first;
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
