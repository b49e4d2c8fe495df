#ifndef DLOCK_PHP_UNKEPT_H
#define DLOCK_PHP_UNKEPT_H

#include "php.h"

#include "../../lock/claim.h"

/* For a method that is about to return a new lease: warns if the calling code drops the lease in the same statement, as
 * `if (!$locks->tryAcquire('job'))` does. In doubt it is silent. */
void dlock_warn_if_unkept(const dlock_claim *claim);

/* Sets #[\NoDiscard] for the methods of `class` that return a lease, if PHP has that attribute. */
void dlock_unkept_register(zend_class_entry *class);

#endif
