#include "backend.h"

#include <string.h>

dlock_nanos dlock_drift(dlock_nanos ttl)
{
	return ttl / 100 + 2 * DLOCK_MS;
}

void dlock_backend_init(dlock_backend *backend, const dlock_backend_ops *ops)
{
	backend->ops = ops;
	backend->references = 1;
	backend->legacy = false;
}

void dlock_backend_release(dlock_backend *backend)
{
	if (--backend->references == 0) {
		backend->ops->destroy(backend);
	}
}

dlock_status dlock_claim_renew_token(dlock_claim *claim, dlock_error *error)
{
	size_t len = claim->backend->legacy ? sizeof DLOCK_TOKEN_LEGACY - 1 : 0;

	memcpy(claim->token, DLOCK_TOKEN_LEGACY, len);
	return dlock_token(claim->token + len) ? DLOCK_OK
		: dlock_fail(error, DLOCK_FAILED, "The system gave no random bytes for a token");
}

dlock_status dlock_claim_came_late(const dlock_claim *claim, dlock_error *error)
{
	return dlock_fail(error, DLOCK_LOST, "The lock \"%.100s\" is not this handle's any more: it was attached already, released, or its "
		"lease time is over", claim->resource);
}

void dlock_claim_doubt(dlock_claim *claim, dlock_nanos ttl)
{
	if (claim->doubt == 0 || ttl < claim->doubt) {
		claim->doubt = ttl;
	}
}

dlock_nanos dlock_claim_sure_of(const dlock_claim *claim, dlock_nanos ttl)
{
	return claim->doubt > 0 && claim->doubt < ttl ? claim->doubt : ttl;
}

bool dlock_claim_is_over(dlock_claim *claim)
{
	dlock_nanos deadline = atomic_load(&claim->deadline);

	while (deadline != DLOCK_OVER && dlock_now() >= deadline) {
		if (atomic_compare_exchange_strong(&claim->deadline, &deadline, DLOCK_OVER)) {
			return true;
		}
	}
	return deadline == DLOCK_OVER;
}

/* By comparing and setting: between a look at the old deadline and the setting of the new one, the claim's owner may have
 * been told that the lease is over. A deadline that has passed unseen may still move: then the lease went on. */
static bool set_deadline(dlock_claim *claim, dlock_nanos to, bool earlier)
{
	dlock_nanos deadline = atomic_load(&claim->deadline);

	while (deadline != DLOCK_OVER) {
		if ((to < deadline && !earlier) || atomic_compare_exchange_strong(&claim->deadline, &deadline, to)) {
			return true;
		}
	}
	return false;
}

bool dlock_claim_move_deadline(dlock_claim *claim, dlock_nanos deadline)
{
	return set_deadline(claim, deadline, true);
}

bool dlock_claim_raise_deadline(dlock_claim *claim, dlock_nanos deadline)
{
	return set_deadline(claim, deadline, false);
}
