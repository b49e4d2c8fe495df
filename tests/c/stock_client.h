#ifndef STOCK_CLIENT_H
#define STOCK_CLIENT_H

#include "../../src/redis/stock/stocks.h"
#include "redis_client.h"
#include "servers.h"

/* What a test of stocks works with: a pool and a stock, as a process has them. */
typedef struct {
	dlock_pool *pool;
	dlock_stock *stock;
	dlock_error error;
	dlock_stock_answer answer; /* to the last question */
} shop;

#define STOCK "Stock:"

/* Takes over the server or service. */
shop shop_on(dlock_endpoint *service);
shop shop_at(const char *dsn);
void shop_free(shop *shop);

/* An order of buyer "ann". `articles` are separated by spaces, one piece of each. */
dlock_order order_of(const char *skus, const char *request);

/* Each remarks upon errors. The outcome, or -1 where it is not known. */
int reserve(shop *shop, const dlock_order *order, int ttl_ms, int timeout_ms);
int confirm(shop *shop, const dlock_order *order);
int cancel(shop *shop, const dlock_order *order);
int extend_order(shop *shop, const dlock_order *order, int ttl_ms);

/* By how many pieces; INT64_MIN where it is not known. */
int64_t restock(shop *shop, const char *sku, int64_t units, const char *change);

/* Are these the counts? */
bool counts_are(shop *shop, const char *sku, int64_t available, int64_t reserved, int64_t sold, int64_t waiting);

#endif
