#ifndef DLOCK_PHP_LEASE_H
#define DLOCK_PHP_LEASE_H

#include "php.h"

#include "../request/hold.h"
#include "manager.h"

/* Objects of Dlock\Lease: each owns a hold (hold.h), and releases it when the last variable is gone. */

/* Gives Dlock\Lease its objects. */
void dlock_lease_register(zend_class_entry *class);

/* Makes a Dlock\Lease that owns the hold. `resources`: the names for which the caller asked. */
void dlock_lease_create(zval *lease, dlock_hold *hold, const dlock_resources *resources);

/* The hold of a lease. NULL: the lease is detached. */
dlock_hold *dlock_lease_hold(zval *lease);

#endif
