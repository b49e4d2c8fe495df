#ifndef DLOCK_PHP_HOLDER_WATCH_H
#define DLOCK_PHP_HOLDER_WATCH_H

#include "../../lock/claim.h"

/* In a child of fork(): whether the process that holds an inherited lock still runs. */

/* Has the holder ended? The claim is from before a fork(). */
bool dlock_holder_has_ended(const dlock_claim *claim);

/* Calls `ended` once the holder has ended, from a thread of its own or at once. A process watches one holder at a time.
 * It watches none if the system cannot start a thread, or cannot wait for a process that is no child (Linux before
 * 5.3). Then the child finds out when it asks. */
void dlock_holder_watch(const dlock_claim *claim, void (*ended)(void *context), void *context);

#endif
