#ifndef DLOCK_PHP_STATS_H
#define DLOCK_PHP_STATS_H

#include "php.h"

/* What this process (under ZTS, this thread) has done so far, for Dlock\stats() and phpinfo(). */

/* Adds what the counters have gained since the last call to the totals of all workers. */
void dlock_stats_publish(void);

/* In the child of a fork(): what the parent has counted is for the parent to publish. */
void dlock_stats_forked(void);

/* phpinfo()'s part: versions, libraries, counters and settings. */
void dlock_print_info(zend_module_entry *module);

#endif
