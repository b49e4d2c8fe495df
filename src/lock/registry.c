#include "registry.h"

#include <string.h>

#include "renewal.h"

void dlock_registry_add(dlock_registry *registry, dlock_registry_entry *entry)
{
	entry->registered = true;
	entry->previous = NULL;
	entry->next = registry->first;
	if (entry->next) {
		entry->next->previous = entry;
	}
	registry->first = entry;
	registry->count++;
}

void dlock_registry_remove(dlock_registry *registry, dlock_registry_entry *entry)
{
	if (!entry->registered) {
		return;
	}
	if (entry->previous) {
		entry->previous->next = entry->next;
	} else {
		registry->first = entry->next;
	}
	if (entry->next) {
		entry->next->previous = entry->previous;
	}
	registry->count--;
	entry->registered = false;
	entry->previous = entry->next = NULL;
}

dlock_registry_entry *dlock_registry_find(const dlock_registry *registry, const char *token)
{
	for (dlock_registry_entry *entry = registry->first; entry; entry = entry->next) {
		if (!strcmp(entry->claim->token, token) && dlock_claim_is_mine(entry->claim)) {
			return entry;
		}
	}
	return NULL;
}

dlock_claim *dlock_registry_find_endless(const dlock_registry *registry, dlock_backend *backend, const char *resource, size_t len,
	int64_t permits, const dlock_claim *waiting)
{
	dlock_nanos remaining;
	int64_t left = backend->capacity;

	for (const dlock_registry_entry *entry = registry->first; entry; entry = entry->next) {
		dlock_claim *claim = entry->claim;
		bool session = claim->backend->ops->session_lease;
		if (claim != waiting && (session || claim->renewal) && dlock_claim_is_for(claim, backend, resource, len)
				&& (session || dlock_renewal_is_endless(claim))) {
			dlock_claim_state state = dlock_claim_look(claim, &remaining);
			if (state == DLOCK_CLAIM_HELD || state == DLOCK_CLAIM_UNCERTAIN
					|| (state == DLOCK_CLAIM_WAITING && session && dlock_claim_is_mine(claim))) {
				left -= claim->permits;
				if (left < permits) {
					return claim;
				}
			}
		}
	}
	return NULL;
}

void dlock_registry_purge(dlock_registry *registry, void (*visit)(dlock_registry_entry *entry))
{
	if (registry->count < registry->purge_at) {
		return;
	}
	for (dlock_registry_entry *entry = registry->first, *next; entry; entry = next) {
		next = entry->next;
		visit(entry);
	}
	registry->purge_at = registry->count < 32 ? 64 : 2 * registry->count;
}

void dlock_registry_clear(dlock_registry *registry, void (*end)(dlock_registry_entry *entry))
{
	while (registry->first) {
		dlock_registry_entry *entry = registry->first;
		dlock_registry_remove(registry, entry);
		end(entry);
	}
}
