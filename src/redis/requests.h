#ifndef DLOCK_REDIS_REQUESTS_H
#define DLOCK_REDIS_REQUESTS_H

#include "inbox.h"
#include "keys.h"
#include "../lock/backend.h"

/* What is said to Redis about a lock: the scripts of lua/ as calls, and their replies read into a struct. */

/* What another thread needs to know to renew a lease: it is one while a quorum of the servers have the key for the token. */
typedef struct dlock_place {
	int count, quorum;
	dlock_server *servers[DLOCK_MOST_SERVERS];
	dlock_arg key; /* valid until the back end is used again */
} dlock_place;

/* ---- lease times, fencing tokens ---- */

/* The part of a lease that clocks may disagree about: 1 % and 2 ms, as in the Redlock algorithm
 * (https://redis.io/docs/latest/develop/use/patterns/distributed-locks/). */
dlock_nanos dlock_drift(dlock_nanos ttl);

/* A key's time to live in ms as a lease time: no longer than one can be. */
dlock_nanos dlock_lease_left(int64_t pttl);

/* Redis' scripts count exactly up to here. */
#define DLOCK_EXACT (INT64_C(1) << 53)

/* Fencing tokens stay below that for ever, since each is the last one and 1 or one of these: */
#define DLOCK_MOST_PROPOSED (INT64_C(1) << 52) /* a clock's proposal, in us: the year 2112 (lua/fencing.lua caps it, too) */
#define DLOCK_MOST_RAISED (DLOCK_EXACT - (INT64_C(1) << 50)) /* no server is raised to this because of another (lua/limit.lua) */

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
	int64_t least_fencing_token; /* 0: the server's time */
	bool grant;                  /* the server hands the lock over; otherwise it only tells whose turn it is */
	const char *waiter;
	const dlock_inbox *inbox; /* NULL: do not queue */
	int64_t ticket;           /* 0: the server's time, where `grant` */
	int64_t number;           /* of the request; comes back with a grant */
	bool legacy;              /* takes over from ended timestamps */
} dlock_request;

dlock_call *dlock_call_acquire(dlock_keys keys, const dlock_request *request);

/* With `waiter`: its name in the queue, which it `leaves` or stays in without being notified. */
dlock_call *dlock_call_give_back(dlock_keys keys, const char *token, bool grant, const char *waiter, bool leaves);

/* Takes the waiter out of the queue. */
dlock_call *dlock_call_leave(dlock_keys keys, const char *waiter, bool grant);

/* A new lease time; of renew only a longer one. */
dlock_call *dlock_call_extend(dlock_keys keys, const char *token, dlock_nanos ttl);
dlock_call *dlock_call_renew(dlock_keys keys, const char *token, dlock_nanos ttl);

/* The ms left. */
dlock_call *dlock_call_check(dlock_keys keys, const char *token);

/* Raises the server's last fencing token to this one, where the lock is the token's. */
dlock_call *dlock_call_raise(dlock_keys keys, const char *token, int64_t fencing_token);

/* Sets the key again where there is none. */
dlock_call *dlock_call_repair(dlock_keys keys, const char *token, dlock_nanos ttl, int64_t fencing_token);

/* The token of whoever holds the lock. */
dlock_call *dlock_call_holder(dlock_keys keys);

/* Makes the old token's lease the new one's; and the other way round, where that failed. */
dlock_call *dlock_call_exchange(dlock_keys keys, const char *old, const char *new_token, int64_t least_fencing_token);
dlock_call *dlock_call_exchange_back(dlock_keys keys, const char *old, const char *new_token);

/* ---- responses ---- */

/* What a claim learns from a reply. */
typedef struct {
	int64_t fencing_token; /* when it was not refused */
	int64_t pttl;          /* ms until the lock may be free; negative: unknown, and nobody may tell. Of an exchange: ms left */
	int64_t place;         /* waiters ahead; negative: not in the queue */
	int64_t ticket;        /* its own; where it is not in the queue, over several servers, the next one */
	int64_t new_in_queue;  /* 1: it was not in the queue before */
} dlock_answer;

/* May the server have done what it was asked, or do it yet? Not where it says that it did not listen. */
bool dlock_call_may_count(const dlock_call *call);

/* What a call came to: its integer, or -1 with a message that names the server. */
int64_t dlock_call_integer(const dlock_call *call, const dlock_conn *conn, dlock_error *error);

/* The same for acquire: 1 acquired, 0 refused, or -1. */
int dlock_call_acquired(const dlock_call *call, const dlock_conn *conn, dlock_answer *answer, dlock_error *error);

/* And for exchange: 1 exchanged, 0 the lock is not the old token's, or -1. */
int dlock_call_exchanged(const dlock_call *call, const dlock_conn *conn, dlock_answer *answer, dlock_error *error);

#endif
