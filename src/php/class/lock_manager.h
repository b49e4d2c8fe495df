#ifndef DLOCK_PHP_LOCK_MANAGER_H
#define DLOCK_PHP_LOCK_MANAGER_H

#include "php.h"

/* What acquire(), tryAcquire() and synchronized() do in all classes, once a method has read its arguments. */

typedef struct {
	zend_string *resource; /* the first argument */
	zend_long permits;     /* as many as each lease of the manager has, where permits_arg is 0 */
	double timeout, ttl;
	bool timeout_is_null, ttl_is_null;
	uint32_t permits_arg, timeout_arg, ttl_arg;
} dlock_acquire_arguments;

/* `this`: the object of the method. They return what the method returns, or have thrown. */
void dlock_manager_do_acquire(zval *this, const dlock_acquire_arguments *arguments, zval *return_value);
void dlock_manager_do_try_acquire(zval *this, const dlock_acquire_arguments *arguments, zval *return_value);
void dlock_manager_do_synchronized(zval *this, const dlock_acquire_arguments *arguments, zend_fcall_info *section,
	zend_fcall_info_cache *cache, zval *return_value);

#endif
