#ifndef DLOCK_REDIS_EXCHANGE_H
#define DLOCK_REDIS_EXCHANGE_H

#include "conn.h"

/* Drives all these connections at once over one poll(), until `settled` says that enough is known, nothing is under way
 * any more, or `until` has come. Signals do not end it: the servers' timeouts bound it. Some of `conns` may be NULL. */
void dlock_exchange(dlock_conn **conns, int count, dlock_nanos until, bool (*settled)(void *context), void *context);

#endif
