#ifndef DLOCK_REDIS_LATE_RELEASE_H
#define DLOCK_REDIS_LATE_RELEASE_H

#include "../route/route.h"

/* Releases a lock at whichever server is the master by then. The server that granted it does not answer, and a promoted
 * one may have it. No caller waits for this: it goes on whenever this thread's loop runs, until a master answers or the
 * lease ends (`until`). Owns the call from now on. Does nothing when out of memory. */
void dlock_release_late(const dlock_masters *masters, int slot, dlock_call *call, dlock_nanos until);

#endif
