#ifndef DLOCK_REDIS_PERMITS_REQUESTS_H
#define DLOCK_REDIS_PERMITS_REQUESTS_H

#include "requests.h"

/* requests.h for permits: replies about the pool of a semaphore or a read/write lock. */

/* What a claim learns from a reply. */
typedef struct {
	int64_t fencing_token; /* if the claim holds the permits */
	int64_t permits;       /* the number that the claim holds */
	int64_t pttl;          /* ms left of its lease, if the claim holds the permits */
	/* if it does not: pttl, the ms until a lease ends (negative: there is none); position; ticket; new_in_queue */
	dlock_response refusal;
} dlock_permits_response;

/* Each reads the reply to its request. DLOCK_OK: yes. DLOCK_LOST, without a message: no. DLOCK_CONNECTION: there is no
 * reply, or no usable one. dlock_read_integer() reads the replies to release, leave, renew, keep, drop and restore. */
typedef dlock_status dlock_permits_reader(
	const dlock_call *call, const dlock_conn *conn, dlock_permits_response *response, dlock_error *error);

dlock_permits_reader dlock_read_permits; /* yes: the claim holds them */
dlock_permits_reader dlock_read_permits_exchange;
/* Yes: the lease has `pttl` ms left. No, with `permits`: the lease has expired, and no client has needed the permits
 * yet. */
dlock_permits_reader dlock_read_permits_check;

/* `held`: permits whose lease has not expired. `all` is `available` + `held`. */
typedef struct {
	int64_t all, available, held, waiting;
} dlock_permits_counts;

dlock_status dlock_read_permits_counts(
	const dlock_call *call, const dlock_conn *conn, dlock_permits_counts *counts, dlock_error *error);

#endif
