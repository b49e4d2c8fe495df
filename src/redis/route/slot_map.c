#include "slot_map.h"

#include <strings.h>
#include <stdlib.h>
#include <string.h>


enum { MOST_SERVERS = INT16_MAX, NONE = -1 };

bool dlock_slot_map_begin(dlock_slot_map *map, int slots)
{
	*map = (dlock_slot_map) { .slots = slots, .number = malloc((size_t) slots * sizeof *map->number) };
	for (int i = 0; map->number && i < slots; i++) {
		map->number[i] = NONE;
	}
	return map->number != NULL;
}

void dlock_slot_map_end(dlock_slot_map *map)
{
	for (int i = 0; i < map->count; i++) {
		dlock_endpoint_release(map->servers[i]);
	}
	free(map->servers);
	free(map->number);
	*map = (dlock_slot_map) { 0 };
}

dlock_endpoint *dlock_slot_map_get(const dlock_slot_map *map, int slot)
{
	int number = map->number[slot];

	return number == NONE ? NULL : map->servers[number];
}

static bool grow(dlock_slot_map *map)
{
	int capacity = map->capacity ? 2 * map->capacity : 4;
	dlock_endpoint **servers = realloc(map->servers, (size_t) capacity * sizeof *servers);

	if (!servers) {
		return false;
	}
	map->servers = servers;
	map->capacity = capacity;
	return true;
}

/* NONE when out of memory, or if there are MOST_SERVERS. */
static int number_of(dlock_slot_map *map, dlock_endpoint *server)
{
	for (int i = 0; i < map->count; i++) {
		if (map->servers[i] == server || !strcmp(map->servers[i]->key, server->key)) {
			return i;
		}
	}
	if (map->count == MOST_SERVERS || (map->count == map->capacity && !grow(map))) {
		return NONE;
	}
	map->servers[map->count] = dlock_endpoint_retain(server);
	return map->count++;
}

bool dlock_slot_map_set(dlock_slot_map *map, int first, int last, dlock_endpoint *server)
{
	int number = server ? number_of(map, server) : NONE;

	if (server && number == NONE) {
		return false;
	}
	for (int slot = first; slot <= last; slot++) {
		map->number[slot] = (int16_t) number;
	}
	return true;
}

bool dlock_slot_map_fill(dlock_slot_map *map, const dlock_slot_map *other)
{
	for (int slot = 0; slot < map->slots && slot < other->slots; slot++) {
		dlock_endpoint *server = dlock_slot_map_get(map, slot) ? NULL : dlock_slot_map_get(other, slot);
		if (server && !dlock_slot_map_set(map, slot, slot, server)) {
			return false;
		}
	}
	return true;
}

dlock_endpoint *dlock_slot_map_find(const dlock_slot_map *map, const char *host, int port)
{
	for (int i = 0; i < map->count; i++) {
		const dlock_endpoint *server = map->servers[i];
		if (server->host && server->port == port && !strcasecmp(server->host, host)) {
			return map->servers[i];
		}
	}
	return NULL;
}

bool dlock_slot_map_is_same(const dlock_slot_map *a, const dlock_slot_map *b)
{
	for (int slot = 0; slot < a->slots; slot++) {
		const dlock_endpoint *one = dlock_slot_map_get(a, slot), *other = dlock_slot_map_get(b, slot);
		if (one != other && (!one || !other || strcmp(one->key, other->key))) {
			return false;
		}
	}
	return true;
}

static bool has_slot(const dlock_slot_map *map, int number)
{
	for (int slot = 0; slot < map->slots; slot++) {
		if (map->number[slot] == number) {
			return true;
		}
	}
	return false;
}

/* The last server gets the place and the number of the dropped one. */
static void drop(dlock_slot_map *map, int number)
{
	int last = --map->count;

	dlock_endpoint_release(map->servers[number]);
	map->servers[number] = map->servers[last];
	for (int slot = 0; slot < map->slots; slot++) {
		if (map->number[slot] == last) {
			map->number[slot] = (int16_t) number;
		}
	}
}

void dlock_slot_map_sweep(dlock_slot_map *map)
{
	for (int number = map->count - 1; number >= 0; number--) {
		if (!has_slot(map, number)) {
			drop(map, number);
		}
	}
}
