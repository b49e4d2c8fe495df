#ifndef DLOCK_REDIS_EPOCH_H
#define DLOCK_REDIS_EPOCH_H

#include "../request/replicated_requests.h"
#include "../route/surveying.h"

/* How the epoch of a master settles (docs/fail-over.md). From its opening until it has settled, the master grants
 * nothing. The epoch is a key on the master. This is a task: its steps never sleep. */

typedef struct {
	const dlock_masters *masters;
	dlock_key_builder *keys;
	dlock_epoch_rule guard;
	int slot;
	dlock_nanos until;
	dlock_error *error;
	/* makes the same call once more, see kinds.h */
	dlock_call *(*unchanged)(const void *claim, const char *old, bool final);
	const void *claim;
	const char *old; /* of an exchange: the handle's token; of an upgrade: "-"; NULL: neither */

	/* The slot's epoch, as the server has last reported it. Its texts live as long as the route's call. */
	dlock_epoch_state state;
	bool at_once;     /* the epoch settles within DLOCK_AT_ONCE, so the caller may ask again */
	bool explained;   /* the epoch keeps the server from granting: `error` has the reason */

	/* Internal state. */
	dlock_task task, whole, settling, proving;
	dlock_route first_route, telling_route;
	dlock_surveying surveying;
	bool asked;   /* the nodes were asked since the proof began */
	bool noted;   /* the server has noted how far the nodes' clocks are apart */
	bool settles; /* replicas had not confirmed its opening */
	int doubts;
	dlock_epoch_state first_state;
	int first;
	dlock_status said, outcome, settled, proved; /* of the tasks above, in their order */
} dlock_epoch;

/* A slot of a settled master settles within this time, in ms. So even a call without time to wait asks once more. */
#define DLOCK_AT_ONCE 5

/* For a request that was refused because replicas have not confirmed the opening of the epoch (`state.left` < 0). Has
 * them confirm it, and has the epoch settle: at once if the nodes prove that this master knows all leases, otherwise
 * after the guard. Updates `state`: only the server can say when the epoch settles. DLOCK_OK: the server knows when it
 * settles. DLOCK_CONNECTION: replicas did not confirm the opening, or no master answers; refused->transient says
 * whether that may end. */
dlock_status dlock_epoch_settle(dlock_epoch *own, dlock_route *refused, dlock_loop *loop, dlock_nanos now);

/* The same for a waiter that was refused. DLOCK_TIMEOUT: response->pttl says after how many ms the server may grant it
 * something. DLOCK_CONNECTION: as above. */
dlock_status dlock_epoch_refused(
	dlock_epoch *own, dlock_route *refused, dlock_response *response, dlock_loop *loop, dlock_nanos now);

/* Confirms a grant, with the answer to what was sent after its WAIT. DLOCK_OK: the caller may rely on it. DLOCK_LOST:
 * the server has opened its epoch anew and released the grant; the message says so. DLOCK_CONNECTION: the outcome is
 * unknown. */
dlock_status dlock_epoch_confirm(dlock_epoch *own, dlock_route *granted, dlock_loop *loop, dlock_nanos now);

void dlock_epoch_end(dlock_epoch *own);

#endif
