#ifndef DLOCK_PHP_MANAGER_OPTIONS_H
#define DLOCK_PHP_MANAGER_OPTIONS_H

#include "manager.h"

/* The options that all constructors share. Argument numbers are 0 where there is none. */
typedef struct {
	double ttl, timeout;
	bool ttl_is_null, timeout_is_null;
	bool renew, renew_is_null;
	zend_string *on_loss; /* NULL: not given */
	bool release, release_is_null;
	dlock_ttl_range ttls; /* that the back end can have */
	uint32_t ttl_arg, timeout_arg, on_loss_arg;
} dlock_options;

/* Before anything else in a constructor. False after an exception: it was called before, or the settings make no
 * sense. */
bool dlock_manager_begin(const dlock_manager *manager);

/* Takes the options, and the settings where they are not given. False after an exception. */
bool dlock_manager_configure(dlock_manager *manager, const dlock_options *options);

#endif
