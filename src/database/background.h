#ifndef DLOCK_DATABASE_BACKGROUND_H
#define DLOCK_DATABASE_BACKGROUND_H

#include "session.h"

/* Repeats the call until the database answers it or refuses it for good, or until `useful_until`. No caller waits. The
 * reference of `call`, which may be NULL, belongs to this function from now on.
 *
 * A release may arrive before the request that it undoes. So a call that finds nothing is repeated once. If a request
 * that it undoes was not answered (`stray`), a process of the server that hangs may execute that at any time: the call
 * is then repeated each second, whatever it finds, until `useful_until`, and the end of a request does not wait for
 * these repetitions. */
void dlock_db_call_in_background(
	dlock_net_pool *pool, dlock_db_session *session, dlock_db_call *call, dlock_nanos useful_until, bool stray);

#endif
