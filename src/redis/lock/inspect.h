#ifndef DLOCK_REDIS_LOCK_INSPECT_H
#define DLOCK_REDIS_LOCK_INSPECT_H

#include "service.h"

/* What is seen of locks from outside: inspect(), list() and break_claim() of the back end (lock/backend.h). */

dlock_status dlock_service_inspect(dlock_backend *backend, const char *resource, size_t len, int most,
	dlock_inspection *out, dlock_error *error);
dlock_status dlock_service_list(dlock_backend *backend, int most, dlock_listing *out, dlock_error *error);
dlock_status dlock_service_break(dlock_backend *backend, const char *resource, size_t len, const dlock_break *how,
	dlock_nanos *left, dlock_error *error);

#endif
