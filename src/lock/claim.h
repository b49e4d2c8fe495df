#ifndef DLOCK_CLAIM_H
#define DLOCK_CLAIM_H

#include "backend.h"

/* A new claim with a fresh token, or NULL with a message. `token` NULL: make one; otherwise take this one, which has a form
 * that the back end takes. */
dlock_claim *dlock_claim_new(dlock_backend *backend, const char *resource, size_t resource_len, dlock_nanos ttl,
	const char *token, dlock_error *error);

/* Is the claim this process' own? */
bool dlock_claim_is_mine(const dlock_claim *claim);

/* State and, where it is held, time left, as memory knows them now: no I/O, never optimistic. */
dlock_claim_state dlock_claim_look(dlock_claim *claim, dlock_nanos *remaining);

/* The back end's operations, with what is the same for all: a foreign process' claim is lost (and abandoned silently),
 * a claim that is not held is not asked about again, the state is kept. */
dlock_status dlock_claim_acquire(dlock_claim *claim, const dlock_wait *wait, dlock_error *error);
dlock_status dlock_claim_attach(dlock_claim *claim, const char *token, dlock_error *error);
dlock_status dlock_claim_extend(dlock_claim *claim, dlock_nanos ttl, dlock_error *error);
dlock_status dlock_claim_check(dlock_claim *claim, dlock_error *error);
dlock_status dlock_claim_release(dlock_claim *claim, dlock_error *error);
void dlock_claim_abandon(dlock_claim *claim);

/* The request ends: a lock that is not to be released then is left to its lease time or session, no longer renewed; a wait is given up
 * in any case. */
void dlock_claim_end(dlock_claim *claim, bool release);

/* Frees the claim in memory, without a word to any server: release, abandon or detach first. */
void dlock_claim_free(dlock_claim *claim);

#endif
