#include "map.h"

#include <stdlib.h>
#include <string.h>

static uint64_t hash_of(const char *name, size_t len)
{
	uint64_t hash = 0xcbf29ce484222325; /* FNV-1a */

	for (size_t i = 0; i < len; i++) {
		hash = (hash ^ (unsigned char) name[i]) * 0x100000001b3;
	}
	return hash;
}

void *dlock_memory_entry_of(const dlock_memory_map *map, const char *name, size_t len)
{
	uint64_t hash = hash_of(name, len);

	for (dlock_memory_entry *it = map->buckets ? map->buckets[hash & (map->bucket_count - 1)] : NULL; it;
		 it = it->next) {
		if (it->hash == hash && it->len == len && !memcmp(it->name, name, len)) {
			return it;
		}
	}
	return NULL;
}

static void put(dlock_memory_entry **buckets, size_t count, dlock_memory_entry *entry)
{
	entry->next = buckets[entry->hash & (count - 1)];
	buckets[entry->hash & (count - 1)] = entry;
}

/* Doubles the buckets. Without memory the map only becomes slower; false: it has no buckets at all. */
static bool grow(dlock_memory_map *map)
{
	size_t count = map->buckets ? 2 * map->bucket_count : 16;
	dlock_memory_entry **buckets = calloc(count, sizeof *buckets);

	for (size_t i = 0; buckets && i < map->bucket_count; i++) {
		for (dlock_memory_entry *it = map->buckets[i], *next; it; it = next) {
			next = it->next;
			put(buckets, count, it);
		}
	}
	if (buckets) {
		free(map->buckets);
		map->buckets = buckets;
		map->bucket_count = count;
	}
	return map->buckets != NULL;
}

void *dlock_memory_add(dlock_memory_map *map, const char *name, size_t len, size_t size)
{
	dlock_memory_entry *entry = calloc(1, size);

	if (!entry || !(entry->name = malloc(len ? len : 1)) || (map->count >= map->bucket_count && !grow(map))) {
		if (entry) {
			dlock_memory_free(entry);
		}
		return NULL;
	}
	memcpy(entry->name, name, len);
	entry->len = len;
	entry->hash = hash_of(name, len);
	put(map->buckets, map->bucket_count, entry);
	map->count++;
	return entry;
}

void dlock_memory_remove(dlock_memory_map *map, dlock_memory_entry *entry)
{
	dlock_memory_entry **at = &map->buckets[entry->hash & (map->bucket_count - 1)];

	while (*at != entry) {
		at = &(*at)->next;
	}
	*at = entry->next;
	map->count--;
}

void dlock_memory_free(dlock_memory_entry *entry)
{
	free(entry->name);
	free(entry);
}

void *dlock_memory_next(const dlock_memory_map *map, const dlock_memory_entry *entry)
{
	size_t bucket = 0;

	if (entry) {
		if (entry->next) {
			return entry->next;
		}
		bucket = (entry->hash & (map->bucket_count - 1)) + 1;
	}
	while (bucket < map->bucket_count && !map->buckets[bucket]) {
		bucket++;
	}
	return bucket < map->bucket_count ? map->buckets[bucket] : NULL;
}
