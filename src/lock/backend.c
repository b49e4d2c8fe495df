#include "backend.h"

dlock_nanos dlock_drift(dlock_nanos ttl)
{
	return ttl / 100 + 2 * DLOCK_MS;
}

void dlock_backend_init(dlock_backend *backend, const dlock_backend_ops *ops)
{
	backend->ops = ops;
	backend->references = 1;
	backend->legacy = false;
}

void dlock_backend_release(dlock_backend *backend)
{
	if (--backend->references == 0) {
		backend->ops->destroy(backend);
	}
}
