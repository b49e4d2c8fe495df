#ifndef DLOCK_PHP_STOCK_ORDER_H
#define DLOCK_PHP_STOCK_ORDER_H

#include "stock_object.h"

/* Dlock\OrderState and Dlock\Order. */

/* A case of the enumeration, or null. */
void dlock_stock_state(zval *value, dlock_order_state state);
dlock_order_state dlock_stock_state_from(zend_object *object);

/* Takes over the items and the names. `at`: a Unix time. */
void dlock_order_create(zval *value, dlock_order_state state, zval *items, zend_string *buyer, zend_string *name,
	double at, double remaining);

#endif
