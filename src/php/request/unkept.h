#ifndef DLOCK_PHP_UNKEPT_H
#define DLOCK_PHP_UNKEPT_H

#include "php.h"

#include "../../lock/claim.h"

/* To be called by a method that is about to return a new lease: warns where the code that called it drops the lease in
 * that very statement, as `if (!$locks->tryAcquire('job'))` does. In doubt it is silent. */
void dlock_warn_if_unkept(const dlock_claim *claim);

/* The same at compile time, where PHP has #[\NoDiscard]. */
void dlock_unkept_register(zend_class_entry *class);

#endif
