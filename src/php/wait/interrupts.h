#ifndef DLOCK_PHP_INTERRUPTS_H
#define DLOCK_PHP_INTERRUPTS_H

#include "php.h"

#include "../../base/wait.h"
#include "zend_exceptions.h"

/* Waiting, which PHP's signal handlers, time limits and losses can interrupt. */

/* A wait that they can interrupt. */
dlock_wait dlock_interruptible(dlock_nanos deadline);

/* A handler that interrupted it may have set a waiter, or taken the first lease whose loss is thrown. */
void dlock_go_on_waiting(dlock_wait *wait);

/* Is a signal handler, a time limit or a loss waiting for PHP to look? */
bool dlock_is_interrupted(void);

/* No exception of the program: what exit() unwinds with, or the end of a fiber without references. */
static inline bool dlock_is_exit(const zend_object *exception)
{
	return zend_is_unwind_exit(exception) || zend_is_graceful_exit(exception);
}

/* Runs the handlers that interrupted a wait. They may throw; a time limit does not return. An exception that is pending
 * already is set aside meanwhile, or PHP would take a signal for handled. It becomes the previous of what they
 * throw. */
void dlock_run_interrupts(void);

#endif
