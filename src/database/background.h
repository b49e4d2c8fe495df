#ifndef DLOCK_DATABASE_BACKGROUND_H
#define DLOCK_DATABASE_BACKGROUND_H

#include "session.h"

/* Calls it again and again, until it is answered or its time is over; no caller waits. Takes over the reference, and
 * NULL. What gives back may come before what it is to give back, which was sent over a session that broke: so it is
 * called once more where there was nothing. */
void dlock_db_call_in_background(
	dlock_net_pool *pool, dlock_db_session *session, dlock_db_call *call, dlock_nanos useful_until);

#endif
