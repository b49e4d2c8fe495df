#ifndef DLOCK_PHP_HOLDER_WATCH_H
#define DLOCK_PHP_HOLDER_WATCH_H

#include "../../lock/claim.h"

/* In a child of fork(): whether the process still runs that holds what the child believes to work under. */

/* Of a claim that came over a fork. */
bool dlock_holder_has_ended(const dlock_claim *claim);

/* Calls that when it has, from a thread of its own or at once. One holder is watched at a time; where the system cannot
 * wait for a process that is no child (Linux before 5.3), or has no thread, none: the child finds out when it asks. */
void dlock_holder_watch(const dlock_claim *claim, void (*ended)(void *context), void *context);

#endif
