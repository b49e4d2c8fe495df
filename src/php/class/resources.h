#ifndef DLOCK_PHP_RESOURCES_H
#define DLOCK_PHP_RESOURCES_H

#include "manager.h"

/* What a method is asked to lock: one name, or a list of them. */

/* Checks the argument and reads it; false after an exception. Then it is to be freed. */
bool dlock_resources_read(
	const dlock_manager *manager, const dlock_resource_argument *argument, uint32_t arg, dlock_resources *out);
void dlock_resources_free(dlock_resources *resources);

/* As messages have them. */
dlock_shown dlock_resources_show(const dlock_resources *resources);

#endif
