#ifndef DLOCK_PHP_DESCRIPTION_H
#define DLOCK_PHP_DESCRIPTION_H

#include "../lock/inspection.h"

/* What inspect() shows of this process to other processes: its host, and a label of its work (INI dlock.label,
 * Dlock\setLabel()). */

/* The request's description, made at the first call and owned by the globals. NULL: dlock.describe is off, or memory
 * has run out. Call it before a token is made: the first call in a process sets the host that tokens name. */
dlock_description *dlock_description_here(void);

/* Drops the description: the next call makes a new one. */
void dlock_description_forget(void);

/* At the request's end: drops the description and the label of setLabel(). */
void dlock_description_end(void);

#endif
