#ifndef DLOCK_PHP_ARGUMENTS_H
#define DLOCK_PHP_ARGUMENTS_H

#include "php.h"

#include "../../lock/backend.h"

/* Numbers and times as arguments of methods: reads them, and checks their ranges. */

/* IS_LONG sets `whole`, IS_DOUBLE sets `number`; 0: it is no number. A string may be a number, because values from the
 * environment are strings. */
uint8_t dlock_number_of(const zval *value, zend_long *whole, double *number);

/* Each checks one argument, in seconds. False after a ValueError that names the argument and its range. `otherwise`:
 * the timeout if the argument is null. */
bool dlock_check_ttl(double seconds, dlock_ttl_range range, uint32_t arg, dlock_nanos *ttl);
bool dlock_check_timeout(double seconds, bool is_null, dlock_nanos otherwise, uint32_t arg, dlock_nanos *timeout);

#endif
