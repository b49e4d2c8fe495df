#ifndef DLOCK_REDIS_REQUESTS_H
#define DLOCK_REDIS_REQUESTS_H

#include "../../lock/claim.h"
#include "../wire/inbox.h"
#include "keys.h"

/* What is said to Redis about a lock: the scripts of lua/ as calls, and their replies read into a struct. */

/* ---- lease times, fencing tokens ---- */

/* A key's time to live in ms as a lease time: no longer than one can be. */
dlock_nanos dlock_lease_left(int64_t pttl);

/* Redis' scripts count exactly up to here. */
#define DLOCK_EXACT (INT64_C(1) << 53)

/* Fencing tokens stay below that for ever, since each is the last one and 1 or one of these: */
/* a clock's proposal, in us: the year 2112 (lua/fencing.lua caps it, too) */
#define DLOCK_MOST_PROPOSED (INT64_C(1) << 52)
/* no server is raised to this because of another (lua/forged.lua) */
#define DLOCK_MOST_RAISED (DLOCK_EXACT - (INT64_C(1) << 50))

/* Can this be a lease's fencing token? */
static inline bool dlock_is_fencing_token(int64_t token)
{
	return token > 0 && token < DLOCK_EXACT;
}

/* ---- requests: calls that are not sent yet; NULL when out of memory ---- */

/* How a claim asks for its lock; see lua/acquire.lua. */
typedef struct {
	const char *token;
	dlock_nanos ttl;
	bool may_count;              /* the fence may just count on, where the lock is free and nobody waits */
	int64_t least_fencing_token; /* otherwise; 0: the server's time */
	bool grant;                  /* the server hands the lock over; otherwise it only notifies the next waiter */
	const char *waiter;       /* NULL or "": the token */
	const dlock_inbox *inbox; /* NULL: do not queue */
	int64_t ticket;           /* 0: the server's time, where `grant` */
	int64_t number;           /* of the request; comes back with a grant */
	bool legacy;              /* takes over from ended timestamps */
	bool unnotified;          /* looks at intervals, and needs its position for that */
} dlock_attempt;

dlock_call *dlock_request_acquire(dlock_keys keys, const dlock_attempt *attempt);

/* With `waiter`: its name in the queue, which it `leaves` or stays in without being notified. */
dlock_call *dlock_request_release(dlock_keys keys, const char *token, bool grant, const char *waiter, bool leaves);

/* Takes the waiter out of the queue. */
dlock_call *dlock_request_leave(dlock_keys keys, const char *waiter, bool grant);

/* A new lease time; of renew only a longer one. */
dlock_call *dlock_request_extend(dlock_keys keys, const char *token, dlock_nanos ttl);
dlock_call *dlock_request_renew(dlock_keys keys, const char *token, dlock_nanos ttl);

/* The ms left. */
dlock_call *dlock_request_check(dlock_keys keys, const char *token);

/* Raises the server's last fencing token to this one, where the lock is the token's. */
dlock_call *dlock_request_raise(dlock_keys keys, const char *token, int64_t fencing_token);

/* Sets the key again where there is none. */
dlock_call *dlock_request_repair(dlock_keys keys, const char *token, dlock_nanos ttl, int64_t fencing_token);

/* The holder's token. */
dlock_call *dlock_request_holder(dlock_keys keys);

/* Makes the old token's lease the new one's; and the other way round, where that failed. */
dlock_call *dlock_request_exchange(
	dlock_keys keys, const char *old, const char *new_token, int64_t least_fencing_token);
dlock_call *dlock_request_exchange_back(dlock_keys keys, const char *old, const char *new_token);

/* Does the server say that it has given the lock? Its fencing token may be none. */
bool dlock_request_has_acquired(const dlock_call *call);

/* May the server have done what it was asked, or do it yet? Not where it says that it did not listen. */
bool dlock_request_may_take_effect(const dlock_call *call);

/* ---- responses ---- */

/* What a claim learns from a reply. */
typedef struct {
	int64_t value;         /* of a reply that is a number */
	int64_t fencing_token; /* when it was not refused */
	int64_t pttl;          /* ms until the lock may be free; negative: unknown. Of an exchange: ms left */
	int64_t position;      /* waiters ahead; negative: not in the queue */
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
