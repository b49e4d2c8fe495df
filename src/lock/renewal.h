#ifndef DLOCK_RENEWAL_H
#define DLOCK_RENEWAL_H

#include "claim.h"

/* One thread per process renews leases while their holders run, however busy PHP is, and detects losses. It starts with
 * the first lease that needs it. It has its own connections and no signal handler runs on it. It shares a list under a
 * mutex, and the atomic members of the claims on it, with the threads that hold leases. */

typedef struct {
	/* Requests a new lease time whenever a third of it has passed. Otherwise the thread requests only what is missing,
	 * for the time left. That is the rest of a short lease, and the key on servers that lack it. */
	bool renew;
	dlock_nanos most; /* for how long it renews, counted from the first upkeep with `renew`; 0: without limit */
	/* The renewal thread calls it once, when the lease is lost and dlock_renewal_end() was not called before. It may
	 * only set an atomic flag. NULL: the loss is not reported. */
	void (*lost)(void *context);
	void *context;
} dlock_upkeep;

/* Hands a held claim to the renewal thread. If a server refused the key during the acquisition, or had not answered,
 * the thread soon sets the key there, even without `renew`. An upkeep that was begun earlier goes on, with this `lost`
 * and `context`, and renews the lease if one of the two does. DLOCK_OK, or DLOCK_FAILED: no memory is left, or no
 * thread can start; then the earlier upkeep goes on unchanged. */
dlock_status dlock_renewal_begin(dlock_claim *claim, const dlock_upkeep *upkeep, dlock_error *error);

/* Is the claim renewed now? */
bool dlock_renewal_is_on(const dlock_claim *claim);

/* Was it renewed for as long as its upkeep allows? No upkeep begins that time anew. */
bool dlock_renewal_is_used_up(const dlock_claim *claim);

/* Is the claim renewed without limit? */
bool dlock_renewal_is_endless(const dlock_claim *claim);

/* Stops the renewal; the thread still reports a loss. */
void dlock_renewal_stop(dlock_claim *claim);

/* Ends the thread's work for the claim: it undoes requests under way that may still set the key on a server. `over`:
 * the lease has ended or is about to end. Otherwise the lease continues elsewhere or runs out, and the keys on which it
 * may rest stay.
 *
 * This function and those below have no effect on a claim that the thread does not look after. */
void dlock_renewal_end(dlock_claim *claim, bool over);

/* A holder calls them around an operation that sets the lease time or the deadline itself. Renewals that were requested
 * before do not count afterwards. */
void dlock_renewal_pause(dlock_claim *claim);
void dlock_renewal_resume(dlock_claim *claim);

/* Between these two, before the holder requests `ttl`. If a renewal under way requested a longer time, it waits for the
 * answer, so that no server executes that renewal last. It waits no longer than an answer may take, nor than half of
 * the remaining time. */
void dlock_renewal_wait_idle(dlock_claim *claim, dlock_nanos ttl);

/* Between these two: sets the lease time that renewals request, to what the holder requested. If that was not
 * `answered`, the server may set it at any time, even after renewals, so they request no more than that. */
void dlock_renewal_change_ttl(dlock_claim *claim, dlock_nanos ttl, bool answered);

/* A thread of a back end calls it when ops->bound() may have changed, so that the renewal thread looks at once. The
 * caller holds no mutex of the back end. */
void dlock_renewal_wake(void);

/* Of this process, since it started. */
typedef struct {
	unsigned long renewals, failures; /* answered and unanswered requests for more time */
	unsigned long connections, reconnections;
} dlock_renewal_counts;

dlock_renewal_counts dlock_renewal_count(void);

/* What the counts have grown by since any thread of this process last called this. */
dlock_renewal_counts dlock_renewal_count_new(void);

/* Ends the thread. */
void dlock_renewal_shutdown(void);

#endif
