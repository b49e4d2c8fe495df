#include "operations.h"

#include <stdlib.h>

#include "renewal.h"

dlock_status dlock_claim_acquire(dlock_claim *claim, const dlock_wait *wait, dlock_error *error)
{
	if (!dlock_claim_is_mine(claim)) {
		return dlock_fail(error, DLOCK_LOST, "The wait began in a parent process");
	}
	return claim->backend->ops->acquire(claim, wait, error);
}

dlock_status dlock_claim_attach(dlock_claim *claim, const char *token, dlock_error *error)
{
	dlock_status status = claim->backend->ops->attach(claim, token, error);

	if (status == DLOCK_OK && dlock_claim_expire_if_due(claim)) { /* attaching took longer than the lease lasted */
		dlock_claim_move(claim, DLOCK_CLAIM_LOST);
		return dlock_claim_came_late(claim, error);
	}
	return status;
}

static dlock_status lost(dlock_claim *claim, dlock_error *error)
{
	dlock_fail(error, DLOCK_LOST, "The lock \"%s\" is not held by this %s", dlock_claim_name(claim).text,
		dlock_claim_is_mine(claim) ? "lease any more" : "process but by its parent");
	return DLOCK_LOST;
}

/* Applies the servers' answer to a held claim. A lease that expired before the answer came is lost as well. The renewal
 * of a lost claim ends. */
static dlock_status apply_answer(dlock_claim *claim, dlock_status status, dlock_error *error)
{
	if (status == DLOCK_LOST) {
		if (claim->count > 1) { /* one lost lock loses them all: release the rest */
			claim->backend->ops->abandon(claim);
		}
		dlock_claim_move(claim, DLOCK_CLAIM_LOST);
		dlock_renewal_end(claim, true);
	} else if (status == DLOCK_OK && dlock_claim_expire_if_due(claim)) {
		dlock_renewal_end(claim, true);
		return lost(claim, error);
	}
	atomic_store(&claim->uncertain, status != DLOCK_OK && status != DLOCK_LOST);
	return status;
}

/* Prepares a question to the servers about a held claim. A renewal that is answered meanwhile would count for an
 * outdated lease time. If the thread reports a loss after this check, the servers' answer could contradict it. */
static bool begin(dlock_claim *claim)
{
	dlock_nanos remaining;

	dlock_renewal_pause(claim);
	dlock_claim_state state = dlock_claim_refresh(claim, &remaining);
	if (state == DLOCK_CLAIM_HELD || state == DLOCK_CLAIM_UNCERTAIN) {
		return true;
	}
	dlock_renewal_resume(claim);
	return false;
}

dlock_status dlock_claim_extend(dlock_claim *claim, dlock_nanos ttl, dlock_error *error)
{
	/* A lease that has expired by the clock stays lost, even if its key still exists: the loss may have been
	 * reported. */
	if (!begin(claim)) {
		return lost(claim, error);
	}
	dlock_renewal_wait_idle(claim, ttl);
	dlock_status status = apply_answer(claim, claim->backend->ops->extend(claim, ttl, error), error);
	if (!claim->backend->ops->session_lease) {
		dlock_renewal_change_ttl(claim, ttl, status == DLOCK_OK);
	}
	if (status == DLOCK_OK) {
		atomic_store(&claim->short_lease, false);
	}
	dlock_renewal_resume(claim);
	return status;
}

dlock_status dlock_claim_check(dlock_claim *claim, dlock_error *error)
{
	if (!begin(claim)) {
		return lost(claim, error);
	}
	dlock_status status = apply_answer(claim, claim->backend->ops->check(claim, error), error);
	dlock_renewal_resume(claim);
	return status;
}

dlock_status dlock_claim_upgrade(dlock_claim *claim, const char *rest, dlock_error *error)
{
	if (!begin(claim)) {
		return lost(claim, error);
	}
	dlock_status status = claim->backend->ops->upgrade(claim, rest, error);
	if (status != DLOCK_TIMEOUT && status != DLOCK_FAILED) {
		status = apply_answer(claim, status, error);
	}
	dlock_renewal_resume(claim);
	return status;
}

dlock_status dlock_claim_downgrade(dlock_claim *claim, dlock_error *error)
{
	if (!begin(claim)) {
		return lost(claim, error);
	}
	dlock_status status = claim->backend->ops->downgrade(claim, error);
	status = status == DLOCK_FAILED ? status : apply_answer(claim, status, error);
	dlock_renewal_resume(claim);
	return status;
}

/* Abandons everything that the claim may have, without waiting. */
static void discard(dlock_claim *claim, dlock_claim_state to)
{
	dlock_renewal_end(claim, true);
	if (dlock_claim_is_mine(claim) && (dlock_claim_is_held(claim) || claim->state == DLOCK_CLAIM_WAITING)) {
		claim->backend->ops->abandon(claim);
		dlock_claim_move(claim, to);
	}
}

dlock_status dlock_claim_release(dlock_claim *claim, dlock_error *error)
{
	dlock_nanos remaining;

	if (!dlock_claim_is_mine(claim) || !dlock_claim_is_held(claim)) {
		return lost(claim, error);
	}
	if (dlock_claim_refresh(claim, &remaining) == DLOCK_CLAIM_LOST) {
		discard(claim, DLOCK_CLAIM_LOST);
		return lost(claim, error);
	}
	dlock_renewal_end(claim, true); /* before the release is sent: no renewal may follow it */
	dlock_status status = claim->backend->ops->release(claim, error);
	/* If the answer is missing, the lock may be free: no caller may rely on it from here. */
	dlock_claim_move(claim, status == DLOCK_OK ? DLOCK_CLAIM_RELEASED : DLOCK_CLAIM_LOST);
	return status;
}

void dlock_claim_abandon(dlock_claim *claim)
{
	discard(claim, DLOCK_CLAIM_RELEASED);
}

void dlock_claim_end(dlock_claim *claim, bool release)
{
	dlock_nanos remaining;

	if (release || claim->state == DLOCK_CLAIM_WAITING) {
		dlock_claim_abandon(claim);
	} else if (atomic_load(&claim->short_lease) && dlock_claim_refresh(claim, &remaining) != DLOCK_CLAIM_LOST) {
		claim->backend->ops->top_up(claim);
		atomic_store(&claim->short_lease, false);
	}
	dlock_renewal_end(claim, false);
}

void dlock_claim_free(dlock_claim *claim)
{
	dlock_backend *backend = claim->backend;

	dlock_renewal_end(claim, false);
	if (backend->ops->dispose) {
		backend->ops->dispose(claim);
	}
	dlock_description_release(claim->description);
	free(claim);
	dlock_backend_release(backend);
}
