#ifndef DLOCK_REGISTRY_H
#define DLOCK_REGISTRY_H

#include "operations.h"

/* The claims of one request, from the first attempt until they are released or detached. The end of the request
 * releases them, however it ends. An entry is part of a struct of the layer above. That layer knows what owns the
 * claim, and what the end of the request means for it. */
typedef struct dlock_registry_entry {
	dlock_claim *claim;
	bool registered;
	uint64_t strand; /* which acquired it: a number of the layer above */
	/* The back end of the manager that asked for it; only compared. If it is NULL, dlock_registry_add() sets the
	 * claim's. */
	const dlock_backend *made_by;
	bool reentrant; /* its strand may acquire the same resources again, and then shares the claim */
	struct dlock_registry_entry *previous, *next;
	uint64_t hash;
	struct dlock_registry_entry *next_in_bucket, **place; /* the pointer to this entry there */
} dlock_registry_entry;

typedef struct {
	dlock_registry_entry *first;
	size_t count;
	size_t several; /* entries whose claims are for several resources */
	size_t purge_at; /* the count at which the next purge pays */
	struct dlock_registry_entry **buckets; /* by dlock_backend_hash(); NULL: only_bucket is the only one */
	struct dlock_registry_entry *only_bucket;
	size_t bucket_count; /* a power of two */
} dlock_registry;

void dlock_registry_add(dlock_registry *registry, dlock_registry_entry *entry);

/* Has no effect on an entry that is in no registry. */
void dlock_registry_remove(dlock_registry *registry, dlock_registry_entry *entry);

/* Finds the claim of this process with this token on the lock that the back end has for the resource. NULL: there is
 * none. */
dlock_registry_entry *dlock_registry_find(
	const dlock_registry *registry, dlock_backend *backend, const char *resource, size_t len, const char *token);

/* Finds the claim of the strand that this back end object made for the resource and that is held, as last known. If
 * there are several, the last one; NULL: none. */
dlock_registry_entry *dlock_registry_find_made_by(const dlock_registry *registry, const dlock_backend *backend,
	const char *resource, size_t len, uint64_t strand);

/* Finds a reentrant entry of the strand whose claim holds all these resources, as memory knows it. The strand shares
 * that claim instead of waiting. NULL: there is none. */
dlock_registry_entry *dlock_registry_find_reentrant(
	const dlock_registry *registry, dlock_backend *backend, const dlock_name *names, int count, uint64_t strand);

/* Calls `visit` for each entry, if their number has doubled since the last purge; so a call costs O(1), amortized.
 * `visit` may remove and free its entry. */
void dlock_registry_purge(dlock_registry *registry, void (*visit)(dlock_registry_entry *entry));

#define DLOCK_ANY_STRAND UINT64_MAX

/* Finds a claim of the strand that is renewed without limit and holds the lock that the back end has for the resource.
 * A wait of the same strand for that lock would never end. NULL: there is none.
 *
 * If the session is the lease, a waiting claim counts as well, because a signal handler would wait behind the claim
 * that it has interrupted.
 *
 * In a pool of several permits, all such claims together must leave too few for `permits` more; the result is one of
 * them. `waiting` is the claim of the wait itself if it is registered, otherwise NULL. */
dlock_claim *dlock_registry_find_endless(const dlock_registry *registry, dlock_backend *backend, const char *resource,
	size_t len, int64_t permits, uint64_t strand, const dlock_claim *waiting);

/* The permits of all such claims together. */
int64_t dlock_registry_count_endless(const dlock_registry *registry, dlock_backend *backend, const char *resource,
	size_t len, uint64_t strand, const dlock_claim *waiting);

/* Removes each entry, and calls `end` for it. */
void dlock_registry_clear(dlock_registry *registry, void (*end)(dlock_registry_entry *entry));

#endif
