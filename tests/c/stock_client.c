#include "stock_client.h"

#include <stdlib.h>
#include <string.h>

#include "tap.h"

shop shop_on(dlock_endpoint *service)
{
	shop shop = { .pool = calloc(1, sizeof(dlock_pool)) };

	shop.stock = dlock_redis_stock_new(shop.pool, service, STOCK, strlen(STOCK));
	dlock_endpoint_release(service);
	return shop;
}

shop shop_at(const char *dsn)
{
	return shop_on(test_server_at(dsn));
}

void shop_free(shop *shop)
{
	shop->stock->ops->free(shop->stock);
	dlock_pool_clear(shop->pool);
	free(shop->pool);
}

dlock_order order_of(const char *skus, const char *request)
{
	dlock_order order = { .id = dlock_stock_order_id(DLOCK_ARG("ann"), DLOCK_ARG(request)), .generation = -1 };

	while (*skus) {
		size_t len = strcspn(skus, " ");
		order.skus[order.count] = (dlock_arg) { skus, len };
		order.units[order.count++] = 1;
		skus += len + (skus[len] == ' ');
	}
	return order;
}

static int outcome(shop *shop, dlock_status status)
{
	if (status != DLOCK_OK) {
		note("%d: %s", status, shop->error.message);
	}
	return status == DLOCK_OK ? (int) shop->answer.outcome : -1;
}

int reserve(shop *shop, const dlock_order *order, int ttl_ms, int timeout_ms)
{
	dlock_stock_turn turn = { .stock = shop->stock, .order = order, .ttl = ttl_ms * DLOCK_MS };
	dlock_wait wait = { .deadline = dlock_after(dlock_now(), timeout_ms * DLOCK_MS) };

	return outcome(shop, turn.stock->ops->reserve(&turn, &wait, &shop->answer, &shop->error));
}

int confirm(shop *shop, const dlock_order *order)
{
	return outcome(shop, shop->stock->ops->confirm(shop->stock, order, 0, &shop->answer, &shop->error));
}

int cancel(shop *shop, const dlock_order *order)
{
	return outcome(shop, shop->stock->ops->cancel(shop->stock, order, &shop->answer, &shop->error));
}

int extend_order(shop *shop, const dlock_order *order, int ttl_ms)
{
	return outcome(shop, shop->stock->ops->extend(shop->stock, order, ttl_ms * DLOCK_MS, &shop->answer, &shop->error));
}

int64_t restock(shop *shop, const char *sku, int64_t units, const char *change)
{
	int64_t changed = INT64_MIN;
	dlock_status status = shop->stock->ops->restock(
		shop->stock, DLOCK_ARG(sku), units, DLOCK_ARG(change), 0, &changed, &shop->error);

	if (status != DLOCK_OK) {
		note("%d: %s", status, shop->error.message);
	}
	return status == DLOCK_OK ? changed : INT64_MIN;
}

bool counts_are(shop *shop, const char *sku, int64_t available, int64_t reserved, int64_t sold, int64_t waiting)
{
	dlock_stock_counts n = { 0 };
	dlock_arg name = DLOCK_ARG(sku);
	dlock_status status = shop->stock->ops->count(shop->stock, &name, 1, false, &n, &shop->error);
	bool good = status == DLOCK_OK && n.available == available && n.reserved == reserved && n.sold == sold
		&& n.waiting == waiting;

	if (!good) {
		note("%d: %lld available, %lld reserved, %lld sold, %lld waiting", status, (long long) n.available,
			(long long) n.reserved, (long long) n.sold, (long long) n.waiting);
	}
	return good;
}
