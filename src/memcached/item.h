#ifndef DLOCK_MEMCACHED_ITEM_H
#define DLOCK_MEMCACHED_ITEM_H

#include "../base/atomic.h"
#include "request.h"

/* A key that somebody holds. Its holder and the thread that renews it share it, since each change gives it another CAS. */
typedef struct {
	_Atomic unsigned references;
	_Atomic uint64_t cas; /* the last one that is known; where another one has come since, it is asked for */
	_Atomic dlock_nanos until; /* what its holder has asked for last, on dlock_now()'s clock: a renewal under way does not shorten it */
	dlock_memcached_key key;
	char token[DLOCK_TOKEN_MAX + 1];
} dlock_memcached_item;

dlock_memcached_item *dlock_memcached_item_new(void);
dlock_memcached_item *dlock_memcached_item_retain(dlock_memcached_item *item);
void dlock_memcached_item_release(dlock_memcached_item *item); /* NULL is fine */

/* The holder is about to ask for this lease time: how many seconds that are. */
int64_t dlock_memcached_item_want(dlock_memcached_item *item, dlock_nanos ttl);

/* How many seconds a renewal by this lease time asks for. */
int64_t dlock_memcached_item_seconds(const dlock_memcached_item *item, dlock_nanos ttl);

#endif
