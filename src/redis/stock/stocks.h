#ifndef DLOCK_REDIS_STOCKS_H
#define DLOCK_REDIS_STOCKS_H

#include "../../stock/stock.h"
#include "../wire/pool.h"

/* Stocks (src/stock/stock.h) on Redis. The scripts in script/lua/stock decide. If the answer to a question is lost, the
 * question is sent once more. */

/* The stocks of one service. Each key is `prefix` and the name of the product. NULL when out of memory. */
dlock_stock *dlock_redis_stock_new(dlock_pool *pool, dlock_endpoint *service, const char *prefix, size_t prefix_len);

#endif
