#ifndef DLOCK_PHP_ERRORS_H
#define DLOCK_PHP_ERRORS_H

#include "php.h"

#include "../../lock/backend.h"

/* Exceptions: which class each status becomes. */

/* Throws the exception of the status. Handlers of signals that are due run first, and may throw instead. `backend`: for
 * DLOCK_QUORUM, whose servers' errors the exception has; otherwise it may be NULL. */
void dlock_throw(dlock_status status, const dlock_error *error, const dlock_backend *backend);

/* The same with an exception of `class`. NULL: a handler has thrown instead. */
zend_object *dlock_throw_as(zend_class_entry *class, const dlock_error *error);

/* Throws a DlockException: out of memory. */
void dlock_throw_no_memory(void);

/* Throws a LeaseLostException: The lock "RESOURCE", and then `what`. NULL: exit() is under way, so nothing is
 * thrown. */
zend_object *dlock_throw_lost(const char *resource, size_t resource_len, const char *what);

/* Is it a LeaseLostException with that message? */
bool dlock_is_lost_exception(zend_object *exception, const char *resource, size_t resource_len, const char *what);

#define DLOCK_LOST_WHILE_HELD "was lost while it was held"

#endif
