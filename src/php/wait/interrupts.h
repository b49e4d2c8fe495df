#ifndef DLOCK_PHP_INTERRUPTS_H
#define DLOCK_PHP_INTERRUPTS_H

#include "php.h"

#include "../../base/wait.h"
#include "zend_exceptions.h"

/* Waits that PHP's signal handlers, time limits and losses can interrupt. */

/* Such a wait, until `deadline`; DLOCK_FOREVER: without limit. */
dlock_wait dlock_interruptible(dlock_nanos deadline);

/* Before an interrupted wait continues: a handler may have set a waiter, or acquired the first lease whose loss is
 * thrown. */
void dlock_go_on_waiting(dlock_wait *wait);

/* Is a signal, a time limit or a loss due, which PHP has not handled yet? */
bool dlock_is_interrupted(void);

/* Is it no exception of the program? PHP uses such exceptions to unwind after exit(), and to end a fiber without
 * references. */
static inline bool dlock_is_exit(const zend_object *exception)
{
	return zend_is_unwind_exit(exception) || zend_is_graceful_exit(exception);
}

/* Runs the handlers that interrupted a wait. They may throw; a time limit does not return. An exception that is already
 * pending is set aside meanwhile, because with it PHP would count a signal as handled. It becomes the previous
 * exception of what the handlers throw. */
void dlock_run_interrupts(void);

#endif
