#include "item.h"

#include <stdlib.h>

dlock_memcached_item *dlock_memcached_item_new(void)
{
	dlock_memcached_item *item = calloc(1, sizeof *item);

	if (item) {
		atomic_init(&item->references, 1);
	}
	return item;
}

dlock_memcached_item *dlock_memcached_item_retain(dlock_memcached_item *item)
{
	atomic_fetch_add(&item->references, 1);
	return item;
}

void dlock_memcached_item_release(dlock_memcached_item *item)
{
	if (item && atomic_fetch_sub(&item->references, 1) == 1) {
		free(item);
	}
}

static int64_t in_seconds(dlock_nanos ttl)
{
	return (ttl + DLOCK_SECOND - 1) / DLOCK_SECOND;
}

int64_t dlock_memcached_item_want(dlock_memcached_item *item, dlock_nanos ttl)
{
	atomic_store(&item->until, dlock_now() + ttl);
	return in_seconds(ttl);
}

int64_t dlock_memcached_item_seconds(const dlock_memcached_item *item, dlock_nanos ttl)
{
	dlock_nanos left = atomic_load(&item->until) - dlock_now();

	return in_seconds(left > ttl ? left : ttl);
}
