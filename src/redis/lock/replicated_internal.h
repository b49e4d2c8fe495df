#ifndef DLOCK_REDIS_REPLICATED_INTERNAL_H
#define DLOCK_REDIS_REPLICATED_INTERNAL_H

#include "service.h"

/* What the files of the back end on servers that fail over share, beside service.h. */

/* replicated_acquire.c */
dlock_status dlock_replicated_acquire(dlock_claim *claim, const dlock_wait *wait, dlock_error *error);

/* replicated.c: releases, and leaves the queue, without waiting. Where the master has moved meanwhile, it is left to
 * the lease time. */
void dlock_replicated_abandon(dlock_claim *claim);

#endif
