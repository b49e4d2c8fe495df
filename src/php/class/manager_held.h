#ifndef DLOCK_PHP_MANAGER_HELD_H
#define DLOCK_PHP_MANAGER_HELD_H

#include "manager_acquire.h"

/* lock(), unlock() and what goes with them: the object keeps the locks by their resources, as userland lock classes
 * do. */

/* For lock(). True; false at the timeout; false after an exception. */
bool dlock_manager_lock(dlock_manager *manager, zend_string *resource, dlock_terms terms, dlock_nanos timeout);

#endif
