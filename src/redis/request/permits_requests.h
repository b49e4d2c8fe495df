#ifndef DLOCK_REDIS_PERMITS_REQUESTS_H
#define DLOCK_REDIS_PERMITS_REQUESTS_H

#include "requests.h"

/* requests.h for permits: the replies about the pool of a semaphore or a read/write lock. */

/* What is learned from the replies. */
typedef struct {
	int64_t fencing_token; /* where it has the permits */
	int64_t permits;       /* that it has */
	int64_t pttl;          /* ms left of its lease, where it has the permits */
	dlock_response refusal; /* otherwise: pttl, the ms until a lease ends (negative: there is none); position; ticket;
							   new_in_queue */
} dlock_permits_response;

/* Each reads the reply to its request. DLOCK_OK: yes. DLOCK_LOST, without a message: no. DLOCK_CONNECTION: there is no
 * reply, or none that can be used. Of release, leave, renew, keep, drop and restore: dlock_read_integer(). */
typedef dlock_status dlock_permits_reader(
	const dlock_call *call, const dlock_conn *conn, dlock_permits_response *response, dlock_error *error);

dlock_permits_reader dlock_read_permits;          /* yes: it has them */
dlock_permits_reader dlock_read_permits_exchange;
dlock_permits_reader dlock_read_permits_check; /* yes: for `pttl` ms. No, with `permits`: its lease is over, and no
												  client has needed them yet */

/* `held`: whose lease is not over. `all` is `available` + `held`. */
typedef struct {
	int64_t all, available, held, waiting;
} dlock_permits_counts;

dlock_status dlock_read_permits_counts(
	const dlock_call *call, const dlock_conn *conn, dlock_permits_counts *counts, dlock_error *error);

#endif
