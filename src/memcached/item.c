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
