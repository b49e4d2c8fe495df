#ifndef DLOCK_PHP_RESOURCES_H
#define DLOCK_PHP_RESOURCES_H

#include "manager.h"

/* The argument that names what to lock: one name, or a list of names. */

/* Checks and reads the argument. True: the caller frees `out`. False after an exception. */
bool dlock_resources_read(
	const dlock_manager *manager, const dlock_resource_argument *argument, uint32_t arg, dlock_resources *out);
void dlock_resources_free(dlock_resources *resources);

/* The names as messages show them. */
dlock_shown dlock_resources_show(const dlock_resources *resources);

#endif
