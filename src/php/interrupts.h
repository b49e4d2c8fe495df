#ifndef DLOCK_PHP_INTERRUPTS_H
#define DLOCK_PHP_INTERRUPTS_H

#include "../base/wait.h"

/* Waiting, which PHP's signal handlers, time limits and losses can interrupt. */

/* A wait that they can interrupt. */
dlock_wait dlock_interruptible(dlock_nanos deadline);

/* Is a signal handler, a time limit or a loss waiting for PHP to look? */
bool dlock_is_interrupted(void);

/* Runs the handlers that interrupted a wait. They may throw; a time limit does not return. An exception that is pending
 * already is set aside meanwhile, or PHP would take a signal for handled. It becomes the previous of what they
 * throw. */
void dlock_run_interrupts(void);

#endif
