#ifndef DLOCK_PHP_ENDING_H
#define DLOCK_PHP_ENDING_H

#include "php.h"

/* Whether an object is destroyed because the program drops it, or because the request ends. */

/* At the beginning of each request. */
void dlock_ending_begin(void);

/* Before the first lock that the request's end must not release. */
void dlock_ending_watch(void);

/* PHP calls it as a shutdown function. The functions that were registered before it have run. */
void dlock_ending_reached(void);

/* Are objects destroyed now because the request ends? Otherwise the program drops them. */
bool dlock_is_ending(void);

#endif
