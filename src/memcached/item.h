#ifndef DLOCK_MEMCACHED_ITEM_H
#define DLOCK_MEMCACHED_ITEM_H

#include <stdatomic.h>

#include "request.h"

/* The key of a held lock, shared by its holder and the thread that renews it. Each change gives the key another CAS.
 * Both know the CAS that they learned over their own connections. */
typedef struct {
	_Atomic unsigned references;
	_Atomic bool renewed; /* the thread renewed it, so the holder has to ask for the CAS; the holder clears it */
	_Atomic dlock_nanos
		until; /* the end of the lease that the holder requested last; a renewal does not shorten it */
	dlock_memcached_key key;
	char token[DLOCK_TOKEN_MAX + 1];
} dlock_memcached_item;

/* How much earlier than requested a key may expire. The server counts whole seconds of a clock that ticks once a
 * second, and may skip one. */
#define DLOCK_MEMCACHED_MARGIN (2 * DLOCK_SECOND)

dlock_memcached_item *dlock_memcached_item_new(void);
dlock_memcached_item *dlock_memcached_item_retain(dlock_memcached_item *item);
void dlock_memcached_item_release(dlock_memcached_item *item); /* accepts NULL */

/* Notes that the holder is about to request this lease time. Returns it in seconds. */
int64_t dlock_memcached_item_want(dlock_memcached_item *item, dlock_nanos ttl);

/* Returns the seconds that a renewal by this lease time requests. */
int64_t dlock_memcached_item_seconds(const dlock_memcached_item *item, dlock_nanos ttl);

#endif
