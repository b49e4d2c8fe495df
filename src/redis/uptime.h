#ifndef DLOCK_REDIS_AGE_H
#define DLOCK_REDIS_AGE_H

#include "call.h"
#include "../base/server.h"

/* How long a server has been up. A server that is started anew ends its connections, so it is enough to ask once on each:
 * what comes over it comes from a server that was up by then. Where the answer has no time, as for a user without the right
 * to ask, each call that needs it asks again: the right may have been given in the meantime. */

#define DLOCK_START_UNKNOWN DLOCK_FOREVER

/* The question, as a call that nobody waits for. NULL when out of memory. */
dlock_call *dlock_age_ask(void);

/* When the server that gave this answer at `now` was started, at the latest; DLOCK_START_UNKNOWN where the answer does not
 * tell, with the reason in `problem`. */
dlock_nanos dlock_age_read(const redisReply *reply, dlock_nanos now, const dlock_server *server, char *problem, size_t size);

#endif
