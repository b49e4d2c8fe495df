#ifndef DLOCK_REDIS_EPOCH_H
#define DLOCK_REDIS_EPOCH_H

#include "../request/replicated_requests.h"
#include "../route/surveying.h"

/* How the epoch of a master settles, from whose opening on nothing is granted; docs/fail-over.md. The key that says so
 * is the epoch. A task; its steps never sleep. */

typedef struct {
	const dlock_masters *masters;
	dlock_key_builder *keys;
	dlock_epoch_rule guard;
	int slot;
	dlock_nanos until;
	dlock_error *error;
	dlock_call *(*unchanged)(const void *claim, const char *old, bool final); /* makes that call once more */
	const void *claim;
	const char *old; /* of an exchange: the token of the handle; NULL: none */

	/* of the slot, as the server has said last. Its texts live as long as the route's call */
	dlock_epoch_state state;
	bool at_once;     /* it has settled just now, so that it is worth asking again */
	bool explained;   /* nothing is granted because of it, as the error says */

	/* Its own. */
	dlock_task task, whole, settling, proving;
	dlock_route first_route, telling_route;
	dlock_surveying surveying;
	bool asked;   /* the nodes, since it was begun to prove it */
	bool noted;   /* how far their clocks are apart */
	bool settles; /* it was not confirmed */
	int doubts;
	dlock_epoch_state first_state;
	int first;
	dlock_status said, outcome, settled, proved; /* of these tasks */
} dlock_epoch;

/* A slot of a settled master is settled in a moment, in ms: a call without time to wait asks again all the same. */
#define DLOCK_AT_ONCE 5

/* A request was refused since the epoch is not settled (`epoch.left` < 0): has replicas confirm its opening, and lets
 * it settle: at once, where the nodes prove that this master knows all leases; otherwise after the guard. Brings the
 * epoch up to date: from when it counts is for the server to say. DLOCK_CONNECTION: replicas did not confirm it, or
 * no master answers; refused->transient says whether that may end. */
dlock_status dlock_epoch_settle(dlock_epoch *own, dlock_route *refused, dlock_loop *loop, dlock_nanos now);

/* The same where a waiter was refused. DLOCK_TIMEOUT, with the time until it may be granted something in the
 * response. */
dlock_status dlock_epoch_refused(
	dlock_epoch *own, dlock_route *refused, dlock_response *response, dlock_loop *loop, dlock_nanos now);

/* A grant, with what was sent behind it. DLOCK_OK: it may be believed. DLOCK_LOST: it was given back, since the epoch
 * was opened anew; the message says so. DLOCK_CONNECTION: it is not known. */
dlock_status dlock_epoch_confirm(dlock_epoch *own, dlock_route *granted, dlock_loop *loop, dlock_nanos now);

void dlock_epoch_end(dlock_epoch *own);

#endif
