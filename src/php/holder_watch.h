#ifndef DLOCK_PHP_HOLDER_WATCH_H
#define DLOCK_PHP_HOLDER_WATCH_H

#include "globals.h"

/* In a child of fork(): whether the process still runs that holds what the child believes to work under. */

#ifndef PHP_WIN32
/* Of a claim that came over a fork. */
bool dlock_holder_has_ended(const dlock_claim *claim);

/* Raises the signal when it has. One holder is watched at a time; without a thread to be had, none. */
void dlock_holder_watch(const dlock_claim *claim, dlock_loss_signal *signal);
#endif

#endif
