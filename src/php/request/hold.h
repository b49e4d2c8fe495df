#ifndef DLOCK_PHP_HOLD_H
#define DLOCK_PHP_HOLD_H

#include "../../lock/registry.h"

/* A claim as PHP has it: a lock that the request holds or waits for, from the first attempt on. While a hold is in the
 * registry, the request's end ends it, even after a fatal error.
 *
 * If a strand acquires a lock several times, each entry is a hold, and they share the claim. The last entry to leave
 * releases the lock. */
typedef struct dlock_hold {
	dlock_registry_entry entry; /* must be the first member */
	struct dlock_hold *next_entry; /* a ring of the holds that share its claim; itself if it is the only one */
	bool has_left;       /* while other entries stay: for this one the lock is released */
	unsigned locks;      /* how many more times lock() of the same object has entered it */
	bool owned;          /* an object frees it; otherwise the registry does */
	bool is_acquired_now; /* a call works on it: only that call may free it */
	bool is_workers;     /* of the worker, not of a request: endRequest() leaves it alone */
	bool has_ended;      /* it ended with its request: freeing its object ends nothing again */
	void (*drop)(struct dlock_hold *hold); /* removes it from its owner's table, which frees it; NULL: it is in none */
	void *owner;                           /* the object that has it in a table */
	void *key;                             /* its key in that table */
	bool release_at_end; /* the request's end releases it; otherwise it is left to its lease time or session */
	bool throws;         /* its loss is to be thrown into the running code */
	unsigned thrown;     /* the object handle of the exception that reported the loss; 0: not thrown yet */
	bool loss_counted;
	int metrics;        /* its place among the totals (metrics.h) */
	dlock_nanos timeout; /* how long upgrade() waits without a $timeout */
	bool waits;         /* the totals count it as waiting */
	dlock_nanos since;  /* since when it has been held, for the totals; 0: it is not, or another entry counts */
} dlock_hold;

static inline dlock_hold *dlock_hold_from(dlock_registry_entry *entry)
{
	return (dlock_hold *) entry;
}

/* A hold of the running strand, which owns the claim from then on. NULL when out of memory: the claim is freed. NULL if
 * `claim` is NULL: `error` stays as it is. */
dlock_hold *dlock_hold_new(dlock_claim *claim, bool release_at_end, dlock_error *error);

/* One more entry of a held lock, in the registry. `made_by`: the back end of the manager that enters it. NULL when out
 * of memory. */
dlock_hold *dlock_hold_enter(dlock_hold *hold, const dlock_backend *made_by, bool release_at_end, dlock_error *error);

/* Has the strand more than one entry of the lock now? */
bool dlock_hold_is_shared(const dlock_hold *hold);

/* Is the loss of one of its entries to be thrown? */
bool dlock_hold_throws(const dlock_hold *hold);

/* Its loss was reported, which counts for all its entries. `thrown`: the object handle of the exception; 0: the loss
 * was reported otherwise. */
void dlock_hold_loss_told(dlock_hold *hold, unsigned thrown);

/* The state of the claim, from memory only. Counts a loss when it is first seen. */
dlock_claim_state dlock_hold_refresh(dlock_hold *hold, dlock_nanos *remaining);

/* As for the claim (operations.h). If the status reports a loss to the caller, it is not thrown as well. */
dlock_status dlock_hold_extend(dlock_hold *hold, dlock_nanos ttl, dlock_error *error);
dlock_status dlock_hold_check(dlock_hold *hold, dlock_error *error);
dlock_status dlock_hold_upgrade(dlock_hold *hold, const char *rest, dlock_error *error);
dlock_status dlock_hold_downgrade(dlock_hold *hold, dlock_error *error);

/* Releases the lock, as dlock_claim_release() does. If other entries stay, it only leaves: DLOCK_OK if the lock is
 * held, otherwise DLOCK_LOST. */
dlock_status dlock_hold_release(dlock_hold *hold, dlock_error *error);

/* For the totals of all workers: it waits, or no longer waits; it is held from now on. */
void dlock_hold_count_waiting(dlock_hold *hold, bool waits);
void dlock_hold_count_held(dlock_hold *hold);

/* Frees it in memory. No server is told. */
void dlock_hold_free(dlock_hold *hold);

/* Frees it, and releases the lock without waiting for the reply. If the request ends and release_at_end is false, the
 * lock stays. */
void dlock_hold_discard(dlock_hold *hold);

/* Frees the holds that no object owns and whose lease is lost. */
void dlock_hold_purge(void);

/* At the request's end: ends all holds. */
void dlock_hold_clear(void);

/* At the end of a strand: drops what lock() has acquired there, because no code can name it any more. A loss is no
 * longer thrown there. */
void dlock_hold_end_strand(uint64_t strand);

/* In a worker: the holds that there are now become its own, those of the running strand or (`all`) of all strands. */
void dlock_hold_mark_workers(bool all);

/* When a request of a worker ends: ends all holds except the worker's own, of the running strand or (`all`) of all
 * strands. Returns how many leases were held until then. */
unsigned long dlock_hold_end_requests(bool all);

#endif
