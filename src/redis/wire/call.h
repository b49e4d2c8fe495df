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

/* One command and its reply, and the calls of one connection, in order. The caller and the connection that carries the
 * call share it. If the caller leaves early, the connection still knows which reply belongs to which command. */

/* Room for a number as an argument. */
typedef struct {
	char text[24];
} dlock_number;

dlock_arg dlock_number_arg(dlock_number *out, int64_t value);

typedef enum {
	DLOCK_CALL_PENDING,
	DLOCK_CALL_ANSWERED, /* `reply` is there; it may be the server's error */
	DLOCK_CALL_FAILED    /* no reply will come; the connection's error says why */
} dlock_call_state;

/* The most words of a call, and of an array to which dlock_add_ints() in arguments.h appends numbers. */
enum { DLOCK_CALL_MOST_WORDS = 256, DLOCK_CALL_WORDS = 40 };

typedef struct dlock_call {
	unsigned references;
	dlock_call_state state;
	bool wanted;              /* still worth sending, over a new connection or as the script's text */
	bool once;                /* never sent again, because its place among the other calls matters */
	bool sent;                /* handed to the connection: the server may execute it, now or later */
	bool background;          /* no caller waits for it */
	bool repeated;            /* it was sent again over a new connection */
	bool needs_uptime;        /* its connection must ask for the server's uptime; see handshake.h */
	dlock_nanos useful_until; /* of a background call: it is sent again over any number of connections until then */
	dlock_nanos sent_at;      /* just before it was last sent; its reply answers that sending */
	/* just before it was first sent; without a reply, it may have been executed since then */
	dlock_nanos first_sent_at;
	/* when it was written, and the server began to owe its reply; DLOCK_FOREVER: it is not written yet */
	dlock_nanos owed_since;
	unsigned long generation;   /* of the connection that it was last sent over */
	unsigned long sequence;     /* its place among all calls sent over that connection */
	dlock_nanos server_started; /* of an answered call: its server was started then or before; see info.h */
	dlock_nanos server_started_from; /* and then or after */
	redisReply *reply;
	const dlock_script *script; /* NULL: sent as text, or no script */
	const dlock_script *origin; /* NULL: no script */
	int keys;                   /* the number of a script's keys */
	int words;
	size_t *word_len;
	const char *word[]; /* their lengths and texts follow */
} dlock_call;

/* An EVALSHA of a script, with copies of the words, the first `keys` of which are its keys. Empty words at the end are
 * left out, except among the first `least`. NULL when out of memory, or with more than DLOCK_CALL_MOST_WORDS. */
dlock_call *dlock_call_script(dlock_script_id script, int keys, const dlock_arg *words, int count, int least);
/* The same for a script that takes one or more keys. */
dlock_call *dlock_call_script_on(
	dlock_script_id script, const dlock_arg *keys, int key_count, const dlock_arg *args, int count, int least);
/* A plain command. */
dlock_call *dlock_call_command(const dlock_arg *args, int count);

/* A copy of the call, as it was made. NULL when out of memory. */
dlock_call *dlock_call_again(const dlock_call *call);

/* Makes the call send the script's full text, which the server then keeps. */
void dlock_call_use_source(dlock_call *call);

/* No caller waits for the call any more. It is sent however late, and again over new connections, while it is
 * useful. */
void dlock_call_to_background(dlock_call *call, dlock_nanos useful_until);

dlock_call *dlock_call_retain(dlock_call *call);
void dlock_call_release(dlock_call *call);

/* The caller no longer needs the call: it is not sent, neither for the first time nor again. */
void dlock_call_cancel(dlock_call *call);

/* A later call on the same connection undoes this one, and must stay behind it. So this one is not sent from now on,
 * neither for the first time nor again, over a new connection or as text. The connection still waits for the reply to
 * an earlier sending. */
void dlock_call_cancel_sending(dlock_call *call);

/* Each ends the call, once. dlock_call_answer() takes over the reply. */
void dlock_call_answer(dlock_call *call, redisReply *reply);
void dlock_call_fail(dlock_call *call);

/* The calls of one connection, oldest first: they are sent in this order, and their replies come in it. The queue has a
 * reference to each. */
typedef struct {
	dlock_call **ring;
	size_t first, count, capacity;
} dlock_call_queue;

dlock_call *dlock_call_queue_at(const dlock_call_queue *queue, size_t index);

/* False when out of memory. */
bool dlock_call_queue_push(dlock_call_queue *queue, dlock_call *call);

/* Removes the oldest call, and passes on the queue's reference. */
dlock_call *dlock_call_queue_shift(dlock_call_queue *queue);

/* Appends a call that has just been removed, with its reference: there is still room for it. */
void dlock_call_queue_requeue(dlock_call_queue *queue, dlock_call *call);

/* The connection is gone: fails all calls except those for the next connection. Background calls are kept while they
 * are useful. A lock that a server granted late must be released there, even after the server was out of reach for a
 * while. With `resend`, calls that were sent for the first time are kept, too. The connection may have died while it
 * was idle, and every command may be repeated. Returns whether it has kept a call for the first time. */
bool dlock_call_queue_fail_others(dlock_call_queue *queue, bool resend);

/* Fails all calls. */
void dlock_call_queue_clear(dlock_call_queue *queue);

/* Clears the queue and frees its memory. */
void dlock_call_queue_dispose(dlock_call_queue *queue);

#endif
