#ifndef DLOCK_PHP_ZK_LOCK_H
#define DLOCK_PHP_ZK_LOCK_H

#include "php.h"

/* ZkLock's first argument, in either form, as checked text; NULL after an exception. */
zend_string *dlock_zk_hosts_read(HashTable *array, zend_string *text);

#endif
