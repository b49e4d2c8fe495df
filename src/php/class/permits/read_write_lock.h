#ifndef DLOCK_PHP_READ_WRITE_LOCK_H
#define DLOCK_PHP_READ_WRITE_LOCK_H

#include "php.h"

/* Gives Dlock\ReadWriteLock its objects. */
void dlock_read_write_lock_register(zend_class_entry *class);

#endif
