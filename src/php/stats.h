#ifndef DLOCK_PHP_STATS_H
#define DLOCK_PHP_STATS_H

#include "php.h"

/* What this process, under ZTS this thread, did so far: Dlock\stats(), and in phpinfo(). */

/* Adds to the totals of all workers what is new in its counters. */
void dlock_stats_publish(void);

/* phpinfo()'s part: versions, libraries, counters and settings. */
void dlock_print_info(zend_module_entry *module);

#endif
