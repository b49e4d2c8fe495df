#ifndef DLOCK_PHP_RESERVATION_H
#define DLOCK_PHP_RESERVATION_H

#include "stock_object.h"

/* Objects of Dlock\Reservation. */

/* Gives Dlock\Reservation its objects. */
void dlock_reservation_register(zend_class_entry *class);

/* Makes a reservation of this stock, which owns the order from then on. `ttl`: the default of extend(). `answer` NULL:
 * no server was asked yet. */
void dlock_reservation_create(zval *value, dlock_stock_object *stock, dlock_stock_order *order, dlock_nanos ttl,
	const dlock_stock_answer *answer);

#endif
