#ifndef DLOCK_REDIS_REQUESTS_H
#define DLOCK_REDIS_REQUESTS_H

#include "../../lock/claim.h"
#include "requests_lua.h"

/* What is said to Redis about a lock: the scripts as calls (requests_lua.h), and their replies read into a struct. */

/* ---- lease times, fencing tokens ---- */

/* A key's time to live in ms as a lease time: no longer than one can be. */
dlock_nanos dlock_lease_left(int64_t pttl);

/* Who waits for several locks has a ticket below this; see ASLEEP in handover.lua. */
#define DLOCK_ASLEEP INT64_C(4000000000000000)

/* Redis' scripts count exactly up to here. */
#define DLOCK_EXACT (INT64_C(1) << 53)

/* Fencing tokens stay below that for ever, since each is the last one and 1 or one of these: */
/* a clock's proposal, in us: the year 2112 (fencing.lua caps it, too) */
#define DLOCK_MOST_PROPOSED (INT64_C(1) << 52)
/* no server is raised to this because of another (forged.lua) */
#define DLOCK_MOST_RAISED (DLOCK_EXACT - (INT64_C(1) << 50))

/* Can this be a lease's fencing token? */
static inline bool dlock_is_fencing_token(int64_t token)
{
	return token > 0 && token < DLOCK_EXACT;
}

/* ---- other requests, and what is known of those that were made ---- */

/* The holder's token. */
dlock_call *dlock_request_holder(dlock_keys keys);

/* The other way round, where an exchange has failed. */
static inline dlock_call *dlock_request_exchange_back(dlock_keys keys, const char *old, const char *new_token)
{
	return dlock_request_exchange(keys, new_token, old, DLOCK_NO_NUMBER);
}

/* Does the server say that it has given the lock? Its fencing token may be none. */
bool dlock_request_has_acquired(const dlock_call *call);

/* May the server have done what it was asked, or do it yet? Not where it says that it did not listen. */
bool dlock_request_may_take_effect(const dlock_call *call);

/* ---- responses ---- */

/* A position in the queue: behind one that waits for what this process keeps for ever. */
#define DLOCK_BEHIND_ITSELF (-2)

/* What a claim learns from a reply. */
typedef struct {
	int64_t value;         /* of a reply that is a number */
	int64_t fencing_token; /* when it was not refused */
	int64_t pttl;          /* ms until the lock may be free; negative: unknown. Of an exchange: ms left */
	int64_t position;      /* waiters ahead; negative: not in the queue; or DLOCK_BEHIND_ITSELF */
	int64_t ticket;        /* its own; where it is not in the queue, over several servers, the next one */
	int64_t new_in_queue;  /* 1: it was not in the queue before */
} dlock_response;

/* Each reads the reply to its request. DLOCK_OK: yes. DLOCK_LOST, without a message: no, the lock is not the token's.
 * DLOCK_CONNECTION: there is no reply, or none that can be used. */
typedef dlock_status dlock_reader(
	const dlock_call *call, const dlock_conn *conn, dlock_response *response, dlock_error *error);

dlock_reader dlock_read_acquire;
dlock_reader dlock_read_exchange;
dlock_reader dlock_read_holder;  /* yes: the lock has one */
dlock_reader dlock_read_integer; /* of all the others; yes: it is more than 0 */

#endif
