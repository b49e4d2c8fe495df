#ifndef DLOCK_REDIS_SETTLING_H
#define DLOCK_REDIS_SETTLING_H

#include "../request/replicated_requests.h"
#include "../route/delivery.h"

/* How the era of a master settles, from whose opening on nothing is granted; docs/fail-over.md. */

typedef struct {
	const dlock_route *route;
	dlock_key_builder *keys;
	dlock_guard guard;
} dlock_settler;

/* A slot of a settled master is settled in a moment, in ms: a call without time to wait asks again all the same. */
#define DLOCK_AT_ONCE 5

/* A delivery was refused since the era is not settled (`era.left` < 0): has replicas confirm its opening, and lets it
 * settle. Brings the era up to date: from when it counts is for the server to say. DLOCK_CONNECTION: replicas did not
 * confirm it, or nobody can be asked; delivery->transient says whether that may end. */
dlock_status dlock_settle(
	const dlock_settler *settler, dlock_delivery *delivery, int slot, dlock_era *era, dlock_error *error);

/* The same where a waiter was refused. DLOCK_TIMEOUT, with the time until it may be granted something in the response.
 * `at_once`: that is now. `explained`: it is refused because of the era, as the error says. */
dlock_status dlock_settle_refused(const dlock_settler *settler, dlock_delivery *delivery, int slot,
	dlock_response *response, bool *at_once, bool *explained, dlock_error *error);

/* A grant, with what was sent behind it. DLOCK_OK: it may be believed. DLOCK_LOST: it was given back, since the `era`
 * was opened anew; the message says so. DLOCK_CONNECTION: it is not known. */
dlock_status dlock_settle_confirm(
	const dlock_settler *settler, dlock_delivery *delivery, int slot, dlock_era *era, dlock_error *error);

#endif
