#include "renewal.h"

#include <string.h>

#include "renewal_thread.h"

/* How long the thread may need to report that it has stopped waiting for an answer. */
#define WAKE_TIME (10 * DLOCK_MS)

/* With the list's mutex held: wakes the thread if it would look too late. */
static void wake_for(const dlock_renewal *renewal)
{
	dlock_nanos deadline = renewal->lost ? atomic_load(&renewal->claim->deadline) : DLOCK_FOREVER;

	dlock_renewal_thread_wake_by(dlock_earlier(deadline, renewal->due));
}

/* After a request was sent for it, only the thread may free it: calls are counted without a mutex. */
static bool is_the_threads(const dlock_renewal *renewal)
{
	const dlock_renewal_round *round = renewal->round;

	if (renewal->process != dlock_process_current()) {
		return false;
	}
	return renewal->busy || (round && round->ops->has_calls && round->ops->has_calls(round))
		|| dlock_renewal_has_to_roll_back(renewal);
}

/* An upkeep that goes on keeps its limit, and its round: the lease may rest on a repair that the round has sent. */
static void change(dlock_renewal *renewal, const dlock_upkeep *upkeep, dlock_nanos now)
{
	if (upkeep->renew && renewal->until == 0) {
		renewal->endless = upkeep->most == 0;
		renewal->until = upkeep->most > 0 ? dlock_after(now, upkeep->most) : DLOCK_FOREVER;
	}
	renewal->renew |= upkeep->renew;
	renewal->lost = upkeep->lost;
	renewal->context = upkeep->context;
	renewal->due = dlock_earlier(renewal->due, dlock_renewal_next_wake(renewal, now));
}

/* With the list's mutex held. False: out of memory, and nothing has changed. */
static bool add(
	dlock_renewal_list *list, dlock_renewal *renewal, dlock_renewal_round *round, const dlock_upkeep *upkeep)
{
	dlock_claim *claim = renewal->claim;

	if (!dlock_renewal_thread_add_renewer(round)) {
		return false;
	}
	if (round) {
		renewal->round = round;
		renewal->ttl = dlock_renewal_ttl_to_request(renewal, claim->ttl);
	}
	change(renewal, upkeep, dlock_now());
	claim->renewed |= upkeep->renew;
	if (!claim->renewal) {
		claim->renewal = renewal;
		dlock_renewal_list_add(list, renewal);
	}
	wake_for(renewal);
	return true;
}

dlock_status dlock_renewal_begin(dlock_claim *claim, const dlock_upkeep *upkeep, dlock_error *error)
{
	int problem = dlock_renewal_thread_start();

	if (problem != 0) {
		return dlock_fail(
			error, DLOCK_FAILED, "The thread that renews leases could not be started: %s", strerror(problem));
	}
	dlock_renewal *before = claim->renewal, *renewal = before ? before : dlock_renewal_new(claim);
	if (!renewal) {
		return dlock_out_of_memory(error);
	}
	bool asks = upkeep->renew || (!before && (renewal->full > 0 || renewal->incomplete)), added = false;
	dlock_renewal_round *round = asks && !renewal->round ? claim->backend->ops->new_round(claim) : NULL;
	if (!asks || renewal->round || round) {
		added = add(dlock_renewal_thread_lock(), renewal, round, upkeep);
		dlock_renewal_thread_unlock();
	}
	if (added) {
		return DLOCK_OK;
	}
	if (round) {
		round->ops->free(round);
	}
	if (!before) {
		dlock_renewal_free(renewal);
	}
	return dlock_out_of_memory(error);
}

void dlock_renewal_wake(void)
{
	dlock_renewal_thread_lock();
	if (dlock_renewal_thread_is_mine()) {
		dlock_renewal_thread_wake();
	}
	dlock_renewal_thread_unlock();
}

bool dlock_renewal_is_on(const dlock_claim *claim)
{
	bool on = false;

	if (claim->renewal) {
		dlock_renewal_thread_lock();
		on = claim->renewal->renew && claim->renewal->until > dlock_now();
		dlock_renewal_thread_unlock();
	}
	return on;
}

bool dlock_renewal_is_used_up(const dlock_claim *claim)
{
	bool used_up = false;

	if (claim->renewal) {
		dlock_renewal_thread_lock();
		used_up = claim->renewal->until != 0 && claim->renewal->until <= dlock_now();
		dlock_renewal_thread_unlock();
	}
	return used_up;
}

bool dlock_renewal_is_endless(const dlock_claim *claim)
{
	bool endless = false;

	if (claim->renewal) {
		dlock_renewal_thread_lock();
		endless = claim->renewal->endless && claim->renewal->renew;
		dlock_renewal_thread_unlock();
	}
	return endless;
}

void dlock_renewal_stop(dlock_claim *claim)
{
	if (claim->renewal) {
		dlock_renewal_thread_lock();
		claim->renewal->renew = false;
		dlock_renewal_discard_answer(claim->renewal);
		dlock_renewal_thread_unlock();
	}
}

void dlock_renewal_end(dlock_claim *claim, bool over)
{
	dlock_renewal *renewal = claim->renewal;

	if (!renewal) {
		return;
	}
	claim->renewal = NULL;
	dlock_renewal_list *list = dlock_renewal_thread_lock();
	renewal->claim = NULL;
	renewal->over = over;
	dlock_renewal_move(renewal, DLOCK_RENEWAL_ENDED);
	if (is_the_threads(renewal)) {
		dlock_renewal_thread_wake();
	} else {
		dlock_renewal_list_remove(list, renewal);
	}
	dlock_renewal_thread_unlock();
}

void dlock_renewal_pause(dlock_claim *claim)
{
	if (claim->renewal) {
		dlock_renewal_thread_lock();
		claim->renewal->paused = true;
		dlock_renewal_discard_answer(claim->renewal);
		dlock_renewal_thread_unlock();
	}
}

void dlock_renewal_resume(dlock_claim *claim)
{
	dlock_renewal *renewal = claim->renewal;

	if (renewal) {
		dlock_renewal_thread_lock();
		dlock_nanos due = dlock_renewal_next_due(renewal, dlock_now());
		if (renewal->round && renewal->round->ops->note_late) {
			renewal->round->ops->note_late(renewal->round, claim);
		}
		renewal->paused = false;
		renewal->due = renewal->incomplete && renewal->due < due ? renewal->due : due;
		wake_for(renewal);
		dlock_renewal_thread_unlock();
	}
}

/* Until when to wait for the round under way. */
static dlock_nanos idle_by(const dlock_renewal *renewal, dlock_nanos deadline, dlock_nanos now)
{
	const dlock_renewal_round *round = renewal->round;
	dlock_nanos longest = round->ops->longest_wait ? round->ops->longest_wait(round, renewal->asked_ttl) : 0;
	dlock_nanos half = (deadline - now) / 2;

	return now + (longest + WAKE_TIME < half ? longest + WAKE_TIME : half);
}

void dlock_renewal_wait_idle(dlock_claim *claim, dlock_nanos ttl)
{
	dlock_renewal *renewal = claim->renewal;

	if (!renewal) {
		return;
	}
	dlock_renewal_thread_lock();
	dlock_nanos deadline = atomic_load(&claim->deadline), now = dlock_now();
	if (renewal->busy && renewal->asked_ttl > ttl && deadline > now && dlock_renewal_thread_is_mine()) {
		dlock_nanos until = idle_by(renewal, deadline, now);
		renewal->cancel = true;
		dlock_renewal_thread_wake();
		while (renewal->busy && now < until) {
			dlock_renewal_thread_wait_idle(until - now);
			now = dlock_now();
		}
	}
	dlock_renewal_thread_unlock();
}

void dlock_renewal_change_ttl(dlock_claim *claim, dlock_nanos ttl, bool answered)
{
	dlock_renewal *renewal = claim->renewal;

	if (renewal) {
		dlock_renewal_thread_lock();
		ttl = dlock_renewal_ttl_to_request(renewal, ttl);
		renewal->ttl = answered || ttl < renewal->ttl ? ttl : renewal->ttl;
		renewal->full = answered ? 0 : renewal->full;
		dlock_renewal_thread_unlock();
	}
}

/* The caller holds the lock. */
static dlock_renewal_counts counts_of(const dlock_renewal_list *list)
{
	dlock_renewer_counts opened = dlock_renewal_thread_count();

	return (dlock_renewal_counts) { list->renewals, list->failures, opened.connections, opened.reconnections };
}

dlock_renewal_counts dlock_renewal_count(void)
{
	dlock_renewal_counts counts = counts_of(dlock_renewal_thread_lock());

	dlock_renewal_thread_unlock();
	return counts;
}

/* Connections of a renewer that has been freed no longer count. */
static unsigned long growth(unsigned long now, unsigned long before)
{
	return now > before ? now - before : 0;
}

dlock_renewal_counts dlock_renewal_count_new(void)
{
	static dlock_renewal_counts before;
	static dlock_process process;
	dlock_renewal_counts now = counts_of(dlock_renewal_thread_lock());

	if (process != dlock_process_current()) { /* in a child of fork() all counts begin anew */
		process = dlock_process_current();
		before = (dlock_renewal_counts) { 0 };
	}
	dlock_renewal_counts grown = { growth(now.renewals, before.renewals), growth(now.failures, before.failures),
		growth(now.connections, before.connections), growth(now.reconnections, before.reconnections) };
	before = now;
	dlock_renewal_thread_unlock();
	return grown;
}

void dlock_renewal_shutdown(void)
{
	dlock_renewal_thread_stop();
}

