#include "manager_acquire.h"

#include <inttypes.h>

#include "../../lock/renewal.h"
#include "../classes.h"
#include "../globals.h"
#include "../interrupts.h"
#include "../loss_signal.h"

#include "zend_exceptions.h"

static void count_wait(const dlock_claim *claim, dlock_nanos start, dlock_status status)
{
	dlock_counters *counters = &DLOCK_G(counters);

	if (status == DLOCK_OK) {
		counters->acquisitions++;
		counters->hand_overs_received += claim->received;
	} else if (status == DLOCK_TIMEOUT) {
		counters->timeouts++;
	}
	if (claim->waited) {
		counters->waits++;
		counters->wait_time += dlock_now() - start;
	}
}

/* Hands the renewal thread a lease that is to be renewed, or whose loss is to be thrown, or that some servers refused
 * or may have. */
static dlock_status start_renewal(const dlock_manager *manager, dlock_hold *hold, bool renew, dlock_error *error)
{
	dlock_claim *claim = hold->entry.claim;
	dlock_upkeep upkeep = { .renew = renew, .most = dlock_from_seconds(DLOCK_G(max_hold)) };

	if (!renew && !manager->throw_on_loss) {
		bool needed = claim->incomplete || claim->unanswered || atomic_load(&claim->short_lease);
		bool begun = needed && dlock_renewal_begin(claim, &upkeep, error) == DLOCK_OK;
		/* Without a thread the lock is held all the same. */
		return begun || !atomic_load(&claim->short_lease) ? DLOCK_OK : dlock_hold_extend(hold, claim->ttl, error);
	}
	if (manager->throw_on_loss) {
		hold->throws = true;
		upkeep.lost = dlock_loss_signal_raise;
		upkeep.context = dlock_loss_signal_here();
		if (!upkeep.context) {
			return dlock_fail(
				error, DLOCK_FAILED, "Cannot report a loss, because no descriptor is left: %s", strerror(errno));
		}
	}
	return dlock_renewal_begin(claim, &upkeep, error);
}

static bool is_renewed(const dlock_manager *manager, bool ttl_given)
{
	return !dlock_manager_is_session_based(manager)
		&& (manager->renew == DLOCK_RENEW_ALWAYS || (manager->renew == DLOCK_RENEW_WITHOUT_TTL && !ttl_given));
}

/* Handles the signals that came meanwhile, before the caller is given the lock. Where a handler throws after a method
 * has returned, PHP may lose what it returned: a lock that nobody could release. True: it has thrown. */
static bool interrupts_throw(dlock_hold *hold)
{
	if (dlock_is_interrupted()) {
		hold->owned = true; /* a lease that ends meanwhile is not to be freed by what a handler does */
		zend_try {
			dlock_run_interrupts();
		} zend_catch { /* a fatal error or a time limit: no object will own it, so the registry frees it */
			hold->owned = false;
			zend_bailout();
		} zend_end_try();
		hold->owned = false;
	}
	return EG(exception) != NULL;
}

dlock_status dlock_manager_keep(const dlock_manager *manager, dlock_hold *hold, bool ttl_given, dlock_error *error)
{
	dlock_status status = start_renewal(manager, hold, is_renewed(manager, ttl_given), error);

	return status == DLOCK_OK && interrupts_throw(hold) ? DLOCK_INTERRUPTED : status;
}

/* Would the wait be one for this very process, without end? `waiting` is its claim, NULL where it has none yet. */
static bool waits_for_itself(const dlock_manager *manager, zend_string *resource, int64_t permits,
	dlock_wait_limit limit, const dlock_claim *waiting, dlock_error *error)
{
	dlock_claim *claim = NULL;

	if (limit.attempts == 0 && limit.timeout > 0) {
		claim = dlock_registry_find_endless(
			&DLOCK_G(registry), manager->backend, ZSTR_VAL(resource), ZSTR_LEN(resource), permits, waiting);
	}
	if (claim && manager->std.ce == dlock_ce_semaphore) {
		dlock_fail(error, DLOCK_DEADLOCK,
			"This process holds too many permits of the semaphore \"%s\" already, and would wait for itself",
			dlock_show(ZSTR_VAL(resource), ZSTR_LEN(resource)).text);
	} else if (claim) {
		dlock_fail(error, DLOCK_DEADLOCK, claim->state == DLOCK_CLAIM_WAITING
			? "This process waits for the lock \"%s\" already, and would wait for itself"
			: "This process holds the lock \"%s\" already, and would wait for itself",
			dlock_show(ZSTR_VAL(resource), ZSTR_LEN(resource)).text);
	}
	return claim;
}

/* The error may have the reason. */
static dlock_status report_timeout(
	const dlock_manager *manager, const dlock_claim *claim, double seconds, dlock_error *error)
{
	dlock_error reason = *error;
	const char *text = claim->explained ? ": " : "";

	if (!claim->explained) {
		reason.message[0] = '\0';
	}
	if (manager->std.ce == dlock_ce_semaphore) {
		return dlock_fail(error, DLOCK_TIMEOUT,
			"The semaphore \"%s\" did not have %" PRId64 " of its %" PRId64 " permits free within %g s%s%s",
			dlock_claim_name(claim).text, claim->permits, manager->backend->capacity, seconds, text, reason.message);
	}
	return dlock_fail(error, DLOCK_TIMEOUT, "The lock \"%s\" was not %s within %g s%s%s",
		dlock_claim_name(claim).text, claim->explained ? "to be had" : "free",
		seconds, text, reason.message);
}

static dlock_status wait_for(
	const dlock_manager *manager, dlock_claim *claim, zend_string *resource, dlock_wait_limit limit, dlock_error *error)
{
	dlock_nanos start = dlock_now();
	dlock_wait wait = dlock_interruptible(dlock_after(start, limit.timeout));
	dlock_status status;

	wait.attempts = limit.attempts;
	wait.pause = limit.pause;
	while ((status = dlock_claim_acquire(claim, &wait, error)) == DLOCK_INTERRUPTED) {
		dlock_run_interrupts();
		if (EG(exception)) {
			break;
		}
		if (waits_for_itself(
				manager, resource, claim->permits, limit, claim, error)) { /* since a handler has taken it */
			status = DLOCK_DEADLOCK;
			break;
		}
		wait.wakeup =
			dlock_interruptible(wait.deadline).wakeup; /* a handler may have taken the first lease that needs it */
	}
	count_wait(claim, start, status);
	return status == DLOCK_TIMEOUT ? report_timeout(manager, claim, (double) limit.timeout / DLOCK_SECOND, error)
								   : status;
}

dlock_status dlock_manager_acquire(dlock_manager *manager, zend_string *resource, dlock_terms terms,
	dlock_wait_limit limit, dlock_hold **acquired, dlock_error *error)
{
	int64_t permits = terms.permits > 0 ? terms.permits : manager->permits;

	if (waits_for_itself(manager, resource, permits, limit, NULL, error)) {
		return DLOCK_DEADLOCK;
	}
	dlock_claim *claim = dlock_claim_new(
		manager->backend, ZSTR_VAL(resource), ZSTR_LEN(resource), terms.ttl, NULL, error);
	dlock_hold *hold = dlock_hold_new(claim, manager->release_at_end, error);
	if (!hold) {
		return DLOCK_FAILED;
	}
	claim->permits = permits;
	dlock_registry_add(&DLOCK_G(registry), &hold->entry);
	dlock_status status = wait_for(manager, claim, resource, limit, error);
	if (status == DLOCK_OK) {
		status = dlock_manager_keep(manager, hold, terms.ttl_given, error);
	}
	if (status == DLOCK_OK) {
		*acquired = hold;
		return DLOCK_OK;
	}
	hold->release_at_end = true; /* a lock that the caller does not get is not left to its lease time, nor a position in
									the queue to the session */
	dlock_hold_discard(hold);
	return status;
}
