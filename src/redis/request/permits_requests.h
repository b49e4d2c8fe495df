#ifndef DLOCK_REDIS_PERMITS_REQUESTS_H
#define DLOCK_REDIS_PERMITS_REQUESTS_H

#include "requests.h"

/* requests.h for permits: what is said to Redis about the pool of a semaphore or a read/write lock. `key` is the pool's, in full. */

/* ---- requests: calls that are not sent yet; NULL when out of memory ---- */

/* How permits are asked for; see lua/permits_acquire.lua. */
typedef struct {
	const char *id;
	int64_t permits;
	int64_t capacity;         /* of the pool */
	dlock_nanos ttl;
	bool fifo;                /* a writer waits in the order of tickets; otherwise phases of readers and writers alternate */
	const dlock_inbox *inbox; /* NULL: do not queue */
	int64_t ticket;           /* 0: none yet */
	int64_t number;           /* of the request; comes back with a grant */
} dlock_permits_attempt;

dlock_call *dlock_request_permits(dlock_arg key, const dlock_permits_attempt *attempt);
dlock_call *dlock_request_permits_release(dlock_arg key, const char *id);
/* A release that leaves the queue, too, if there is an inbox. */
dlock_call *dlock_request_permits_abandon(dlock_arg key, const dlock_permits_attempt *attempt);
/* Its own waiter is named by the attempt's id, permits, capacity and inbox. */
dlock_call *dlock_request_permits_leave(dlock_arg key, const dlock_permits_attempt *attempt);
/* `only_longer`: a lease does not become shorter. */
dlock_call *dlock_request_permits_renew(dlock_arg key, const char *id, dlock_nanos ttl, bool only_longer);
dlock_call *dlock_request_permits_check(dlock_arg key, const char *id);
/* The way back is the same with the ids exchanged. */
dlock_call *dlock_request_permits_exchange(dlock_arg key, const char *old, const char *new_id);
dlock_call *dlock_request_permits_counts(dlock_arg key, int64_t capacity);

/* ---- responses ---- */

/* What is learned from the replies. */
typedef struct {
	int64_t fencing_token; /* where it has the permits */
	int64_t permits;       /* that it has */
	int64_t pttl;          /* ms left of its lease, where it has the permits */
	dlock_response refusal; /* otherwise: pttl, the ms until a lease ends (negative: there is none); position; ticket; new_in_queue */
} dlock_permits_response;

/* Each reads the reply to its request. DLOCK_OK: yes. DLOCK_LOST, without a message: no. DLOCK_CONNECTION: there is no reply, or none that can be used.
 * Of release, abandon, leave and renew: dlock_read_integer(). */
typedef dlock_status dlock_permits_reader(const dlock_call *call, const dlock_conn *conn, dlock_permits_response *response, dlock_error *error);

dlock_permits_reader dlock_read_permits;          /* yes: it has them */
dlock_permits_reader dlock_read_permits_exchange;
dlock_permits_reader dlock_read_permits_check;    /* yes: for `pttl` ms. No, with `permits`: its lease is over, and nobody has needed them yet */

/* `held`: whose lease is not over. `all` is `available` + `held`. */
typedef struct {
	int64_t all, available, held, waiting;
} dlock_permits_counts;

dlock_status dlock_read_permits_counts(const dlock_call *call, const dlock_conn *conn, dlock_permits_counts *counts, dlock_error *error);

#endif
