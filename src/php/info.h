#ifndef DLOCK_PHP_INFO_H
#define DLOCK_PHP_INFO_H

#include "php.h"

/* phpinfo()'s part: versions, libraries, counters and settings. */
void dlock_print_info(zend_module_entry *module);

#endif
