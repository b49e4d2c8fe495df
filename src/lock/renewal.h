#ifndef DLOCK_RENEWAL_H
#define DLOCK_RENEWAL_H

#include "claim.h"

/* One thread per process keeps leases while their holders run, through whatever PHP is busy with, and finds out when
 * one is lost. It starts with the first lease that needs it, has connections of its own, takes no signals, and shares
 * with the threads that hold leases a list under a mutex and the atomic members of the claims on it. */

typedef struct {
	bool renew; /* ask for a new lease time at each third of the ttl. Otherwise only what is missing is asked for, for
				   the time that is left: the rest of a short lease, and the key on servers that lack it */
	dlock_nanos most; /* renewed for at most this long from now on; 0: without limit */
	/* Called once when the lease is lost, by the renewal thread: it may set a flag that is atomic, and no more.
	 * NULL: the loss is not reported. Not called after dlock_renewal_end(). */
	void (*lost)(void *context);
	void *context;
} dlock_upkeep;

/* For a held claim. Where a server had refused it when it was acquired, or not answered yet, the servers without it are
 * given it soon, whether it is renewed or not. DLOCK_OK, or DLOCK_FAILED where there is no memory or no thread to be
 * had. */
dlock_status dlock_renewal_begin(dlock_claim *claim, const dlock_upkeep *upkeep, dlock_error *error);

/* Is the claim renewed now? */
bool dlock_renewal_is_on(const dlock_claim *claim);

/* Is the claim renewed without limit? */
bool dlock_renewal_is_endless(const dlock_claim *claim);

/* Not renewed any more; its loss is still reported. */
void dlock_renewal_stop(dlock_claim *claim);

/* After this the thread leaves the claim alone: what is under way and may yet set its key somewhere is undone. `over`:
 * the lease is, or is about to be. Otherwise it goes on elsewhere or is left to its time, and what it may rest upon
 * stays. Each of these is without effect where there is no renewal. */
void dlock_renewal_end(dlock_claim *claim, bool over);

/* Around what sets the claim's lease time or deadline otherwise: what was asked for before does not count after it. */
void dlock_renewal_pause(dlock_claim *claim);
void dlock_renewal_resume(dlock_claim *claim);

/* Between these two, before a lease time is asked for: where a longer one has been asked for by a renewal that is under
 * way, waits until that is answered, so that it cannot come last. For no longer than an answer may take, nor than half
 * of the time that is left. */
void dlock_renewal_wait_idle(dlock_claim *claim, dlock_nanos ttl);

/* Between these two: the lease time that the holder asked for, as far as it is sure. Where the answer is missing, it
 * may be set at any time, also after renewals; so these ask for no more than that. */
void dlock_renewal_change_ttl(dlock_claim *claim, dlock_nanos ttl, bool answered);

/* For a thread of a back end: what ops->bound() tells may have changed, so the thread looks at once. Holds no mutex of
 * the back end. */
void dlock_renewal_wake(void);

/* Of this process, since it started. */
typedef struct {
	unsigned long renewals, failures; /* answered, and left without an answer */
	unsigned long connections, reconnections;
} dlock_renewal_counts;

dlock_renewal_counts dlock_renewal_count(void);

/* Ends the thread. */
void dlock_renewal_shutdown(void);

#endif
