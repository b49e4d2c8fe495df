#ifndef DLOCK_PHP_STOCK_ORDER_H
#define DLOCK_PHP_STOCK_ORDER_H

#include "stock_object.h"

/* Dlock\OrderState and Dlock\Order. */

/* The case of Dlock\OrderState; DLOCK_STATE_NONE is null. */
void dlock_stock_state(zval *value, dlock_order_state state);
dlock_order_state dlock_stock_state_from(zend_object *object);

/* Makes a Dlock\Order, which owns the items and the names from then on. `at`: a Unix time. `remaining`: in seconds, if
 * the order is reserved. */
void dlock_order_create(zval *value, dlock_order_state state, zval *items, zend_string *buyer, zend_string *name,
	double at, double remaining);

#endif
