#ifndef DLOCK_PHP_HOLDER_WATCH_H
#define DLOCK_PHP_HOLDER_WATCH_H

#include "../lock/claim.h"

/* In a child of fork(): whether the process still runs that holds what the child believes to work under. */

#ifndef _WIN32
/* Of a claim that came over a fork. */
bool dlock_holder_has_ended(const dlock_claim *claim);

/* Calls it when it has, from a thread of its own. One holder is watched at a time; without a thread to be had, none. */
void dlock_holder_watch(const dlock_claim *claim, void (*ended)(void *context), void *context);
#endif

#endif
