#ifndef DLOCK_PHP_HOLD_H
#define DLOCK_PHP_HOLD_H

#include "../../lock/registry.h"

/* A claim as PHP has it: what a request holds or waits for, from the first attempt on. While it is in the registry, the
 * request's end ends it, however that comes.
 *
 * Where a lock is entered several times, each entry is a hold, and they share the claim: the last one to leave releases
 * it. */
typedef struct dlock_hold {
	dlock_registry_entry entry; /* comes first */
	struct dlock_hold *next_entry; /* a ring: of those that share its claim; itself where it is alone */
	bool has_left;       /* while others are in: for this one the lock is released */
	unsigned locks;      /* of lock(): how many times more the same object has entered it */
	bool owned;          /* an object frees it; otherwise the registry does */
	bool is_acquired_now; /* a call works on it: nothing else frees it */
	bool is_workers;     /* no request's: endRequest() leaves it alone */
	bool has_ended;      /* with its request: what becomes of its object changes nothing */
	void (*drop)(struct dlock_hold *hold); /* where an object has it by name: takes it from there, which frees it */
	void *owner;                           /* that object */
	void *key;                             /* that name, as the object has it */
	bool release_at_end; /* with the request; otherwise it is left to its lease time or session */
	bool throws;         /* its loss is to be thrown into the running code */
	unsigned thrown;     /* and has been, as the exception with this number; 0: not yet */
	bool loss_counted;
	int metrics;        /* its place among the totals */
	dlock_nanos timeout; /* the longest wait of upgrade(), where it is not told */
	bool waits;         /* is counted among those that wait */
	dlock_nanos since;  /* it has been held since then, for these; 0: it is not held */
} dlock_hold;

static inline dlock_hold *dlock_hold_from(dlock_registry_entry *entry)
{
	return (dlock_hold *) entry;
}

/* Takes the claim, for the running strand. NULL without memory, or without a claim: then the error is what it was. */
dlock_hold *dlock_hold_new(dlock_claim *claim, bool release_at_end, dlock_error *error);

/* One more entry to what is held, registered. NULL without memory. */
dlock_hold *dlock_hold_enter(dlock_hold *hold, const dlock_backend *made_by, bool release_at_end, dlock_error *error);

/* Has the strand entered it more than once, without having left? */
bool dlock_hold_is_shared(const dlock_hold *hold);

/* Is one of its entries to have its loss thrown? */
bool dlock_hold_throws(const dlock_hold *hold);

/* Its loss has been told, with the exception of that number, or otherwise (0): once is enough for all entries. */
void dlock_hold_loss_told(dlock_hold *hold, unsigned thrown);

/* What memory knows of the claim now; counts a loss when it is first seen. */
dlock_claim_state dlock_hold_refresh(dlock_hold *hold, dlock_nanos *remaining);

/* As for the claim. A loss that the status reports to the caller is not thrown as well. */
dlock_status dlock_hold_extend(dlock_hold *hold, dlock_nanos ttl, dlock_error *error);
dlock_status dlock_hold_check(dlock_hold *hold, dlock_error *error);
dlock_status dlock_hold_upgrade(dlock_hold *hold, const char *rest, dlock_error *error);
dlock_status dlock_hold_downgrade(dlock_hold *hold, dlock_error *error);

/* Where others are in, it only leaves: DLOCK_OK while the lock is held. */
dlock_status dlock_hold_release(dlock_hold *hold, dlock_error *error);

/* The totals of all workers: it waits now, or not any more; it is held from now on. */
void dlock_hold_count_waiting(dlock_hold *hold, bool waits);
void dlock_hold_count_held(dlock_hold *hold);

/* Frees it in memory, without a word to any server. */
void dlock_hold_free(dlock_hold *hold);

/* Frees it, and releases the lock without waiting; where the request ends, the lock may be left alone. */
void dlock_hold_discard(dlock_hold *hold);

/* Discards what no object owns and whose time is over. */
void dlock_hold_purge(void);

/* At the request's end: ends all holds. */
void dlock_hold_clear(void);

/* The strand is over: no code can name what it has by name any more, and none can be told of its losses. */
void dlock_hold_end_strand(uint64_t strand);

/* In a worker: what there is now is its own; of the running strand, or of all. */
void dlock_hold_mark_workers(bool all);

/* Where a request of a worker ends: ends the holds that are not the worker's. Returns how many leases were held until
 * then. */
unsigned long dlock_hold_end_requests(bool all);

#endif
