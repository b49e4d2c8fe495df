#ifndef DLOCK_LOCK_OPERATIONS_H
#define DLOCK_LOCK_OPERATIONS_H

#include "claim.h"

/* What a holder does with its claim: the back end's operations (backend.h), and what all back ends have in common.
 * - A claim of a parent process counts as lost, and no server is told.
 * - If the claim is not held, no server is asked again.
 * - Renewals pause during an operation, and the claim's state follows its outcome. */
dlock_status dlock_claim_acquire(dlock_claim *claim, const dlock_wait *wait, dlock_error *error);
dlock_status dlock_claim_attach(dlock_claim *claim, const char *token, dlock_error *error);
dlock_status dlock_claim_extend(dlock_claim *claim, dlock_nanos ttl, dlock_error *error);
dlock_status dlock_claim_check(dlock_claim *claim, dlock_error *error);
/* Of a read/write lock, as in dlock_backend_ops. */
dlock_status dlock_claim_upgrade(dlock_claim *claim, const char *rest, dlock_error *error);
dlock_status dlock_claim_downgrade(dlock_claim *claim, dlock_error *error);
dlock_status dlock_claim_release(dlock_claim *claim, dlock_error *error);
void dlock_claim_abandon(dlock_claim *claim);

/* Ends the claim at the end of the request. A wait ends in any case. Without `release`, the lease time or the session
 * ends the lock, and its renewal stops. */
void dlock_claim_end(dlock_claim *claim, bool release);

/* Frees the claim in memory, without telling a server. The caller releases, abandons or detaches it before. */
void dlock_claim_free(dlock_claim *claim);

#endif
