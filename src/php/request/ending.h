#ifndef DLOCK_PHP_ENDING_H
#define DLOCK_PHP_ENDING_H

#include "php.h"

/* Tells what the program drops from what PHP destroys because the request ends. */

/* At each request's beginning. */
void dlock_ending_begin(void);

/* Before the first lock that is not to be released at the request's end. */
void dlock_ending_watch(void);

/* Called by PHP as a shutdown function: those registered before it have run. */
void dlock_ending_reached(void);

/* Is what is destroyed now destroyed because the request ends, rather than dropped by the program? */
bool dlock_is_ending(void);

#endif
