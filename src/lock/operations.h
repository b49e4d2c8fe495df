#ifndef DLOCK_LOCK_OPERATIONS_H
#define DLOCK_LOCK_OPERATIONS_H

#include "claim.h"

/* What a holder does with its claim: the back end's operations, with what is the same for all of them. A foreign
 * process' claim is lost (and abandoned silently), the servers are not asked again about a claim that is not held,
 * renewals keep still meanwhile, and the state follows. */
dlock_status dlock_claim_acquire(dlock_claim *claim, const dlock_wait *wait, dlock_error *error);
dlock_status dlock_claim_attach(dlock_claim *claim, const char *token, dlock_error *error);
dlock_status dlock_claim_extend(dlock_claim *claim, dlock_nanos ttl, dlock_error *error);
dlock_status dlock_claim_check(dlock_claim *claim, dlock_error *error);
/* Of a read/write lock, as in dlock_backend_ops. */
dlock_status dlock_claim_upgrade(dlock_claim *claim, const char *rest, dlock_error *error);
dlock_status dlock_claim_downgrade(dlock_claim *claim, dlock_error *error);
dlock_status dlock_claim_release(dlock_claim *claim, dlock_error *error);
void dlock_claim_abandon(dlock_claim *claim);

/* The request ends: a lock that is not to be released then is left to its lease time or session, no longer renewed; a
 * wait is given up in any case. */
void dlock_claim_end(dlock_claim *claim, bool release);

/* Frees the claim in memory, without a word to any server: release, abandon or detach first. */
void dlock_claim_free(dlock_claim *claim);

#endif
