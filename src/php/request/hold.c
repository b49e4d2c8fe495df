#include "hold.h"

#include "../wait/coroutine.h"
#include "ending.h"
#include "../globals.h"
#include "../metrics.h"
#include "../probes.h"
#include "../wait/strand.h"

dlock_hold *dlock_hold_new(dlock_claim *claim, bool release_at_end, dlock_error *error)
{
	dlock_hold *hold = claim ? calloc(1, sizeof *hold) : NULL;

	if (hold) {
		hold->next_entry = hold;
		hold->entry.claim = claim;
		hold->entry.strand = dlock_strand();
		dlock_coroutine_watch_end();
		hold->release_at_end = release_at_end;
	} else if (claim) {
		dlock_out_of_memory(error);
		dlock_claim_free(claim);
	}
	return hold;
}

/* ---- entries that share a claim ---- */

/* Another entry that has not left, or NULL. */
static dlock_hold *other_entry(const dlock_hold *hold)
{
	dlock_hold *other = hold->next_entry;

	while (other != hold && other->has_left) {
		other = other->next_entry;
	}
	return other == hold ? NULL : other;
}

dlock_hold *dlock_hold_enter(dlock_hold *hold, const dlock_backend *made_by, bool release_at_end, dlock_error *error)
{
	dlock_hold *entry = calloc(1, sizeof *entry);

	if (!entry) {
		dlock_fail(error, DLOCK_FAILED, "Out of memory");
		return NULL;
	}
	entry->entry.claim = hold->entry.claim;
	entry->entry.strand = hold->entry.strand;
	entry->entry.made_by = made_by;
	entry->entry.reentrant = true;
	entry->metrics = hold->metrics;
	entry->loss_counted = hold->loss_counted;
	entry->next_entry = hold->next_entry;
	hold->next_entry = entry;
	for (dlock_hold *other = entry->next_entry; other != entry; other = other->next_entry) {
		release_at_end |= other->release_at_end;
		other->release_at_end |= release_at_end;
	}
	entry->release_at_end = release_at_end;
	dlock_registry_add(&DLOCK_G(registry), &entry->entry);
	return entry;
}

bool dlock_hold_is_shared(const dlock_hold *hold)
{
	return other_entry(hold) != NULL || hold->locks > 0;
}

bool dlock_hold_throws(const dlock_hold *hold)
{
	bool throws = hold->throws;

	for (const dlock_hold *other = hold->next_entry; other != hold; other = other->next_entry) {
		throws |= other->throws;
	}
	return throws;
}

void dlock_hold_loss_told(dlock_hold *hold, unsigned thrown)
{
	dlock_hold *entry = hold;

	do {
		entry->throws = false;
		entry->thrown = thrown ? thrown : entry->thrown;
		entry = entry->next_entry;
	} while (entry != hold);
}

/* False: it is the last entry, so the caller ends the claim. */
static bool leave(dlock_hold *hold)
{
	dlock_hold *other = other_entry(hold);

	if (!other || hold->has_left) {
		return hold->has_left;
	}
	if (hold->since > 0) {
		other->since = hold->since;
		hold->since = 0;
	}
	hold->has_left = true;
	hold->throws = false;
	dlock_registry_remove(&DLOCK_G(registry), &hold->entry);
	return true;
}

/* ---- totals ---- */

static dlock_worker *worker(void)
{
	return dlock_metrics_worker(&DLOCK_G(worker), &DLOCK_G(worker_process));
}

void dlock_hold_count_waiting(dlock_hold *hold, bool waits)
{
	bool changes = waits != hold->waits && dlock_claim_is_mine(hold->entry.claim); /* a child has another slot */

	hold->waits = waits;
	if (changes && worker()) { /* a count, because several fibers may wait */
		atomic_fetch_add_explicit(&worker()->waiting, waits ? 1 : UINT32_MAX, memory_order_relaxed);
	}
}

void dlock_hold_count_held(dlock_hold *hold)
{
	hold->since = dlock_now();
	if (worker() && atomic_fetch_add_explicit(&worker()->held, 1, memory_order_relaxed) == 0) {
		atomic_store_explicit(&worker()->held_since, hold->since, memory_order_relaxed);
	}
}

/* A claim from before a fork() is the parent's, here and below. */
static dlock_nanos oldest_hold(void)
{
	dlock_nanos oldest = 0;

	for (const dlock_registry_entry *entry = DLOCK_G(registry).first; entry; entry = entry->next) {
		dlock_nanos since = dlock_claim_is_mine(entry->claim) ? ((const dlock_hold *) entry)->since : 0;
		oldest = since > 0 && (oldest == 0 || since < oldest) ? since : oldest;
	}
	return oldest;
}

/* The lock is no longer held, for whatever reason. A fatal error may have ended a wait, too. */
static void count_end(dlock_hold *hold)
{
	dlock_nanos since = hold->since;

	dlock_hold_count_waiting(hold, false);
	hold->since = 0;
	if (since == 0 || !dlock_claim_is_mine(hold->entry.claim)) {
		return;
	}
	dlock_nanos held = dlock_now() - since;
	dlock_metrics_held(hold->metrics, held);
	DLOCK_PROBE(release, hold->entry.claim, held, 0);
	if (worker()) {
		atomic_fetch_sub_explicit(&worker()->held, 1, memory_order_relaxed);
		if (atomic_load_explicit(&worker()->held_since, memory_order_relaxed) == since) {
			atomic_store_explicit(&worker()->held_since, oldest_hold(), memory_order_relaxed);
		}
	}
}

void dlock_hold_free(dlock_hold *hold)
{
	if (!leave(hold)) {
		count_end(hold);
		dlock_registry_remove(&DLOCK_G(registry), &hold->entry);
	}
	dlock_hold *before = hold;
	while (before->next_entry != hold) {
		before = before->next_entry;
	}
	if (before == hold) {
		dlock_claim_free(hold->entry.claim);
	}
	before->next_entry = hold->next_entry;
	free(hold);
}

dlock_claim_state dlock_hold_refresh(dlock_hold *hold, dlock_nanos *remaining)
{
	dlock_claim_state state = dlock_claim_refresh(hold->entry.claim, remaining);

	if (hold->has_left) {
		*remaining = 0;
		return DLOCK_CLAIM_RELEASED;
	}
	if (state == DLOCK_CLAIM_LOST && !hold->loss_counted && dlock_claim_is_mine(hold->entry.claim)) {
		for (dlock_hold *entry = hold; !entry->loss_counted; entry = entry->next_entry) {
			entry->loss_counted = true;
		}
		DLOCK_G(counters).losses++;
		dlock_metrics_count(hold->metrics, DLOCK_METRIC_LOST);
		DLOCK_PROBE(loss, hold->entry.claim, 0, 0);
	}
	return state;
}

/* Looks in memory only, and counts nothing. */
static bool finds_loss(dlock_hold *hold)
{
	dlock_nanos remaining;

	return dlock_claim_refresh(hold->entry.claim, &remaining) == DLOCK_CLAIM_LOST;
}

/* If the status reports a new loss to the caller, the loss is not thrown as well. */
static void note_told(dlock_hold *hold, dlock_status status, bool lost_before)
{
	if (status == DLOCK_LOST && !lost_before) {
		dlock_hold_loss_told(hold, 0);
	}
}

dlock_status dlock_hold_extend(dlock_hold *hold, dlock_nanos ttl, dlock_error *error)
{
	bool lost_before = finds_loss(hold);
	dlock_status status = dlock_claim_extend(hold->entry.claim, ttl, error);

	note_told(hold, status, lost_before);
	return status;
}

dlock_status dlock_hold_check(dlock_hold *hold, dlock_error *error)
{
	bool lost_before = finds_loss(hold);
	dlock_status status = dlock_claim_check(hold->entry.claim, error);

	note_told(hold, status, lost_before);
	return status;
}

dlock_status dlock_hold_upgrade(dlock_hold *hold, const char *rest, dlock_error *error)
{
	bool lost_before = finds_loss(hold);
	dlock_status status = dlock_claim_upgrade(hold->entry.claim, rest, error);

	note_told(hold, status, lost_before);
	return status;
}

dlock_status dlock_hold_downgrade(dlock_hold *hold, dlock_error *error)
{
	bool lost_before = finds_loss(hold);
	dlock_status status = dlock_claim_downgrade(hold->entry.claim, error);

	note_told(hold, status, lost_before);
	return status;
}

dlock_status dlock_hold_release(dlock_hold *hold, dlock_error *error)
{
	dlock_nanos remaining;

	if (other_entry(hold)) {
		bool lost = finds_loss(hold) || !dlock_claim_is_mine(hold->entry.claim);
		dlock_hold_refresh(hold, &remaining);
		leave(hold);
		return lost ? DLOCK_LOST : DLOCK_OK;
	}
	dlock_status status = dlock_claim_release(hold->entry.claim, error);

	count_end(hold);
	hold->throws = false;
	if (status == DLOCK_OK) {
		DLOCK_G(counters).releases++;
		DLOCK_G(counters).hand_overs_given += hold->entry.claim->handed_over;
	} else if (status == DLOCK_LOST) {
		dlock_hold_refresh(hold, &remaining);
	}
	return status;
}

void dlock_hold_discard(dlock_hold *hold)
{
	dlock_nanos remaining;

	dlock_hold_refresh(hold, &remaining); /* a loss counts even if no caller has asked */
	/* With $releaseOnShutdown false, an object that is destroyed because the request ends keeps its lock. */
	if (!hold->has_ended && !leave(hold)) {
		dlock_claim_end(hold->entry.claim, hold->release_at_end || !dlock_is_ending());
	}
	dlock_hold_free(hold);
}

/* A loss that is still to be thrown is kept until then. */
static void discard_unowned_lost(dlock_registry_entry *entry)
{
	dlock_hold *hold = dlock_hold_from(entry);

	if (!hold->owned && !hold->is_acquired_now && !hold->throws && finds_loss(hold)) {
		dlock_claim_abandon(entry->claim);
		dlock_hold_free(hold);
	}
}

void dlock_hold_purge(void)
{
	dlock_registry_purge(&DLOCK_G(registry), discard_unowned_lost);
}

static void end(dlock_registry_entry *entry)
{
	dlock_hold *hold = dlock_hold_from(entry);

	if (!leave(hold)) {
		count_end(hold);
		dlock_claim_end(entry->claim, hold->release_at_end);
	}
	if (!hold->owned) {
		dlock_hold_free(hold);
	}
}

void dlock_hold_clear(void)
{
	dlock_registry_clear(&DLOCK_G(registry), end);
}

/* ---- the end of a strand ---- */

void dlock_hold_end_strand(uint64_t strand)
{
	for (dlock_registry_entry *entry = DLOCK_G(registry).first, *next; entry; entry = next) {
		dlock_hold *hold = dlock_hold_from(entry);
		next = entry->next;
		if (entry->strand == strand) {
			hold->throws = false;
			if (hold->drop) {
				hold->drop(hold);
			}
		}
	}
}

/* ---- requests of a worker ---- */

static bool is_of(const dlock_registry_entry *entry, bool all)
{
	return all || entry->strand == dlock_strand();
}

void dlock_hold_mark_workers(bool all)
{
	for (dlock_registry_entry *entry = DLOCK_G(registry).first; entry; entry = entry->next) {
		dlock_hold_from(entry)->is_workers |= is_of(entry, all);
	}
}

/* As at the request's end, except that objects stay. */
static void end_with_request(dlock_hold *hold)
{
	if (!leave(hold)) {
		count_end(hold);
		dlock_claim_end(hold->entry.claim, hold->release_at_end);
	}
	hold->has_ended = true;
	hold->throws = false;
	if (hold->drop) {
		hold->drop(hold);
	} else if (hold->owned) {
		dlock_registry_remove(&DLOCK_G(registry), &hold->entry);
	} else {
		dlock_hold_free(hold);
	}
}

unsigned long dlock_hold_end_requests(bool all)
{
	unsigned long held = 0;
	dlock_nanos remaining;

	for (dlock_registry_entry *entry = DLOCK_G(registry).first, *next; entry; entry = next) {
		dlock_hold *hold = dlock_hold_from(entry);
		next = entry->next;
		if (is_of(entry, all) && !hold->is_workers && !hold->is_acquired_now) {
			dlock_claim_state state = dlock_hold_refresh(hold, &remaining);
			held += state == DLOCK_CLAIM_HELD || state == DLOCK_CLAIM_UNCERTAIN;
			end_with_request(hold);
		}
	}
	return held;
}
