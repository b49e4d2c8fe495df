#include "background.h"

#include <stdlib.h>

typedef struct {
	dlock_background base;
	dlock_db_session *session;
	dlock_db_call *call;
	bool missed; /* one call has found nothing */
	bool stray;  /* a request that it undoes may be executed at any time */
} background;

/* The pause before a call that looks whether a stray request was executed. */
#define LOOK_AGAIN DLOCK_SECOND

static void send_again(dlock_background *base)
{
	background *own = (background *) base;

	dlock_db_call_begin(own->call);
	dlock_db_send(own->session, own->call);
}

static bool is_under_way(const dlock_background *own)
{
	return ((const background *) own)->call->state == DLOCK_DB_PENDING;
}

static bool take(dlock_background *base, dlock_nanos now)
{
	background *own = (background *) base;
	const dlock_db_call *call = own->call;

	if (call->state == DLOCK_DB_FAILED) {
		return call->transient || !call->refused;
	}
	bool exchanges = call->function == DLOCK_DB_EXCHANGE;
	if (exchanges && call->answer[0] < DLOCK_DB_NOT_OURS) { /* the database cannot exchange it yet */
		return true;
	}
	bool found_nothing = exchanges ? call->answer[0] == DLOCK_DB_NOT_OURS : call->answer[0] == 0;
	bool again = found_nothing && !own->missed && call->function != DLOCK_DB_EXTEND;
	own->missed = true;
	if (!again && own->stray) {
		own->base.due = now + LOOK_AGAIN;
		own->base.rests = true;
	}
	return again || own->stray;
}

static void background_free(dlock_background *own)
{
	dlock_db_call_release(((background *) own)->call);
	free(own);
}

void dlock_db_call_in_background(
	dlock_net_pool *pool, dlock_db_session *session, dlock_db_call *call, dlock_nanos useful_until, bool stray)
{
	static const dlock_background_ops ops = { send_again, is_under_way, take, background_free };
	background *own = call ? calloc(1, sizeof *own) : NULL;

	if (!own) {
		dlock_db_call_release(call);
		return;
	}
	own->session = session;
	own->call = call;
	own->stray = stray;
	dlock_net_pool_begin_background(pool, &own->base, &ops, useful_until);
}
