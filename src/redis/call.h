#ifndef DLOCK_REDIS_CALL_H
#define DLOCK_REDIS_CALL_H

#include <hiredis/hiredis.h>
#include <stdbool.h>
#include <stddef.h>

#include "../base/clock.h"
#include "scripts.h"

/* One command and what became of it. It is shared by whoever asked and by the connection that carries it: the asker may
 * leave early and the connection still knows which reply belongs to which command. */

typedef struct {
	const char *text;
	size_t len;
} dlock_arg;

#define DLOCK_ARG(text) ((dlock_arg) { (text), strlen(text) })

typedef enum {
	DLOCK_CALL_PENDING,
	DLOCK_CALL_ANSWERED, /* `reply` is there; it may be an error of the server's */
	DLOCK_CALL_FAILED    /* no reply will come; the connection's error says why */
} dlock_call_state;

enum { DLOCK_CALL_WORDS = 16 };

typedef struct dlock_call {
	unsigned references;
	dlock_call_state state;
	bool wanted;        /* worth sending again, over a new connection or as the script's full text */
	bool once;          /* not to be sent again, since something else follows it */
	bool sent;          /* handed to the connection: the server may execute it, now or later */
	bool background;    /* nobody waits for it */
	dlock_nanos useful_until; /* in the background: sent again over any number of connections until then */
	bool repeated;      /* has been sent again once over a new connection */
	bool needs_uptime;  /* the connection has to know how long the server that answers has been up; see handshake.h */
	dlock_nanos sent_at; /* just before it was sent, last time: its answer is to that */
	dlock_nanos first_sent_at; /* the first time: what it has done without an answer, it may have done since then */
	dlock_nanos server_started; /* of an answered call: its server was started then or before; see uptime.h */
	redisReply *reply;
	const dlock_script *script;
	int words;
	const char *word[DLOCK_CALL_WORDS];
	size_t word_len[DLOCK_CALL_WORDS];
	char storage[];
} dlock_call;

/* EVALSHA of a script with its keys and arguments, copied. NULL when out of memory. */
dlock_call *dlock_call_script(dlock_script_id script, const dlock_arg *args, int count);
/* A plain command. */
dlock_call *dlock_call_command(const dlock_arg *args, int count);

/* Uses the script's full text, which the server then keeps. */
void dlock_call_use_source(dlock_call *call);

/* For a call that nobody waits for any more: it goes out behind whatever the connection still waits for, however late that
 * is, and again over a new connection, while it is of use. */
void dlock_call_to_background(dlock_call *call, dlock_nanos useful_until);

dlock_call *dlock_call_retain(dlock_call *call);
void dlock_call_release(dlock_call *call);

/* The asker needs it no longer: without effect when it was not sent yet. */
void dlock_call_cancel(dlock_call *call);

/* Something follows on the same connection that undoes it, and must stay behind it: sent already, it is not sent again, neither over
 * a new connection nor as text; otherwise it is not sent at all. */
void dlock_call_call_off(dlock_call *call);

/* Ends it, once. Takes over the reply. */
void dlock_call_answer(dlock_call *call, redisReply *reply);
void dlock_call_fail(dlock_call *call);

#endif
