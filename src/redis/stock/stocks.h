#ifndef DLOCK_REDIS_STOCKS_H
#define DLOCK_REDIS_STOCKS_H

#include "../../stock/stock.h"
#include "../wire/pool.h"

/* Stocks (src/stock/stock.h) on Redis. What is decided is decided by the scripts in lua/stock. A question whose
 * answer was lost is sent once more. */

/* Those of one service. NULL when out of memory. */
dlock_stock *dlock_redis_stock_new(dlock_pool *pool, dlock_endpoint *service, const char *prefix, size_t prefix_len);

#endif
