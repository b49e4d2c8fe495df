#ifndef DLOCK_REDIS_RENEWER_H
#define DLOCK_REDIS_RENEWER_H

#include "../../lock/renewer.h"
#include "../wire/pool.h"

/* The connections of the renewal thread to Redis servers; see lock/renewer.h. */

extern const dlock_renewer_ops dlock_redis_renewer_ops;

dlock_pool *dlock_redis_renewer_pool(dlock_renewer *renewer);

#endif
