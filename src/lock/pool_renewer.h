#ifndef DLOCK_LOCK_POOL_RENEWER_H
#define DLOCK_LOCK_POOL_RENEWER_H

#include "../net/pool.h"
#include "renewer.h"

/* The connections of the renewal thread to servers whose protocols share a pool (net/pool.h). */

extern const dlock_renewer_ops dlock_pool_renewer_ops;

dlock_net_pool *dlock_pool_renewer_pool(dlock_renewer *renewer);

#endif
