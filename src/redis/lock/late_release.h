#ifndef DLOCK_REDIS_LATE_RELEASE_H
#define DLOCK_REDIS_LATE_RELEASE_H

#include "../route/route.h"

/* Gives a lock back at whichever server is the master by then: the one that it was acquired at does not answer, and the
 * one that is promoted may have it. No caller waits for it: it goes on whenever this thread's loop runs, until it is
 * answered or the lease is over. Takes the call over; does nothing when out of memory. */
void dlock_release_late(const dlock_masters *masters, int slot, dlock_call *call, dlock_nanos until);

#endif
