#ifndef DLOCK_REDIS_KEEP_H
#define DLOCK_REDIS_KEEP_H

#include "../../lock/claim.h"
#include "../../lock/renewer.h"
#include "../request/replicated_requests.h"
#include "../route/route.h"

/* How a held lease is kept at the master of its slot, whichever server that is now; for locks and for permits. The
 * holder runs the task, and the loop of the renewal thread adopts it. */

typedef struct {
	char token[DLOCK_TOKEN_MAX + 1];
	int64_t fencing_token, permits;
	dlock_nanos guard;
	dlock_keys keys; /* the lock, the fence, the epoch; for describe() also `held` */
} dlock_kept_lease;

/* Of several locks at once: their number, and each of them as a lease of one lock. */
int dlock_kept_count(const dlock_kept_lease *lease);
dlock_kept_lease dlock_kept_one(const dlock_kept_lease *lease, int i);

/* The lease of a held claim. Its keys live as long as the caller's. `guard`: in ns, that of the epoch rule. */
dlock_kept_lease dlock_kept_lease_of(const dlock_claim *claim, dlock_keys keys, dlock_nanos guard);

/* The requests to the master about a lease. Each is NULL when out of memory. */
typedef struct {
	/* Makes the lease last for `ttl` (ns) from now on; with `shortens`, also if more is left. A `ttl` of 0 only
	 * asks. */
	dlock_call *(*keep)(const dlock_kept_lease *lease, dlock_nanos ttl, bool shortens);
	dlock_status (*read_keep)(const dlock_call *call, const dlock_conn *conn, dlock_key_state *state,
		dlock_error *error); /* DLOCK_OK: the state is known */

	/* `restore` is for masters whose writes replicas confirm: it sets the key at a server that lacks it. With a `ttl`
	 * of 0 it releases the lock, which was the holder's until then. `drop` releases the lock without looking at its
	 * waiters; several locks need one call each. The replies are numbers: more than 0 means yes. */
	dlock_call *(*restore)(const dlock_kept_lease *lease, dlock_nanos ttl);
	dlock_call *(*drop)(const dlock_kept_lease *lease);

	/* Of several locks, or of one as a part of them: releases those that are still held. */
	dlock_call *(*release)(const dlock_kept_lease *lease);

	/* Tells operators who holds the lock, and since when (µs since 1970). Several locks need one call each. */
	dlock_call *(*describe)(
		const dlock_kept_lease *lease, dlock_nanos ttl, int64_t since, const dlock_description *description);
} dlock_keeping;

/* A task that keeps a lease. */
typedef struct {
	/* Set by the owner, as are the limits of the route. */
	const dlock_keeping *keeping;
	const dlock_kept_lease *lease;
	dlock_nanos ttl; /* ns; 0: the task only asks */
	bool shortens;
	dlock_route route; /* the owner begins it */

	/* The outcome. */
	dlock_nanos sent_at;    /* when the request that the master has answered was sent */
	bool unanswered;         /* the last restore may still set the key, over `restored_over` */
	dlock_conn *restored_over;
	bool restoring; /* a restore is under way */

	/* Internal state. */
	dlock_task task;
	dlock_key_state state;
	int masters;
	dlock_status said;
} dlock_keep;

/* DLOCK_OK: the master has extended the lease, and replicas have confirmed it; or, if the task only asks, the master
 * has the key. DLOCK_LOST: the lock is not the lease's any more. DLOCK_CONNECTION: the outcome is unknown. If the task
 * only asks and replicas confirm, a missing or foreign key counts as unknown, too. */
dlock_status dlock_keep_step(dlock_keep *own, dlock_loop *loop, dlock_nanos now);

/* A round of the renewal thread, which keeps the lease. `master`: the slot's master as the holder knows it; NULL: not
 * known. `description`: what operators are told; NULL: nothing. The round frees the keys of several locks. NULL when
 * out of memory. */
dlock_renewal_round *dlock_keep_round_new(const dlock_keeping *keeping, const dlock_kept_lease *lease,
	dlock_endpoint *service, dlock_endpoint *master, dlock_description *description);

#endif
