#ifndef DLOCK_MEMORY_MAP_H
#define DLOCK_MEMORY_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Entries by name: any bytes. An entry is a struct that begins with a dlock_memory_entry. */

typedef struct dlock_memory_entry {
	struct dlock_memory_entry *next; /* in its bucket */
	uint64_t hash;
	char *name;
	size_t len;
} dlock_memory_entry;

typedef struct {
	dlock_memory_entry **buckets; /* NULL: no entry was ever added */
	size_t bucket_count, count;   /* bucket_count is a power of two */
} dlock_memory_map;

/* Returns the entry with this name, or NULL. */
void *dlock_memory_entry_of(const dlock_memory_map *map, const char *name, size_t len);

/* Adds an entry of `size` bytes, zero except its first member. The name must be new. NULL if out of memory. */
void *dlock_memory_add(dlock_memory_map *map, const char *name, size_t len, size_t size);

/* Removes the entry; the caller frees it. */
void dlock_memory_remove(dlock_memory_map *map, dlock_memory_entry *entry);
void dlock_memory_free(dlock_memory_entry *entry);

/* Returns the entry after this one, in no particular order. NULL stands for the beginning and for the end. */
void *dlock_memory_next(const dlock_memory_map *map, const dlock_memory_entry *entry);

#endif
