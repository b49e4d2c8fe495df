#ifndef DLOCK_REDIS_KEEP_H
#define DLOCK_REDIS_KEEP_H

#include "../../lock/claim.h"
#include "../../lock/renewer.h"
#include "../request/replicated_requests.h"
#include "../route/route.h"

/* How a held lease is kept at the master of its slot, whichever server that is now; for locks and for permits. The
 * holder runs it, and the loop of the renewal thread adopts it. */

typedef struct {
	char token[DLOCK_TOKEN_MAX + 1];
	int64_t fencing_token, permits;
	dlock_nanos guard;
	dlock_keys keys; /* the lock, the fence, the epoch, and for describe() what is held */
} dlock_kept_lease;

/* Of several locks at once: how many there are, and each of them, as a lease of one. */
int dlock_kept_count(const dlock_kept_lease *lease);
dlock_kept_lease dlock_kept_one(const dlock_kept_lease *lease, int i);

/* With keys that live as long as the caller's. */
dlock_kept_lease dlock_kept_lease_of(const dlock_claim *claim, dlock_keys keys, dlock_nanos guard);

/* What is said to the master about it. */
typedef struct {
	/* It lasts for so long from now on; with `shortens` also where more is left. A lease time of 0 just asks. */
	dlock_call *(*keep)(const dlock_kept_lease *lease, dlock_nanos ttl, bool shortens);
	dlock_status (*read_keep)(const dlock_call *call, const dlock_conn *conn, dlock_key_state *state,
		dlock_error *error); /* DLOCK_OK: the state is known */

	/* Where replicas confirm: gives it to a server that has not got it; a lease time of 0: it is given back, and was
	 * the holder's until then. And takes it back from there, each of several locks alone. The replies are numbers, more
	 * than 0 for yes. */
	dlock_call *(*restore)(const dlock_kept_lease *lease, dlock_nanos ttl);
	dlock_call *(*drop)(const dlock_kept_lease *lease);

	/* Of several locks, or of one as a part of them: gives back what is left. */
	dlock_call *(*release)(const dlock_kept_lease *lease);

	/* Tells those who look whose it is, since when (µs since 1970); of several locks, of each. */
	dlock_call *(*describe)(
		const dlock_kept_lease *lease, dlock_nanos ttl, int64_t since, const dlock_description *description);
} dlock_keeping;

/* A task. */
typedef struct {
	/* Its owner's, as in the route what bounds it. */
	const dlock_keeping *keeping;
	const dlock_kept_lease *lease;
	dlock_nanos ttl; /* 0: it just asks */
	bool shortens;
	dlock_route route; /* begun by the owner */

	/* What it has come to. */
	dlock_nanos sent_at;    /* of what the master has answered */
	bool unanswered;         /* what was sent last may set the key yet, over `restored_over` */
	dlock_conn *restored_over;
	bool restoring; /* that is under way */

	/* Its own. */
	dlock_task task;
	dlock_key_state state;
	int masters;
	dlock_status said;
} dlock_keep;

/* DLOCK_OK: the master has it for so long, and replicas have confirmed it. DLOCK_LOST: it is not the lease's any more.
 * DLOCK_CONNECTION: it is not known, or, of one that just asks, the key is missing. */
dlock_status dlock_keep_step(dlock_keep *own, dlock_loop *loop, dlock_nanos now);

/* A renewal of a lease: what the renewal thread says about it. `master`: where the holder has the lock from, as far as
 * it is known, or NULL. `description`: for those who look; NULL: they are told nothing. It takes over the keys of
 * several locks. NULL when out of memory. */
dlock_renewal_round *dlock_keep_round_new(const dlock_keeping *keeping, const dlock_kept_lease *lease,
	dlock_endpoint *service, dlock_endpoint *master, dlock_description *description);

#endif
