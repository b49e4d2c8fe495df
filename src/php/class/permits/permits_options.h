#ifndef DLOCK_PHP_PERMITS_OPTIONS_H
#define DLOCK_PHP_PERMITS_OPTIONS_H

#include "../manager.h"

#include "../../../net/endpoint/endpoint.h"
#include "../../../zookeeper/session/options.h"

/* What Dlock\Semaphore and Dlock\ReadWriteLock share: both are pools of permits. */

/* Where the permits are: on Redis or in memory://, or on ZooKeeper. */
typedef struct {
	dlock_endpoint *server; /* NULL: on the ensemble */
#ifdef DLOCK_ZOOKEEPER
	dlock_zk_options ensemble;
#endif
} dlock_permits_place;

static inline bool dlock_permits_is_on_zookeeper(const dlock_permits_place *place)
{
	return !place->server;
}

/* Reads argument $server, or dlock.server if `array` and `dsn` are NULL. False after an exception: the server is
 * invalid, or has no permits. */
bool dlock_permits_find_place(dlock_permits_place *place, HashTable *array, zend_string *dsn, uint32_t arg);
void dlock_permits_free_place(dlock_permits_place *place);

/* The rest of a constructor: sets the manager's options, names and back end. False after an exception. `kind` must be a
 * static string. */
bool dlock_permits_configure(dlock_manager *manager, const dlock_permits_place *place, zend_string *prefix,
	dlock_options *options, int64_t capacity, bool fifo, const char *kind);

#endif
