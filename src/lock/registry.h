#ifndef DLOCK_REGISTRY_H
#define DLOCK_REGISTRY_H

#include "operations.h"

/* The claims of one request, from the first attempt until they are released or handed over: what has to be released
 * when the request ends, whatever way it ends. An entry is part of a struct of the layer above, which knows what owns
 * the claim and what the request's end means for it. */
typedef struct dlock_registry_entry {
	dlock_claim *claim;
	bool registered;
	uint64_t strand; /* that acquired it: a number of the layer above */
	const dlock_backend *made_by; /* whose manager asked for it; only to be compared. Set by dlock_registry_add() where
									 it is NULL: the claim's */
	bool reentrant; /* its strand may acquire the same once more, and shares the claim then */
	struct dlock_registry_entry *previous, *next;
	uint64_t hash;
	struct dlock_registry_entry *next_in_bucket, **place; /* the pointer to this one there */
} dlock_registry_entry;

typedef struct {
	dlock_registry_entry *first;
	size_t count;
	size_t several; /* those of them that are for several resources at once */
	size_t purge_at; /* the count at which the next purge is worth it */
	struct dlock_registry_entry **buckets; /* by dlock_backend_hash(); NULL: there is one only */
	struct dlock_registry_entry *only_bucket;
	size_t bucket_count; /* a power of two */
} dlock_registry;

void dlock_registry_add(dlock_registry *registry, dlock_registry_entry *entry);

/* Without effect on an entry that is in no registry. */
void dlock_registry_remove(dlock_registry *registry, dlock_registry_entry *entry);

/* The claim with this token, of the very lock that the back end has for this resource, that this process acquired, or
 * NULL. */
dlock_registry_entry *dlock_registry_find(
	const dlock_registry *registry, dlock_backend *backend, const char *resource, size_t len, const char *token);

/* What the strand holds of the resource by this very back end object, as last known, or NULL. Of several: the last
 * one. */
dlock_registry_entry *dlock_registry_find_made_by(const dlock_registry *registry, const dlock_backend *backend,
	const char *resource, size_t len, uint64_t strand);

/* What the strand may enter once more, instead of waiting for these resources: a reentrant entry whose claim holds all
 * of them, as memory knows it; or NULL. */
dlock_registry_entry *dlock_registry_find_reentrant(
	const dlock_registry *registry, dlock_backend *backend, const dlock_name *names, int count, uint64_t strand);

/* Calls `visit` for each entry, which may remove that one and free it, but only once their number has doubled since the
 * last time. Amortised over the calls it takes O(1). */
void dlock_registry_purge(dlock_registry *registry, void (*visit)(dlock_registry_entry *entry));

#define DLOCK_ANY_STRAND UINT64_MAX

/* The strand's claim that holds the very lock that the back end has for this resource and is renewed without limit, or
 * NULL: a wait for it in the same strand would last for ever. So would, where the session is the lease, a wait in line
 * after one that a signal's handler has interrupted. Of more than one permit: one of the claims that leave too few for
 * `permits` more, all of them together. `waiting` is the claim of the wait itself, where it is registered already;
 * otherwise NULL. */
dlock_claim *dlock_registry_find_endless(const dlock_registry *registry, dlock_backend *backend, const char *resource,
	size_t len, int64_t permits, uint64_t strand, const dlock_claim *waiting);

/* The permits of all claims of that kind together. */
int64_t dlock_registry_count_endless(const dlock_registry *registry, dlock_backend *backend, const char *resource,
	size_t len, uint64_t strand, const dlock_claim *waiting);

/* Removes all entries and calls `end` for each of them. */
void dlock_registry_clear(dlock_registry *registry, void (*end)(dlock_registry_entry *entry));

#endif
