#ifndef DLOCK_PHP_STOCK_OBJECT_H
#define DLOCK_PHP_STOCK_OBJECT_H

#include "php.h"

#include "../../redis/stock/stocks.h"

/* What objects of Dlock\Stock and Dlock\Reservation have. */

typedef struct {
	dlock_stock *stock; /* NULL: the constructor did not run */
	dlock_nanos ttl;
	int64_t per_buyer;  /* 0: any number */
	zend_string *servers; /* for var_dump(), without credentials */
	zend_string *prefix;
	zend_object std;
} dlock_stock_object;

static inline dlock_stock_object *dlock_stock_from(zend_object *object)
{
	return (dlock_stock_object *) ((char *) object - offsetof(dlock_stock_object, std));
}

/* An order with the names that its arguments point to, on PHP's heap. */
typedef struct {
	dlock_order order;
	zend_string *articles[DLOCK_STOCKS_MAX];
	zend_string *buyer, *request;
} dlock_stock_order;

static inline void dlock_stock_order_free(dlock_stock_order *order)
{
	for (int i = 0; i < order->order.count; i++) {
		zend_string_release(order->articles[i]);
	}
	if (order->buyer) {
		zend_string_release(order->buyer);
		zend_string_release(order->request);
	}
	efree(order);
}

#endif
