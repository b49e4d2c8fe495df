#ifndef DLOCK_LOCK_RENEWAL_THREAD_H
#define DLOCK_LOCK_RENEWAL_THREAD_H

#include "renewal_list.h"

/* The thread that keeps the leases of renewal_list.h: its life, its sleep, and the renewers whose connections it has.
 *
 * Two mutexes, taken in this order. The thread holds the first except while it sleeps, so that fork() copies the
 * connections in a consistent state; it does not block while it holds it. The second is the list's, held briefly. */

/* Starts the thread, where this process has none yet: 0, or the system's error. */
int dlock_renewal_thread_start(void);

/* Ends it, and forgets all leases. */
void dlock_renewal_thread_stop(void);

/* The list, with its mutex. */
dlock_renewal_list *dlock_renewal_thread_lock(void);
void dlock_renewal_thread_unlock(void);

/* ---- with the list's mutex held ---- */

/* Has this process the thread? */
bool dlock_renewal_thread_is_mine(void);

/* Has the thread look at once; or by then, where it would look later. */
void dlock_renewal_thread_wake(void);
void dlock_renewal_thread_wake_by(dlock_nanos time);

/* Creates the renewer that the round needs, where there is none of its kind yet. False when out of memory. */
bool dlock_renewal_thread_add_renewer(const dlock_renewal_round *round);

/* Gives the mutex back until something in the list is settled, or until `most` has passed. */
void dlock_renewal_thread_wait_idle(dlock_nanos most);

/* ---- without ---- */

dlock_renewer_counts dlock_renewal_thread_count(void);

#endif
