#ifndef DLOCK_PHP_SERVERS_H
#define DLOCK_PHP_SERVERS_H

#include "php.h"

#include "../../net/endpoint/endpoint.h"

/* The $server argument of constructors, a DSN or an array, as a dlock_endpoint. */

/* A server from any of the forms in the documentation; NULL after an exception. `element` >= 0: its position in a
 * list. */
dlock_endpoint *dlock_endpoint_from_zval(const zval *spec, uint32_t arg, zend_long element);

/* The same from a constructor's argument, as parsed; neither an array nor a DSN: dlock.server. With its guard set. */
dlock_endpoint *dlock_endpoint_from_arguments(HashTable *array, zend_string *dsn, uint32_t arg);

/* Is it a list of servers, as RedLock has it? */
bool dlock_is_list_of_servers(HashTable *array);

/* Sets the guard where it was not given: to dlock.restart_guard, 10 s where that is off, or to dlock.ttl if it is
 * longer. */
void dlock_endpoint_complete(dlock_endpoint *server);

#endif
