#ifndef DLOCK_REDIS_REQUESTS_H
#define DLOCK_REDIS_REQUESTS_H

#include "keys.h"
#include "pool.h"
#include "../lock/claim.h"

/* The two back ends on Redis and what they have in common. */

enum { DLOCK_MOST_SERVERS = 64 };

/* One server. `prefix` is put before each resource to make its key. `legacy`: shares its locks with SETNX/GETSET timestamp
 * code (docs/legacy.md). NULL when out of memory. */
dlock_backend *dlock_single_new(dlock_pool *pool, dlock_server *server, const char *prefix, size_t prefix_len, bool legacy);

/* A majority of 1 to DLOCK_MOST_SERVERS independent servers. A server has no vote before it has been up for `guard`, and for
 * the lease time asked for, as guard.h tells; 0: each has. */
dlock_backend *dlock_quorum_new(dlock_pool *pool, dlock_server **servers, int count, dlock_nanos guard, const char *prefix,
	size_t prefix_len);

/* What each server of a quorum said in the last operation: NULL where it answered as it should. */
int dlock_quorum_servers(const dlock_backend *backend);
const char *dlock_quorum_server_label(const dlock_backend *backend, int server);
const char *dlock_quorum_server_error(const dlock_backend *backend, int server);

/* ---- for the back ends themselves ---- */

/* Is the claim's key, made with `ours`, the one that `theirs` makes for the resource? */
bool dlock_is_same_key(dlock_key_builder *ours, const dlock_claim *claim, dlock_key_builder *theirs, const char *resource, size_t len);

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

/* What Redis' scripts count exactly. */
#define DLOCK_EXACT (INT64_C(1) << 53)

/* How fencing tokens stay below that for ever, since from any of them on they rise by one each time:
 * what a clock proposes ends here, in us the year 2112 (lua/fencing.lua caps it, too); */
#define DLOCK_MOST_PROPOSED (INT64_C(1) << 52)
/* and no server is raised to as much as that because of another one (lua/limit.lua). */
#define DLOCK_MOST_RAISED (DLOCK_EXACT - (INT64_C(1) << 50))

/* Can this be a lease's fencing token? */
static inline bool dlock_is_fencing_token(int64_t token)
{
	return token > 0 && token < DLOCK_EXACT;
}

/* A key's time to live in ms as a lease time: no longer than one can be. */
dlock_nanos dlock_lease_left(int64_t pttl);

/* What a claim learns from an answer. */
typedef struct {
	int64_t fencing_token; /* when it was not refused */
	int64_t pttl;          /* ms until the lock may be free; negative: unknown, and nobody may tell. Of an exchange: ms left */
	int64_t place;         /* waiters ahead; negative: not in the queue */
	int64_t ticket;        /* its own; where it is not in the queue, over several servers, the next one */
	int64_t new_in_queue;  /* 1: it was not in the queue before */
} dlock_answer;

/* The scripts, as calls that nobody has sent yet. NULL when out of memory. */
dlock_call *dlock_call_acquire(dlock_keys keys, const dlock_request *request);
dlock_call *dlock_call_give_back(dlock_keys keys, const char *token, bool grant, const char *waiter, bool leaves);
dlock_call *dlock_call_leave(dlock_keys keys, const char *waiter, bool grant);
dlock_call *dlock_call_extend(dlock_keys keys, const char *token, dlock_nanos ttl);
dlock_call *dlock_call_renew(dlock_keys keys, const char *token, dlock_nanos ttl);
dlock_call *dlock_call_check(dlock_keys keys, const char *token);
dlock_call *dlock_call_raise(dlock_keys keys, const char *token, int64_t fencing_token);
dlock_call *dlock_call_repair(dlock_keys keys, const char *token, dlock_nanos ttl, int64_t fencing_token);
dlock_call *dlock_call_holder(dlock_keys keys);

/* For a claim that takes up a lease by the old token; and the other way round, where that failed. */
dlock_call *dlock_call_exchange(dlock_keys keys, const char *old, const char *new_token, int64_t least_fencing_token);
dlock_call *dlock_call_exchange_back(dlock_keys keys, const char *old, const char *new_token);

/* May the server have done what it was asked, or do it yet? Not where it says that it did not listen. */
bool dlock_call_may_count(const dlock_call *call);

/* What a call came to: its integer, or -1 with a message that names the server. */
int64_t dlock_call_integer(const dlock_call *call, const dlock_conn *conn, dlock_error *error);

/* The same for acquire: 1 acquired, 0 refused, or -1. */
int dlock_call_acquired(const dlock_call *call, const dlock_conn *conn, dlock_answer *answer, dlock_error *error);

/* And for exchange: 1 exchanged, 0 the lock is not the old token's, or -1. */
int dlock_call_exchanged(const dlock_call *call, const dlock_conn *conn, dlock_answer *answer, dlock_error *error);

/* ---- waiting ---- */

/* How long a grant lasts that is not taken up; GRACE in lua/handover.lua. */
#define DLOCK_GRANT_TTL (3 * DLOCK_SECOND)

/* When a waiter looks again by itself: as its sign of life, and when the holder's lease should be over. The further back
 * in the queue, the later after that, so that not all look at once. */
dlock_nanos dlock_next_look(const dlock_answer *answer);

/* The same beside holders of other kinds, who tell nobody when they go. */
dlock_nanos dlock_next_look_legacy(const dlock_answer *answer);

/* Sleeps until one of these inboxes has something, or one of them broke, or `until`, or an interruption. */
int dlock_inboxes_wait(dlock_inbox **inboxes, int count, dlock_nanos until, const dlock_wait *wait);

#endif
