#ifndef DLOCK_PHP_STOCK_H
#define DLOCK_PHP_STOCK_H

#include "php.h"

/* Gives Dlock\Stock its objects. */
void dlock_stock_register(zend_class_entry *class);

#endif
