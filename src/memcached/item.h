#ifndef DLOCK_MEMCACHED_ITEM_H
#define DLOCK_MEMCACHED_ITEM_H

#include <stdatomic.h>

#include "request.h"

/* A key that is held, shared by its holder and the thread that renews it. Each change gives the key another CAS;
 * each of them knows the one that it has learned over a connection of its own. */
typedef struct {
	_Atomic unsigned references;
	_Atomic bool renewed; /* by the thread, so that its holder has to ask for the CAS; cleared by the holder */
	_Atomic dlock_nanos
		until; /* what its holder has asked for last, on dlock_now()'s clock: a renewal under way does not shorten it */
	dlock_memcached_key key;
	char token[DLOCK_TOKEN_MAX + 1];
} dlock_memcached_item;

/* How much earlier a key may go than was asked for: the server counts whole seconds of a clock that ticks once a
 * second, and may leave one out. */
#define DLOCK_MEMCACHED_MARGIN (2 * DLOCK_SECOND)

dlock_memcached_item *dlock_memcached_item_new(void);
dlock_memcached_item *dlock_memcached_item_retain(dlock_memcached_item *item);
void dlock_memcached_item_release(dlock_memcached_item *item); /* NULL is fine */

/* The holder is about to ask for this lease time: how many seconds that are. */
int64_t dlock_memcached_item_want(dlock_memcached_item *item, dlock_nanos ttl);

/* How many seconds a renewal by this lease time asks for. */
int64_t dlock_memcached_item_seconds(const dlock_memcached_item *item, dlock_nanos ttl);

#endif
