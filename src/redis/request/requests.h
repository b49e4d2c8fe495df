#ifndef DLOCK_REDIS_REQUESTS_H
#define DLOCK_REDIS_REQUESTS_H

#include "../../lock/claim.h"
#include "requests_lua.h"

/* Requests to Redis about a lock: the scripts as calls (requests_lua.h), and their replies as structs. */

/* ---- lease times, fencing tokens ---- */

/* Converts a key's time to live in ms to a lease time, from 0 to DLOCK_TTL_MAX. */
dlock_nanos dlock_lease_left(int64_t pttl);

/* A waiter for several locks has a ticket below this; see ASLEEP in handover.lua. */
#define DLOCK_ASLEEP INT64_C(4000000000000000)

/* Redis' scripts count exactly up to this number. */
#define DLOCK_EXACT (INT64_C(1) << 53)

/* Fencing tokens always stay below that, because each is the last token + 1, or one of these: */
/* a clock's proposal, in us: the year 2112 (fencing.lua has the same limit) */
#define DLOCK_MOST_PROPOSED (INT64_C(1) << 52)
/* no server is raised to this number because of another server (forged.lua) */
#define DLOCK_MOST_RAISED (DLOCK_EXACT - (INT64_C(1) << 50))

/* Can this be a lease's fencing token? */
static inline bool dlock_is_fencing_token(int64_t token)
{
	return token > 0 && token < DLOCK_EXACT;
}

/* ---- other requests, and what is known of those that were made ---- */

/* Asks for the holder's token. */
dlock_call *dlock_request_holder(dlock_keys keys);

/* The reverse exchange, after an exchange has failed. */
static inline dlock_call *dlock_request_exchange_back(dlock_keys keys, const char *old, const char *new_token)
{
	return dlock_request_exchange(keys, new_token, old, DLOCK_NO_NUMBER);
}

/* Does the server say that it has granted the lock? The fencing token may be invalid. */
bool dlock_request_has_acquired(const dlock_call *call);

/* May the server have executed the call, or execute it later? No, if it refused the call because the client is not
 * logged in. */
bool dlock_request_may_take_effect(const dlock_call *call);

/* ---- responses ---- */

/* A position in the queue: a waiter in front waits for permits that this thread holds without limit. */
#define DLOCK_BEHIND_ITSELF (-2)

/* What a claim learns from a reply. */
typedef struct {
	int64_t value;         /* the reply, if it is a number */
	int64_t fencing_token; /* if the request was not refused */
	int64_t pttl;          /* ms until the lock may be free; negative: unknown. From an exchange: ms left */
	int64_t position;      /* waiters ahead; negative: not in the queue; or DLOCK_BEHIND_ITSELF */
	int64_t ticket;        /* the claim's; over several servers, if it is not in the queue: the next one */
	int64_t new_in_queue;  /* 1: the claim was not in the queue before */
} dlock_response;

/* Each reads the reply to its request. DLOCK_OK: yes. DLOCK_LOST, without a message: no, the lock is not the token's.
 * DLOCK_CONNECTION: there is no reply, or no usable one. */
typedef dlock_status dlock_reader(
	const dlock_call *call, const dlock_conn *conn, dlock_response *response, dlock_error *error);

dlock_reader dlock_read_acquire;
dlock_reader dlock_read_exchange;
dlock_reader dlock_read_holder;  /* yes: the lock has a holder */
dlock_reader dlock_read_integer; /* for all other requests; yes: the number is more than 0 */

#endif
