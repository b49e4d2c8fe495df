#ifndef DLOCK_MEMORY_STOCK_H
#define DLOCK_MEMORY_STOCK_H

#include "../stock/stock.h"

/* Stocks (src/stock/stock.h) in a table of this process, by the rules of src/redis/script/lua/stock. Only its size
 * bounds the work of a call: it is for tests of applications. */

/* Creates the stocks of the table with this name. NULL if out of memory. */
dlock_stock *dlock_memory_stock_new(const char *table, const char *prefix, size_t prefix_len);

#endif
