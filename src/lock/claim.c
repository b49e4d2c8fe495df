#include "claim.h"

#include <stdlib.h>
#include <string.h>

#include "renewal.h"

dlock_claim *dlock_claim_new(dlock_backend *backend, const char *resource, size_t resource_len, dlock_nanos ttl,
	const char *token, dlock_error *error)
{
	dlock_claim *claim = calloc(1, backend->ops->claim_size + resource_len + 1);

	if (!claim) {
		dlock_fail(error, DLOCK_FAILED, "Out of memory");
		return NULL;
	}
	claim->backend = backend;
	if (token) {
		memcpy(claim->token, token, strlen(token));
	} else if (dlock_claim_renew_token(claim, error) != DLOCK_OK) {
		free(claim);
		return NULL;
	}
	claim->process = dlock_process_current();
	claim->ttl = ttl;
	claim->resource = (char *) claim + backend->ops->claim_size;
	claim->resource_len = resource_len;
	memcpy(claim->resource, resource, resource_len);
	backend->references++;
	return claim;
}

bool dlock_claim_is_mine(const dlock_claim *claim)
{
	return claim->process == dlock_process_current();
}

static bool is_held_now(dlock_claim_state state)
{
	return state == DLOCK_CLAIM_HELD || state == DLOCK_CLAIM_UNCERTAIN;
}

static bool is_held(const dlock_claim *claim)
{
	return is_held_now(claim->state);
}

dlock_claim_state dlock_claim_look(dlock_claim *claim, dlock_nanos *remaining)
{
	*remaining = 0;
	if (!is_held(claim)) {
		return claim->state;
	}
	if (!dlock_claim_is_mine(claim)) {
		return DLOCK_CLAIM_LOST;
	}
	if (claim->backend->ops->look) {
		claim->backend->ops->look(claim);
		if (!is_held(claim)) {
			return claim->state;
		}
	}
	/* The state stays HELD when it is over: a release must still try to delete what may be left on the server. */
	dlock_nanos deadline = dlock_claim_is_over(claim) ? DLOCK_OVER : atomic_load(&claim->deadline), now = dlock_now();
	if (deadline <= now) {
		return DLOCK_CLAIM_LOST;
	}
	*remaining = deadline - now;
	return atomic_load(&claim->uncertain) ? DLOCK_CLAIM_UNCERTAIN : claim->state;
}

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

	if (status == DLOCK_OK && dlock_claim_is_over(claim)) { /* it took longer than the lease lasts */
		claim->state = DLOCK_CLAIM_LOST;
		return dlock_claim_came_late(claim, error);
	}
	return status;
}

static dlock_status lost(dlock_claim *claim, dlock_error *error)
{
	dlock_fail(error, DLOCK_LOST, "The lock \"%.100s\" is not held by this %s", claim->resource,
		dlock_claim_is_mine(claim) ? "lease any more" : "process but by its parent");
	return DLOCK_LOST;
}

/* What the servers said of a held claim; a lease that was over before the answer came is none. Of a lost one nothing is left to renew. */
static dlock_status keep(dlock_claim *claim, dlock_status status, dlock_error *error)
{
	if (status == DLOCK_LOST) {
		claim->state = DLOCK_CLAIM_LOST;
		dlock_renewal_end(claim, true);
	} else if (status == DLOCK_OK && dlock_claim_is_over(claim)) {
		dlock_renewal_end(claim, true);
		return lost(claim, error);
	}
	atomic_store(&claim->uncertain, status != DLOCK_OK && status != DLOCK_LOST);
	return status;
}

/* Before the servers are asked about a held claim. A renewal that was answered meanwhile would count for a lease time that is
 * no longer true; and a loss that the thread told of after the look could be taken back. */
static bool begin(dlock_claim *claim)
{
	dlock_nanos remaining;

	dlock_renewal_pause(claim);
	if (is_held_now(dlock_claim_look(claim, &remaining))) {
		return true;
	}
	dlock_renewal_resume(claim);
	return false;
}

dlock_status dlock_claim_extend(dlock_claim *claim, dlock_nanos ttl, dlock_error *error)
{
	/* What was lost by the clock stays lost, even where the key is still there: the holder may have been told. */
	if (!begin(claim)) {
		return lost(claim, error);
	}
	dlock_renewal_settle(claim, ttl);
	dlock_status status = keep(claim, claim->backend->ops->extend(claim, ttl, error), error);
	if (claim->ttl > 0) {
		dlock_renewal_change_ttl(claim, dlock_claim_sure_of(claim, ttl), status == DLOCK_OK);
	}
	dlock_renewal_resume(claim);
	return status;
}

dlock_status dlock_claim_check(dlock_claim *claim, dlock_error *error)
{
	if (!begin(claim)) {
		return lost(claim, error);
	}
	dlock_status status = keep(claim, claim->backend->ops->check(claim, error), error);
	dlock_renewal_resume(claim);
	return status;
}

dlock_status dlock_claim_release(dlock_claim *claim, dlock_error *error)
{
	dlock_nanos remaining;

	if (!dlock_claim_is_mine(claim) || !is_held(claim)) {
		return lost(claim, error);
	}
	if (dlock_claim_look(claim, &remaining) == DLOCK_CLAIM_LOST) {
		dlock_claim_abandon(claim); /* what may be left of it needs nobody to wait */
		claim->state = DLOCK_CLAIM_LOST;
		return lost(claim, error);
	}
	dlock_renewal_end(claim, true); /* before the release is sent: nothing is renewed behind it */
	dlock_status status = claim->backend->ops->release(claim, error);
	/* Where the answer is missing the lock may be gone, so nobody may rely on it from here. */
	claim->state = status == DLOCK_OK ? DLOCK_CLAIM_RELEASED : DLOCK_CLAIM_LOST;
	return status;
}

void dlock_claim_abandon(dlock_claim *claim)
{
	dlock_renewal_end(claim, true);
	if (dlock_claim_is_mine(claim) && (is_held(claim) || claim->state == DLOCK_CLAIM_WAITING)) {
		claim->backend->ops->abandon(claim);
		claim->state = DLOCK_CLAIM_RELEASED;
	}
}

void dlock_claim_end(dlock_claim *claim, bool release)
{
	if (release || claim->state == DLOCK_CLAIM_WAITING) {
		dlock_claim_abandon(claim);
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
	free(claim);
	dlock_backend_release(backend);
}
