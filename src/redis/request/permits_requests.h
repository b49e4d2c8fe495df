#ifndef DLOCK_REDIS_PERMITS_REQUESTS_H
#define DLOCK_REDIS_PERMITS_REQUESTS_H

#include "../script/permit_id.h"
#include "requests.h"

/* requests.h for permits: the replies about the pool of a semaphore or a read/write lock, or about a stock. */

/* What is learned from the replies. */
typedef struct {
	bool bought;           /* it has bought them, by an earlier request */
	bool limited;          /* the buyer's limit forbids it */
	int64_t fencing_token; /* where it has the permits */
	int64_t permits;       /* that it has, or has bought; where the limit forbids it: the buyer's pieces */
	int64_t pttl;          /* ms left of its lease, where it has the permits */
	int stock;             /* of several: the first one, from 0, that was the reason for a refusal */
	int64_t pieces[DLOCK_STOCKS_MAX]; /* of several: that it has, or has bought, of each; 0: not asked for */
	dlock_response refusal; /* otherwise: pttl, the ms until a lease ends (negative: there is none); position; ticket; new_in_queue */
} dlock_permits_response;

/* Each reads the reply to its request. DLOCK_OK: yes. DLOCK_LOST, without a message: no. DLOCK_CONNECTION: there is no reply, or none that can be used.
 * Of release, leave, renew, keep, drop and restore: dlock_read_integer(). */
typedef dlock_status dlock_permits_reader(const dlock_call *call, const dlock_conn *conn, dlock_permits_response *response, dlock_error *error);

dlock_permits_reader dlock_read_permits;          /* yes: it has them, or has bought them */
dlock_permits_reader dlock_read_permits_reserve;  /* the same */
dlock_permits_reader dlock_read_permits_exchange;
dlock_permits_reader dlock_read_permits_check;    /* yes: for `pttl` ms. No, with `permits`: its lease is over, and nobody has needed them yet */

typedef enum { DLOCK_CONFIRMED, DLOCK_CONFIRMED_BEFORE, DLOCK_CONFIRMED_LATE /* the lease was over */ } dlock_confirmation;

/* DLOCK_LOST: of the stock, from 0, nothing is reserved under this id. */
dlock_status dlock_read_permits_confirm(const dlock_call *call, const dlock_conn *conn, dlock_confirmation *confirmation, int *stock, dlock_error *error);

/* `held`: whose lease is not over. `all` is `available` + `held` + `sold`. */
typedef struct {
	int64_t all, available, held, sold, waiting;
} dlock_permits_counts;

dlock_status dlock_read_permits_counts(const dlock_call *call, const dlock_conn *conn, dlock_permits_counts *counts, dlock_error *error);

/* By how many pieces the stock has changed. */
dlock_status dlock_read_permits_restock(const dlock_call *call, const dlock_conn *conn, int64_t *changed, dlock_error *error);

#endif
