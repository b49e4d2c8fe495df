#include "registry.h"

#include <stdlib.h>
#include <string.h>

#include "renewal.h"

/* ---- the hash ---- */

static dlock_registry_entry **bucket_of(dlock_registry *registry, uint64_t hash)
{
	return registry->buckets ? &registry->buckets[hash & (registry->bucket_count - 1)] : &registry->only_bucket;
}

static void put(dlock_registry *registry, dlock_registry_entry *entry)
{
	dlock_registry_entry **bucket = bucket_of(registry, entry->hash);

	entry->place = bucket;
	entry->next_in_bucket = *bucket;
	if (*bucket) {
		(*bucket)->place = &entry->next_in_bucket;
	}
	*bucket = entry;
}

/* Without memory the registry only becomes slower. */
static void grow(dlock_registry *registry)
{
	size_t count = registry->buckets ? 2 * registry->bucket_count : 16;
	dlock_registry_entry **buckets = calloc(count, sizeof *buckets);

	if (!buckets) {
		return;
	}
	free(registry->buckets);
	registry->only_bucket = NULL;
	registry->buckets = buckets;
	registry->bucket_count = count;
	dlock_registry_entry *oldest = registry->first;
	while (oldest && oldest->next) {
		oldest = oldest->next;
	}
	for (dlock_registry_entry *entry = oldest; entry; entry = entry->previous) { /* put() puts the newest first */
		put(registry, entry);
	}
}

static dlock_registry_entry *first_like(
	const dlock_registry *registry, const dlock_backend *backend, const char *resource, size_t len)
{
	return *bucket_of((dlock_registry *) registry, dlock_backend_hash(backend, resource, len));
}

/* ---- entries ---- */

void dlock_registry_add(dlock_registry *registry, dlock_registry_entry *entry)
{
	entry->registered = true;
	entry->made_by = entry->made_by ? entry->made_by : entry->claim->backend;
	entry->previous = NULL;
	entry->next = registry->first;
	if (entry->next) {
		entry->next->previous = entry;
	}
	registry->first = entry;
	entry->hash = dlock_backend_hash(entry->claim->backend, entry->claim->resource, entry->claim->resource_len);
	put(registry, entry);
	registry->several += entry->claim->count > 1;
	if (++registry->count > (registry->buckets ? registry->bucket_count : 4)) {
		grow(registry);
	}
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
	*entry->place = entry->next_in_bucket;
	if (entry->next_in_bucket) {
		entry->next_in_bucket->place = entry->place;
	}
	registry->count--;
	registry->several -= entry->claim->count > 1;
	entry->registered = false;
	entry->previous = entry->next = NULL;
}

dlock_registry_entry *dlock_registry_find(
	const dlock_registry *registry, dlock_backend *backend, const char *resource, size_t len, const char *token)
{
	for (dlock_registry_entry *entry = first_like(registry, backend, resource, len); entry;
		 entry = entry->next_in_bucket) {
		if (!strcmp(entry->claim->token, token) && dlock_claim_is_mine(entry->claim)
				&& dlock_claim_is_for(entry->claim, backend, resource, len)) {
			return entry;
		}
	}
	return NULL;
}

dlock_registry_entry *dlock_registry_find_made_by(
	const dlock_registry *registry, const dlock_backend *backend, const char *resource, size_t len, uint64_t strand)
{
	for (dlock_registry_entry *entry = first_like(registry, backend, resource, len); entry;
		 entry = entry->next_in_bucket) {
		const dlock_claim *claim = entry->claim;
		if (entry->strand == strand && entry->made_by == backend && claim->count == 1 && dlock_claim_is_mine(claim)
			&& dlock_claim_is_held(claim) && dlock_claim_is_for(claim, (dlock_backend *) backend, resource, len)) {
			return entry;
		}
	}
	return NULL;
}

static bool may_enter(
	const dlock_registry_entry *entry, dlock_backend *backend, const dlock_name *names, int count, uint64_t strand)
{
	dlock_nanos remaining;

	if (!entry->reentrant || entry->strand != strand || !dlock_claim_is_mine(entry->claim)) {
		return false;
	}
	for (int i = 0; i < count; i++) {
		if (!dlock_claim_is_for(entry->claim, backend, names[i].text, names[i].len)) {
			return false;
		}
	}
	dlock_claim_state state = dlock_claim_refresh(entry->claim, &remaining);
	return state == DLOCK_CLAIM_HELD || state == DLOCK_CLAIM_UNCERTAIN;
}

dlock_registry_entry *dlock_registry_find_reentrant(
	const dlock_registry *registry, dlock_backend *backend, const dlock_name *names, int count, uint64_t strand)
{
	dlock_registry_entry *entry = first_like(registry, backend, names[0].text, names[0].len);

	while (entry && !may_enter(entry, backend, names, count, strand)) {
		entry = entry->next_in_bucket;
	}
	if (entry || registry->several == 0) {
		return entry;
	}
	/* A claim of several resources is in the bucket of all its names together. */
	entry = registry->first;
	while (entry && !may_enter(entry, backend, names, count, strand)) {
		entry = entry->next;
	}
	return entry;
}

static bool is_of(const dlock_registry_entry *entry, uint64_t strand)
{
	return strand == DLOCK_ANY_STRAND || entry->strand == strand;
}

static bool is_endless(dlock_claim *claim, dlock_backend *backend, const char *resource, size_t len)
{
	dlock_nanos remaining;
	bool session = claim->backend->ops->session_lease;

	if (!(session || claim->renewal) || !dlock_claim_is_for(claim, backend, resource, len)
		|| !(session || dlock_renewal_is_endless(claim))) {
		return false;
	}
	dlock_claim_state state = dlock_claim_refresh(claim, &remaining);
	return state == DLOCK_CLAIM_HELD || state == DLOCK_CLAIM_UNCERTAIN
		|| (state == DLOCK_CLAIM_WAITING && session && dlock_claim_is_mine(claim));
}

dlock_claim *dlock_registry_find_endless(const dlock_registry *registry, dlock_backend *backend, const char *resource,
	size_t len, int64_t permits, uint64_t strand, const dlock_claim *waiting)
{
	int64_t left = backend->capacity;

	for (const dlock_registry_entry *entry = first_like(registry, backend, resource, len); entry;
		 entry = entry->next_in_bucket) {
		dlock_claim *claim = entry->claim;
		if (is_of(entry, strand) && claim != waiting && is_endless(claim, backend, resource, len)) {
			left -= claim->permits;
			if (left < permits) {
				return claim;
			}
		}
	}
	/* A claim of several resources is in the bucket of all its names together. */
	for (const dlock_registry_entry *entry = registry->several > 0 ? registry->first : NULL; entry;
		 entry = entry->next) {
		dlock_claim *claim = entry->claim;
		if (claim->count > 1 && is_of(entry, strand) && claim != waiting
			&& is_endless(claim, backend, resource, len)) {
			return claim;
		}
	}
	return NULL;
}

int64_t dlock_registry_count_endless(const dlock_registry *registry, dlock_backend *backend, const char *resource,
	size_t len, uint64_t strand, const dlock_claim *waiting)
{
	int64_t permits = 0;

	for (const dlock_registry_entry *entry = first_like(registry, backend, resource, len); entry;
		 entry = entry->next_in_bucket) {
		dlock_claim *claim = entry->claim;
		if (is_of(entry, strand) && claim != waiting && is_endless(claim, backend, resource, len)) {
			permits += claim->permits;
		}
	}
	return permits;
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
	free(registry->buckets);
	registry->buckets = NULL;
}
