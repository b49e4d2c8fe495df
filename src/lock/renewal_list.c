#include "renewal_list.h"

#include <stdlib.h>

#include "../base/debug.h"

/* How soon the thread first asks the servers that refused a lock. By then, a waiter that lost the race has released its
 * keys, and a short section has ended. */
#define FIRST_LOOK (10 * DLOCK_MS)

/* ---- the list ---- */

dlock_renewal *dlock_renewal_new(dlock_claim *claim)
{
	dlock_renewal *renewal = calloc(1, sizeof *renewal);

	if (!renewal) {
		return NULL;
	}
	renewal->claim = claim;
	renewal->process = claim->process;
	renewal->ttl = dlock_renewal_ttl_to_request(renewal, claim->ttl);
	renewal->due = DLOCK_FOREVER;
	renewal->full = atomic_load(&claim->short_lease) ? dlock_now() + claim->ttl : 0;
	renewal->incomplete = claim->incomplete || claim->unanswered;
	renewal->since = claim->description ? dlock_time_of_day() : 0;
	return renewal;
}

void dlock_renewal_free(dlock_renewal *renewal)
{
	if (renewal->round) {
		renewal->round->ops->free(renewal->round);
	}
	free(renewal);
}

void dlock_renewal_list_add(dlock_renewal_list *list, dlock_renewal *renewal)
{
	renewal->next = list->first;
	if (renewal->next) {
		renewal->next->previous = renewal;
	}
	list->first = renewal;
}

void dlock_renewal_list_remove(dlock_renewal_list *list, dlock_renewal *renewal)
{
	if (renewal->previous) {
		renewal->previous->next = renewal->next;
	} else {
		list->first = renewal->next;
	}
	if (renewal->next) {
		renewal->next->previous = renewal->previous;
	}
	dlock_renewal_free(renewal);
}

dlock_nanos dlock_renewal_ttl_to_request(const dlock_renewal *renewal, dlock_nanos ttl)
{
	const dlock_renewal_round *round = renewal->round;

	return round && round->ops->guaranteed ? ttl : dlock_claim_guaranteed_ttl(renewal->claim, ttl);
}

/* ---- states ---- */

/* A move leads from a row to each column that is true. A round begins from IDLE or KEPT, and ends before the next one
 * begins. ENDED is final. */
static const bool moves[][DLOCK_RENEWAL_ENDED + 1] = {
	/*                               IDLE  CHECKING EXTENDING KEPT  ENDED */
	[DLOCK_RENEWAL_IDLE]      = { false, true,  true,  false, true },
	[DLOCK_RENEWAL_CHECKING]  = { true,  false, false, true,  true },
	[DLOCK_RENEWAL_EXTENDING] = { true,  false, false, true,  true },
	[DLOCK_RENEWAL_KEPT]      = { true,  true,  true,  false, true },
	[DLOCK_RENEWAL_ENDED]     = { false, false, false, false, false },
};

bool dlock_renewal_may_move(dlock_renewal_state from, dlock_renewal_state to)
{
	return moves[from][to];
}

void dlock_renewal_move(dlock_renewal *renewal, dlock_renewal_state to)
{
	dlock_assert(dlock_renewal_may_move(renewal->state, to));
	renewal->state = to;
}

bool dlock_renewal_is_asking(const dlock_renewal *renewal)
{
	return renewal->state == DLOCK_RENEWAL_CHECKING || renewal->state == DLOCK_RENEWAL_EXTENDING;
}

void dlock_renewal_discard_answer(dlock_renewal *renewal)
{
	if (dlock_renewal_is_asking(renewal)) {
		dlock_renewal_move(renewal, DLOCK_RENEWAL_IDLE);
	}
}

/* ---- times ---- */

static bool is_renewing(const dlock_renewal *renewal, dlock_nanos now)
{
	return renewal->renew && now < renewal->until;
}

/* Is more time to be requested: repeatedly, or once for the rest of a short lease? */
static bool is_to_extend(const dlock_renewal *renewal, dlock_nanos now)
{
	return is_renewing(renewal, now) || now < renewal->full;
}

static dlock_nanos time_left(const dlock_renewal *renewal, dlock_nanos now)
{
	dlock_nanos deadline = atomic_load(&renewal->claim->deadline);

	return deadline == DLOCK_OVER || deadline < now ? 0 : deadline - now;
}

static bool is_asked_about(const dlock_renewal *renewal, dlock_nanos now)
{
	return is_to_extend(renewal, now) || renewal->incomplete;
}

/* A third of the time that is left, which is less than the ttl if the lock was just handed over. */
dlock_nanos dlock_renewal_next_due(const dlock_renewal *renewal, dlock_nanos now)
{
	dlock_nanos pause = dlock_earlier(time_left(renewal, now), renewal->ttl) / 3;
	/* Even for a very short lease, renewals are slower than servers can answer. */
	return now + (pause < DLOCK_MS ? DLOCK_MS : pause);
}

/* Soon, and still late enough that a returning server does not meet a crowd. */
static dlock_nanos retry_after(const dlock_renewal *renewal, dlock_nanos now)
{
	bool is_short = renewal->claim && renewal->full > 0;
	dlock_nanos pause = dlock_earlier(is_short ? time_left(renewal, now) : renewal->ttl, renewal->ttl) / 12;

	return pause < 10 * DLOCK_MS ? 10 * DLOCK_MS : pause > DLOCK_SECOND ? DLOCK_SECOND : pause;
}

dlock_nanos dlock_renewal_next_wake(const dlock_renewal *renewal, dlock_nanos now)
{
	dlock_nanos due = is_to_extend(renewal, now) ? dlock_renewal_next_due(renewal, now) : DLOCK_FOREVER;

	if (!renewal->incomplete) {
		return due;
	}
	return dlock_earlier(due, now + (renewal->claim->incomplete ? FIRST_LOOK : retry_after(renewal, now)));
}

/* When a round has lasted so long that its holder is to know. */
static dlock_nanos uncertain_at(const dlock_renewal *renewal)
{
	dlock_nanos started = renewal->round->started, deadline = atomic_load(&renewal->claim->deadline);

	return started + dlock_earlier(renewal->asked_ttl / 6, deadline > started ? (deadline - started) / 2 : 0);
}

/* ---- answers ---- */

static void report_loss(dlock_renewal *renewal)
{
	if (renewal->lost) {
		renewal->lost(renewal->context);
	}
	renewal->lost = NULL;
	renewal->renew = renewal->incomplete = false;
	renewal->full = 0;
	if (renewal->state == DLOCK_RENEWAL_KEPT) {
		dlock_renewal_move(renewal, DLOCK_RENEWAL_IDLE);
	}
}

static void apply_kept(dlock_renewal_list *list, dlock_renewal *renewal)
{
	const dlock_renewal_round *round = renewal->round;
	dlock_claim *claim = renewal->claim;

	if (round->late_proves_nothing) {
		dlock_claim_expire_if_due(claim);
	}
	bool lives = atomic_load(&claim->deadline) != DLOCK_OVER;
	if (renewal->state == DLOCK_RENEWAL_EXTENDING) {
		dlock_nanos ttl = renewal->asked_ttl;
		ttl = round->ops->guaranteed ? round->ops->guaranteed(round, ttl) : ttl;
		lives = dlock_claim_raise_deadline(
			claim, round->started + ttl - dlock_set_aside(claim->backend, ttl) - round->late);
		atomic_store(&claim->uncertain, false);
		atomic_store(&claim->short_lease, false);
		renewal->full = 0;
		list->renewals++;
	}
	renewal->incomplete = false;
	renewal->due = dlock_renewal_next_due(renewal, dlock_now());
	/* After the loss is reported to the holder, no server is sent the key again. */
	dlock_renewal_move(renewal, lives && round->repairable ? DLOCK_RENEWAL_KEPT : DLOCK_RENEWAL_IDLE);
}

static void apply_failed(dlock_renewal_list *list, dlock_renewal *renewal)
{
	if (renewal->state == DLOCK_RENEWAL_EXTENDING) { /* a check requests no time */
		list->failures++;
		atomic_store(&renewal->claim->uncertain, true);
	}
	dlock_nanos now = dlock_now();
	renewal->due = now + retry_after(renewal, now);
	dlock_renewal_move(renewal, DLOCK_RENEWAL_IDLE);
}

static void apply(dlock_renewal_list *list, dlock_renewal *renewal, dlock_round_result result)
{
	switch (result) {
	case DLOCK_ROUND_OPEN:
		return;
	case DLOCK_ROUND_KEPT:
		apply_kept(list, renewal);
		return;
	case DLOCK_ROUND_GONE:
		atomic_store(&renewal->claim->deadline, DLOCK_OVER);
		if (renewal->round->ops->give_back) {
			renewal->round->ops->give_back(renewal->round);
		}
		dlock_renewal_move(renewal, DLOCK_RENEWAL_IDLE);
		return;
	case DLOCK_ROUND_FAILED:
		apply_failed(list, renewal);
	}
}

static bool is_under_way(const dlock_renewal *renewal)
{
	dlock_renewal_round *round = renewal->round;

	return round->ops->collect ? round->ops->collect(round, renewal->state == DLOCK_RENEWAL_ENDED)
							   : round->ops->result(round) == DLOCK_ROUND_OPEN;
}

/* Reads answers and failures. */
static void collect(dlock_renewal_list *list, dlock_renewal *renewal, dlock_nanos now)
{
	dlock_renewal_round *round = renewal->round;
	bool was_busy = renewal->busy;

	if (!round) {
		return;
	}
	if (renewal->cancel && round->ops->cancel) {
		round->ops->cancel(round);
	}
	renewal->cancel = false;
	if (dlock_renewal_is_asking(renewal)) {
		apply(list, renewal, round->ops->result(round));
	}
	renewal->busy = was_busy && is_under_way(renewal);
	if (was_busy && !renewal->busy) {
		pthread_cond_broadcast(&list->idle);
	}
	if (round->refused) {
		round->refused = false;
		renewal->due = dlock_earlier(renewal->due, now + retry_after(renewal, now));
		renewal->incomplete = true;
	}
}

/* Updates the claim. Returns when to do so next. */
static dlock_nanos update(dlock_renewal *renewal, dlock_nanos now)
{
	dlock_claim *claim = renewal->claim;
	dlock_nanos wake = DLOCK_FOREVER;

	if (claim->backend->ops->session_lease) {
		dlock_claim_move_deadline(claim, claim->backend->ops->bound(claim));
	}
	/* If no caller wants to know of the loss, a deadline that no thread saw pass does not end the lease. An answer
	 * under way may prove that it continued. */
	bool ends = renewal->lost || (renewal->round && renewal->round->late_proves_nothing);
	if (ends ? dlock_claim_expire_if_due(claim) : atomic_load(&claim->deadline) == DLOCK_OVER) {
		report_loss(renewal);
		return wake;
	}
	if (renewal->lost) {
		dlock_nanos deadline = atomic_load(&claim->deadline);
		wake = deadline == DLOCK_OVER ? now : deadline; /* the holder may just have found it expired */
	}
	if (!dlock_renewal_is_asking(renewal)) {
		return is_asked_about(renewal, now) ? dlock_earlier(wake, renewal->due) : wake;
	}
	if (renewal->state == DLOCK_RENEWAL_EXTENDING && now >= uncertain_at(renewal)) {
		atomic_store(&claim->uncertain, true);
	} else if (renewal->state == DLOCK_RENEWAL_EXTENDING) {
		wake = dlock_earlier(wake, uncertain_at(renewal));
	}
	return wake;
}

/* ---- requests ---- */

/* Leases that are due soon are asked about together with leases that are due now, so that many leases cost one batch.
 * Within half of the time between two renewals, leases that were acquired at any time meet in the end. Incomplete
 * leases are asked about often enough anyway. */
static bool is_due(const dlock_renewal *renewal, dlock_nanos now, bool soon)
{
	return renewal->claim && !renewal->paused && !dlock_renewal_is_asking(renewal) && is_asked_about(renewal, now)
		&& renewal->due <= now + (soon && !renewal->incomplete ? renewal->ttl / 6 : 0);
}

bool dlock_renewal_has_to_roll_back(const dlock_renewal *renewal)
{
	const dlock_renewal_round *round = renewal->round;

	return renewal->state == DLOCK_RENEWAL_ENDED && round && round->ops->may_yet_repair
		&& round->ops->may_yet_repair(round);
}

/* The lease time of a repaired key. */
static dlock_nanos repair_time(const dlock_renewal *renewal, dlock_nanos now)
{
	dlock_nanos deadline = atomic_load(&renewal->claim->deadline);
	dlock_nanos left = deadline == DLOCK_OVER ? 0
											  : deadline + dlock_set_aside(renewal->claim->backend, renewal->ttl) - now;

	return is_renewing(renewal, now) ? renewal->ttl : dlock_earlier(left, renewal->ttl);
}

/* Reports the description with the first round that requests more time, then once in each lease time. */
static void plan_description(dlock_renewal *renewal, dlock_nanos now)
{
	bool is_due = renewal->since != 0 && (renewal->described == 0 || now - renewal->described >= renewal->ttl);

	renewal->round->since = is_due ? renewal->since : 0;
	renewal->described = is_due ? now : renewal->described;
}

/* Decides which request to send for one lease. None is under way. */
static void plan(dlock_renewal *renewal, dlock_nanos now, bool due)
{
	if (dlock_renewal_has_to_roll_back(renewal)) {
		renewal->todo = DLOCK_SEND_ROLL_BACK;
	} else if (renewal->state == DLOCK_RENEWAL_ENDED || renewal->paused) {
		renewal->todo = DLOCK_SEND_NOTHING;
	} else if (due && is_due(renewal, now, true)) {
		bool extends = is_to_extend(renewal, now);
		renewal->todo = extends ? DLOCK_SEND_EXTEND : DLOCK_SEND_CHECK;
		renewal->asked_ttl = is_renewing(renewal, now) || !extends ? renewal->ttl
																   : dlock_earlier(renewal->full - now, renewal->ttl);
		if (renewal->round) { /* a holder pauses this entry before it changes the claim */
			renewal->round->permits = renewal->claim->permits;
			renewal->round->fencing_token = renewal->claim->fencing_token;
			plan_description(renewal, now);
			renewal->round->within = renewal->full > 0 ? time_left(renewal, now) : renewal->asked_ttl;
		}
		renewal->due = now + retry_after(renewal, now); /* in case its owner interferes */
		dlock_renewal_move(renewal, extends ? DLOCK_RENEWAL_EXTENDING : DLOCK_RENEWAL_CHECKING);
	} else if (renewal->state == DLOCK_RENEWAL_KEPT && renewal->round->ops->has_gaps(renewal->round)) {
		renewal->todo = DLOCK_SEND_REPAIR;
		renewal->repair_ttl = repair_time(renewal, now);
		renewal->asked_ttl = renewal->repair_ttl > renewal->asked_ttl ? renewal->repair_ttl : renewal->asked_ttl;
		atomic_store(&renewal->claim->repaired, true);
	}
}

dlock_renewal *dlock_renewal_list_scan(dlock_renewal_list *list, dlock_process process, dlock_nanos *wake)
{
	dlock_renewal *chain = NULL, *next;
	dlock_nanos now = dlock_now();
	bool due = false;

	*wake = DLOCK_FOREVER;
	for (dlock_renewal *renewal = list->first; renewal; renewal = next) {
		next = renewal->next;
		if (renewal->process != process) {
			continue; /* a fork copied it from the parent */
		}
		collect(list, renewal, now);
		if (renewal->claim && !renewal->paused) {
			*wake = dlock_earlier(*wake, update(renewal, now));
			due = due || is_due(renewal, now, false);
		} else if (!renewal->claim && !renewal->busy && !dlock_renewal_has_to_roll_back(renewal)) {
			dlock_renewal_list_remove(list, renewal);
		}
	}
	for (dlock_renewal *renewal = list->first; renewal; renewal = renewal->next) {
		if (renewal->process == process) {
			plan(renewal, now, due);
			if (renewal->todo != DLOCK_SEND_NOTHING) {
				renewal->busy = true;
				renewal->next_due = chain;
				chain = renewal;
			}
		}
	}
	return chain;
}
