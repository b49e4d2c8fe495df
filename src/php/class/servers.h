#ifndef DLOCK_PHP_SERVERS_H
#define DLOCK_PHP_SERVERS_H

#include "php.h"

#include "../../net/endpoint/endpoint.h"

/* The $server argument of constructors, a DSN or an array, as a dlock_endpoint. */

/* A server from any of the documented forms; the caller releases it. NULL after an exception about argument number
 * `arg`. `element` >= 0: its position in a list. */
dlock_endpoint *dlock_endpoint_from_zval(const zval *spec, uint32_t arg, zend_long element);

/* The same from a constructor's argument, as parsed, and with its guard set. Neither an array nor a DSN:
 * dlock.server. */
dlock_endpoint *dlock_endpoint_from_arguments(HashTable *array, zend_string *dsn, uint32_t arg);

/* Is it a list of servers, as for RedLock? */
bool dlock_is_list_of_servers(HashTable *array);

/* If the server needs a guard and has none, sets it: dlock.restart_guard (10 s if that is off), or dlock.ttl if that is
 * longer. */
void dlock_endpoint_complete(dlock_endpoint *server);

#endif
