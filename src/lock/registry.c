#include "registry.h"

#include <string.h>

#include "renewal.h"

void dlock_registry_add(dlock_registry *registry, dlock_claim *claim)
{
	claim->registered = true;
	claim->previous = NULL;
	claim->next = registry->first;
	if (claim->next) {
		claim->next->previous = claim;
	}
	registry->first = claim;
	registry->count++;
}

void dlock_registry_remove(dlock_registry *registry, dlock_claim *claim)
{
	if (!claim->registered) {
		return;
	}
	if (claim->previous) {
		claim->previous->next = claim->next;
	} else {
		registry->first = claim->next;
	}
	if (claim->next) {
		claim->next->previous = claim->previous;
	}
	registry->count--;
	claim->registered = false;
	claim->previous = claim->next = NULL;
}

dlock_claim *dlock_registry_find(const dlock_registry *registry, const char *token)
{
	for (dlock_claim *claim = registry->first; claim; claim = claim->next) {
		if (!strcmp(claim->token, token) && dlock_claim_is_mine(claim)) {
			return claim;
		}
	}
	return NULL;
}

dlock_claim *dlock_registry_find_endless(const dlock_registry *registry, dlock_backend *backend, const char *resource, size_t len,
	const dlock_claim *waiting)
{
	dlock_nanos remaining;

	for (dlock_claim *claim = registry->first; claim; claim = claim->next) {
		if (claim != waiting && claim->backend->ops == backend->ops && (claim->ttl == 0 || claim->renewal)
				&& backend->ops->is_same(claim, backend, resource, len) && (claim->ttl == 0 || dlock_renewal_is_endless(claim))) {
			dlock_claim_state state = dlock_claim_look(claim, &remaining);
			if (state == DLOCK_CLAIM_HELD || state == DLOCK_CLAIM_UNCERTAIN
					|| (state == DLOCK_CLAIM_WAITING && claim->ttl == 0 && dlock_claim_is_mine(claim))) {
				return claim;
			}
		}
	}
	return NULL;
}

void dlock_registry_purge(dlock_registry *registry)
{
	dlock_nanos remaining;

	if (registry->count < registry->purge_at) {
		return;
	}
	for (dlock_claim *claim = registry->first, *next; claim; claim = next) {
		next = claim->next;
		if (!claim->owned && dlock_claim_look(claim, &remaining) == DLOCK_CLAIM_LOST) {
			dlock_registry_remove(registry, claim);
			dlock_claim_abandon(claim);
			dlock_claim_free(claim);
		}
	}
	registry->purge_at = registry->count < 32 ? 64 : 2 * registry->count;
}

void dlock_registry_clear(dlock_registry *registry)
{
	while (registry->first) {
		dlock_claim *claim = registry->first;
		dlock_registry_remove(registry, claim);
		if (claim->release_at_end || claim->state == DLOCK_CLAIM_WAITING) {
			dlock_claim_abandon(claim);
		}
		dlock_renewal_end(claim, false);
		if (!claim->owned) {
			dlock_claim_free(claim);
		}
	}
}
