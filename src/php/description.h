#ifndef DLOCK_PHP_DESCRIPTION_H
#define DLOCK_PHP_DESCRIPTION_H

#include "../lock/inspection.h"

/* What others see of this process when they look at a lock: its host and what it is doing (INI dlock.label,
 * Dlock\setLabel()). */

/* The request's, which is made when it is asked for first; NULL: others are told nothing, or there is no memory. To be
 * asked for before a token is made, which names the host. */
dlock_description *dlock_description_here(void);

/* The next one is made anew. */
void dlock_description_forget(void);

/* At the request's end. */
void dlock_description_end(void);

#endif
