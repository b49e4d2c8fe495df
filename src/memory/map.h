#ifndef DLOCK_MEMORY_MAP_H
#define DLOCK_MEMORY_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Entries by name, which is any bytes. What is kept under a name is a struct that begins with its entry. */

typedef struct dlock_memory_entry {
	struct dlock_memory_entry *next; /* in its bucket */
	uint64_t hash;
	char *name;
	size_t len;
} dlock_memory_entry;

typedef struct {
	dlock_memory_entry **buckets; /* NULL: it is empty, and so was always */
	size_t bucket_count, count;   /* the first is a power of two */
} dlock_memory_map;

/* NULL: there is none. */
void *dlock_memory_entry_of(const dlock_memory_map *map, const char *name, size_t len);

/* One of `size` bytes, zeroed except its entry. NULL when out of memory. */
void *dlock_memory_add(dlock_memory_map *map, const char *name, size_t len, size_t size);

/* What is given back in the end by dlock_memory_free(). */
void dlock_memory_remove(dlock_memory_map *map, dlock_memory_entry *entry);
void dlock_memory_free(dlock_memory_entry *entry);

/* All, in any order: NULL begins with the first; NULL is behind the last. */
void *dlock_memory_next(const dlock_memory_map *map, const dlock_memory_entry *entry);

#endif
