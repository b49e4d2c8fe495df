#include "backend.h"

#include <stdlib.h>
#include <string.h>

dlock_nanos dlock_drift(dlock_nanos ttl)
{
	return ttl / 100 + 2 * DLOCK_MS;
}

/* FNV-1a, continued from `hash`. */
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
	backend->prefix = (dlock_arg) { prefix, prefix_len };
	backend->prefix_hash = hash(0xcbf29ce484222325, prefix, prefix_len);
	backend->capacity = 1;
	backend->ttls = ops->ttls ? *ops->ttls : DLOCK_ANY_TTL;
	backend->one_only = ops->one_only;
}

void *dlock_backend_new(const dlock_backend_ops *ops, size_t size, const char *prefix, size_t prefix_len)
{
	char *backend = calloc(1, size + prefix_len);

	if (backend) {
		dlock_backend_init((dlock_backend *) backend, ops, memcpy(backend + size, prefix, prefix_len), prefix_len);
	}
	return backend;
}

char *dlock_backend_name(const dlock_backend *backend, const char *resource, size_t resource_len)
{
	char *name = malloc(backend->prefix.len + resource_len + 1);

	if (name) {
		memcpy(name, backend->prefix.text, backend->prefix.len);
		memcpy(name + backend->prefix.len, resource, resource_len);
		name[backend->prefix.len + resource_len] = '\0';
	}
	return name;
}

static char name_at(const dlock_backend *backend, dlock_name resource, size_t i)
{
	return i < backend->prefix.len ? backend->prefix.text[i] : resource.text[i - backend->prefix.len];
}

bool dlock_backend_is_same_lock(const dlock_backend *a, dlock_name a_resource, const dlock_backend *b,
	dlock_name b_resource)
{
	size_t len = a->prefix.len + a_resource.len;
	bool is_same = b->prefix.len + b_resource.len == len;

	for (size_t i = 0; is_same && i < len; i++) {
		is_same = name_at(a, a_resource, i) == name_at(b, b_resource, i);
	}
	return is_same && (a == b || !a->ops->is_same || a->ops->is_same(a, b));
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
	if (--backend->references > 0) {
		return;
	}
	if (backend->ops->destroy) {
		backend->ops->destroy(backend);
	} else {
		free(backend);
	}
}
