#include "backend.h"

dlock_nanos dlock_drift(dlock_nanos ttl)
{
	return ttl / 100 + 2 * DLOCK_MS;
}

/* FNV-1a, which goes on from where it was. */
static uint64_t hash(uint64_t hash, const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		hash = (hash ^ (unsigned char) text[i]) * 0x100000001b3;
	}
	return hash;
}

uint64_t dlock_backend_hash(const dlock_backend *backend, const char *resource, size_t resource_len)
{
	return hash(backend->prefix_hash, resource, resource_len);
}

void dlock_backend_init(dlock_backend *backend, const dlock_backend_ops *ops, const char *prefix, size_t prefix_len)
{
	backend->ops = ops;
	backend->references = 1;
	backend->kind = ops->name;
	backend->legacy = false;
	backend->prefix_hash = hash(0xcbf29ce484222325, prefix, prefix_len);
	backend->capacity = 1;
	backend->ttls = ops->ttls ? *ops->ttls : DLOCK_ANY_TTL;
	backend->one_only = ops->one_only;
}

dlock_ttl_range dlock_backend_ttls(const dlock_backend *backend)
{
	return backend->ttls;
}

dlock_nanos dlock_set_aside(const dlock_backend *backend, dlock_nanos ttl)
{
	return dlock_drift(ttl) + backend->ops->margin;
}

void dlock_backend_release(dlock_backend *backend)
{
	if (--backend->references == 0) {
		backend->ops->destroy(backend);
	}
}
