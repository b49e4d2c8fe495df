#ifndef DLOCK_PHP_ERRORS_H
#define DLOCK_PHP_ERRORS_H

#include "php.h"

#include "../../lock/backend.h"

/* From outcomes to exceptions: which class each status becomes. */

/* Throws what the status stands for. The back end of DLOCK_QUORUM; otherwise it may be NULL. */
void dlock_throw(dlock_status status, const dlock_error *error, const dlock_backend *backend);

/* Throws an exception of that class. */
void dlock_throw_as(zend_class_entry *class, const dlock_error *error);

/* Throws that there is no memory for an object. */
void dlock_throw_no_memory(void);

/* Throws that this lock "was lost" or what it is. NULL where exit() is under way, so that nothing is thrown any
 * more. */
zend_object *dlock_throw_lost(const char *resource, size_t resource_len, const char *what);

/* Does the exception say that? */
bool dlock_is_lost_exception(zend_object *exception, const char *resource, size_t resource_len, const char *what);

#define DLOCK_LOST_WHILE_HELD "was lost while it was held"

#endif
