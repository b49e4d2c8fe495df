#ifndef STOCK_CLIENT_H
#define STOCK_CLIENT_H

#include "../../src/redis/stock/stocks.h"
#include "redis_client.h"
#include "servers.h"

/* A client in a test of stocks: a pool and a stock, as in a process. */
typedef struct {
	dlock_pool *pool;
	dlock_stock *stock;
	dlock_error error;
	dlock_stock_answer answer; /* to the last question */
} shop;

#define STOCK "Stock:"

/* Takes over the caller's reference to the service. */
shop shop_on(dlock_endpoint *service);
shop shop_at(const char *dsn);
void shop_free(shop *shop);

/* An order of buyer "ann" for one unit of each product. `skus` are separated by spaces. */
dlock_order order_of(const char *skus, const char *request);

/* Each prints errors, and returns the outcome; -1: it is unknown. */
int reserve(shop *shop, const dlock_order *order, int ttl_ms, int timeout_ms);
int confirm(shop *shop, const dlock_order *order);
int cancel(shop *shop, const dlock_order *order);
int extend_order(shop *shop, const dlock_order *order, int ttl_ms);

/* By how many units the stock has changed; INT64_MIN: unknown. */
int64_t restock(shop *shop, const char *sku, int64_t units, const char *change);

/* Are these the counts? */
bool counts_are(shop *shop, const char *sku, int64_t available, int64_t reserved, int64_t sold, int64_t waiting);

#endif
