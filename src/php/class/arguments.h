#ifndef DLOCK_PHP_ARGUMENTS_H
#define DLOCK_PHP_ARGUMENTS_H

#include "php.h"

#include "../../lock/backend.h"

/* Numbers and times as arguments of methods: read, and checked against what they may be. */

/* IS_LONG, IS_DOUBLE, or 0 where it is no number. Settings that come from the environment are strings. */
uint8_t dlock_number_of(const zval *value, zend_long *whole, double *number);

/* Each checks one argument; false after a ValueError that names it and what it may be. */
bool dlock_check_ttl(double seconds, dlock_ttl_range range, uint32_t arg, dlock_nanos *ttl);
bool dlock_check_timeout(double seconds, bool is_null, dlock_nanos otherwise, uint32_t arg, dlock_nanos *timeout);

#endif
