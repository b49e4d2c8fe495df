#ifndef DLOCK_REDIS_SLOT_MAP_H
#define DLOCK_REDIS_SLOT_MAP_H

#include <stdint.h>

#include "../../net/endpoint/endpoint.h"

/* Which server has which slot, as a table of numbers of servers. It has a reference to each server. */
typedef struct {
	int slots;
	int16_t *number; /* of the slot's server; -1: not known */
	dlock_endpoint **servers;
	int count, capacity;
} dlock_slot_map;

/* Of no servers. False when out of memory. */
bool dlock_slot_map_begin(dlock_slot_map *map, int slots);
void dlock_slot_map_end(dlock_slot_map *map);

/* NULL: not known. */
dlock_endpoint *dlock_slot_map_get(const dlock_slot_map *map, int slot);

/* The slots `first` to `last`; NULL: not known any more. False when out of memory. */
bool dlock_slot_map_set(dlock_slot_map *map, int first, int last, dlock_endpoint *server);

/* Slots whose server is not known have the one that `other` knows: a node may have forgotten another. False when out of
 * memory. */
bool dlock_slot_map_fill(dlock_slot_map *map, const dlock_slot_map *other);

/* Its server at this address; NULL: it has none. */
dlock_endpoint *dlock_slot_map_find(const dlock_slot_map *map, const char *host, int port);

/* Has each slot the same server in both? */
bool dlock_slot_map_is_same(const dlock_slot_map *a, const dlock_slot_map *b);

/* Drops servers that have no slot any more. */
void dlock_slot_map_sweep(dlock_slot_map *map);

#endif
