#ifndef DLOCK_REGISTRY_H
#define DLOCK_REGISTRY_H

#include "claim.h"

/* The claims of one request, from the first attempt until they are released or handed over: what has to be given back
 * when the request ends, whatever way it ends. */
typedef struct {
	dlock_claim *first;
	size_t count;
	size_t purge_at; /* the count at which it is worth looking for claims whose time is over */
} dlock_registry;

void dlock_registry_add(dlock_registry *registry, dlock_claim *claim);

/* Without effect on a claim that is in no registry. */
void dlock_registry_remove(dlock_registry *registry, dlock_claim *claim);

/* The held claim with this token that this process acquired, or NULL. */
dlock_claim *dlock_registry_find(const dlock_registry *registry, const char *token);

/* Abandons and frees the claims that no object owns and whose time is over. Amortised over the calls it takes O(1). */
void dlock_registry_purge(dlock_registry *registry);

/* The claim that holds the very lock that the back end has for this resource and is renewed without limit, or NULL: who waits
 * for it in the same thread, waits for ever. So does, where the session is the lease, who waits in line behind a wait that a signal's
 * handler has interrupted. `waiting` is the one that asks, where it is registered already; otherwise NULL. */
dlock_claim *dlock_registry_find_endless(const dlock_registry *registry, dlock_backend *backend, const char *resource, size_t len,
	const dlock_claim *waiting);

/* Abandons all claims that are marked for it and empties the registry. Frees the claims that no object owns. */
void dlock_registry_clear(dlock_registry *registry);

#endif
