#ifndef DLOCK_LOCK_RENEWAL_THREAD_H
#define DLOCK_LOCK_RENEWAL_THREAD_H

#include "renewal_list.h"

/* The thread that renews the leases of renewal_list.h: its life, its sleep, and the renewers whose connections it uses.
 *
 * There are two mutexes, locked in this order. The thread holds the first except while it sleeps, so that fork() copies
 * connections in a consistent state. It does not block while it holds it. The second is the list's, which every thread
 * holds only briefly. */

/* Starts the thread, if this process has none. Returns 0, or an errno. */
int dlock_renewal_thread_start(void);

/* Ends the thread and removes all leases from the list. */
void dlock_renewal_thread_stop(void);

/* Locks the list's mutex, and returns the list. */
dlock_renewal_list *dlock_renewal_thread_lock(void);
void dlock_renewal_thread_unlock(void);

/* ---- with the list's mutex held ---- */

/* Does the thread run in this process? */
bool dlock_renewal_thread_is_mine(void);

/* The first wakes the thread at once. The second wakes it if it would sleep beyond `time`. */
void dlock_renewal_thread_wake(void);
void dlock_renewal_thread_wake_by(dlock_nanos time);

/* Creates the renewer that the round needs, if there is none of its kind. False: out of memory. */
bool dlock_renewal_thread_add_renewer(const dlock_renewal_round *round);

/* Unlocks the mutex until an entry is no longer busy, or until `most` has passed. */
void dlock_renewal_thread_wait_idle(dlock_nanos most);

/* ---- without it ---- */

dlock_renewer_counts dlock_renewal_thread_count(void);

#endif
