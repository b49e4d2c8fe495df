#ifndef DLOCK_REDIS_CALL_H
#define DLOCK_REDIS_CALL_H

#include <hiredis/hiredis.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "../../base/clock.h"
#include "../../base/text.h"
#include "../script/scripts.h"

/* One command and its reply, and the calls of one connection, in order. A call is shared by the caller and the
 * connection that carries it: the caller may leave early, and the connection still knows which reply belongs to which
 * command. */

/* Room for a number as an argument. */
typedef struct {
	char text[24];
} dlock_number;

dlock_arg dlock_number_arg(dlock_number *out, int64_t value);

typedef enum {
	DLOCK_CALL_PENDING,
	DLOCK_CALL_ANSWERED, /* `reply` is there; it may be an error of the server's */
	DLOCK_CALL_FAILED    /* no reply will come; the connection's error says why */
} dlock_call_state;

/* As many words as a call has at most; of those that are numbers, dlock_add_ints() in arguments.h. */
enum { DLOCK_CALL_MOST_WORDS = 256, DLOCK_CALL_WORDS = 40 };

typedef struct dlock_call {
	unsigned references;
	dlock_call_state state;
	bool wanted;       /* still worth sending, over a new connection or as the script's text */
	bool once;         /* not to be sent again, since another call that follows undoes it */
	bool sent;         /* handed to the connection: the server may execute it, now or later */
	bool background;   /* no caller waits for it */
	bool repeated;     /* has been sent again over a new connection */
	bool needs_uptime; /* its connection has to ask for the server's uptime; see handshake.h */
	dlock_nanos useful_until;   /* in the background: sent again over any number of connections until then */
	dlock_nanos sent_at;        /* just before it was sent last: its reply is to that */
	/* just before it was sent first: without a reply, it may have been executed since then */
	dlock_nanos first_sent_at;
	/* when it had been written: the server owes its reply since then; DLOCK_FOREVER: it has yet to be */
	dlock_nanos owed_since;
	unsigned long generation; /* of the connection that it was sent over last */
	unsigned long sequence;   /* its place among all that was sent there */
	dlock_nanos server_started; /* of an answered call: its server was started then or before; see info.h */
	redisReply *reply;
	const dlock_script *script; /* NULL: sent as text, or no script */
	const dlock_script *origin; /* NULL: no script */
	int keys; /* of a script */
	int words;
	size_t *word_len;
	const char *word[]; /* behind them their lengths and texts */
} dlock_call;

/* EVALSHA of a script, with words that are copied: the first `keys` of them are its keys. Words that are empty are left
 * out at the end, except for the first `least`. NULL when out of memory. */
dlock_call *dlock_call_script(dlock_script_id script, int keys, const dlock_arg *words, int count, int least);
/* The same of a script that takes one key or more. */
dlock_call *dlock_call_script_on(
	dlock_script_id script, const dlock_arg *keys, int key_count, const dlock_arg *args, int count, int least);
/* A plain command. */
dlock_call *dlock_call_command(const dlock_arg *args, int count);

/* The same once more, as it was made. NULL when out of memory. */
dlock_call *dlock_call_again(const dlock_call *call);

/* Uses the script's full text, which the server then keeps. */
void dlock_call_use_source(dlock_call *call);

/* No caller waits for it any more: it is sent however late that is, and again over new connections, while it is
 * useful. */
void dlock_call_to_background(dlock_call *call, dlock_nanos useful_until);

dlock_call *dlock_call_retain(dlock_call *call);
void dlock_call_release(dlock_call *call);

/* The caller needs it no longer: it is not sent, if it was not yet, nor sent again. */
void dlock_call_cancel(dlock_call *call);

/* A call follows on the same connection that undoes this one, and must stay after it: so this one is not sent from now
 * on, neither for the first time nor again, over a new connection or as text. The reply to what was sent is still
 * waited for. */
void dlock_call_cancel_sending(dlock_call *call);

/* Ends it, once. Takes over the reply. */
void dlock_call_answer(dlock_call *call, redisReply *reply);
void dlock_call_fail(dlock_call *call);

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
