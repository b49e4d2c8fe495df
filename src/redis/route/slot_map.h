#ifndef DLOCK_REDIS_SLOT_MAP_H
#define DLOCK_REDIS_SLOT_MAP_H

#include <stdint.h>

#include "../../net/endpoint/endpoint.h"

/* Which server has which slot, as a table of server numbers. The map has a reference to each server. */
typedef struct {
	int slots;
	int16_t *number; /* the number of the slot's server; -1: not known */
	dlock_endpoint **servers;
	int count, capacity;
} dlock_slot_map;

/* Begins a map without servers. False when out of memory. */
bool dlock_slot_map_begin(dlock_slot_map *map, int slots);
void dlock_slot_map_end(dlock_slot_map *map);

/* The slot's server; NULL: not known. */
dlock_endpoint *dlock_slot_map_get(const dlock_slot_map *map, int slot);

/* Sets the server of the slots `first` to `last`; NULL: it is no longer known. False when out of memory. */
bool dlock_slot_map_set(dlock_slot_map *map, int first, int last, dlock_endpoint *server);

/* Slots without a known server get the one that `other` knows, because a node may have forgotten another node. False
 * when out of memory. */
bool dlock_slot_map_fill(dlock_slot_map *map, const dlock_slot_map *other);

/* The map's server at this address; NULL: there is none. */
dlock_endpoint *dlock_slot_map_find(const dlock_slot_map *map, const char *host, int port);

/* Does each slot have the same server in both maps? */
bool dlock_slot_map_is_same(const dlock_slot_map *a, const dlock_slot_map *b);

/* Drops servers that no longer have a slot. */
void dlock_slot_map_sweep(dlock_slot_map *map);

#endif
