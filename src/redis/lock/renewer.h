#ifndef DLOCK_REDIS_RENEWER_H
#define DLOCK_REDIS_RENEWER_H

#include "../../lock/renewer.h"
#include "../wire/pool.h"

/* The connections of the renewal thread to Redis servers; see lock/renewer.h. */

extern const dlock_renewer_ops dlock_redis_renewer_ops;

dlock_pool *dlock_redis_renewer_pool(dlock_renewer *renewer);

/* Sends a call of a round, to be confirmed by that number of replicas: with all others of the batch that go over the
 * connection, by one WAIT behind them. Returns that, to be released; NULL: none. `asks`: as with
 * dlock_delivery_send(). */
dlock_call *dlock_redis_renewer_send(
	dlock_renewer *renewer, dlock_conn *conn, dlock_call *call, int replicas, bool asks);

#endif
