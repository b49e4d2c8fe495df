#ifndef DLOCK_REDIS_PERMITS_REQUESTS_H
#define DLOCK_REDIS_PERMITS_REQUESTS_H

#include "../script/permit_id.h"
#include "requests.h"

/* requests.h for permits: what is said to Redis about the pool of a semaphore or a read/write lock, or about a stock. `key` is the pool's, in full. */

/* The most stocks that one request is about. */
#define DLOCK_STOCKS_MAX 16

/* ---- requests: calls that are not sent yet; NULL when out of memory ---- */

/* How permits are asked for; see lua/permits_acquire.lua. */
typedef struct {
	const char *id;
	int64_t permits;
	int64_t capacity;         /* of the pool; 0: its stock */
	dlock_nanos ttl;
	int64_t limit;            /* the most pieces for this buyer, reserved and bought; 0: as many as it likes */
	bool fifo;                /* a writer waits in the order of tickets; otherwise phases of readers and writers alternate */
	const dlock_inbox *inbox; /* NULL: do not queue */
	int64_t ticket;           /* 0: none yet */
	int64_t number;           /* of the request; comes back with a grant */
} dlock_permits_attempt;

dlock_call *dlock_request_permits(dlock_arg key, const dlock_permits_attempt *attempt);
dlock_call *dlock_request_permits_release(dlock_arg key, const char *id);
/* A release that leaves the queue, too, if there is an inbox. */
dlock_call *dlock_request_permits_abandon(dlock_arg key, const dlock_permits_attempt *attempt);
/* Its own waiter is named by the attempt's id, permits, capacity, limit and inbox. */
dlock_call *dlock_request_permits_leave(dlock_arg key, const dlock_permits_attempt *attempt);
/* `only_longer`: a lease does not become shorter. */
dlock_call *dlock_request_permits_renew(dlock_arg key, const char *id, dlock_nanos ttl, bool only_longer);
dlock_call *dlock_request_permits_check(dlock_arg key, const char *id);
/* The way back is the same with the ids exchanged. */
dlock_call *dlock_request_permits_exchange(dlock_arg key, const char *old, const char *new_id);
/* `capacity` 0: of a stock. */
dlock_call *dlock_request_permits_counts(dlock_arg key, int64_t capacity);

/* Of several stocks, which share a slot; at most DLOCK_STOCKS_MAX. */
dlock_call *dlock_request_permits_reserve(const dlock_arg *keys, int count, const char *id, dlock_nanos ttl, const int64_t *pieces, int64_t limit);
dlock_call *dlock_request_permits_confirm(const dlock_arg *keys, int count, const char *id);
dlock_call *dlock_request_permits_cancel(const dlock_arg *keys, int count, const char *id);

/* `change`: the name of this change, made once; NULL: none. */
dlock_call *dlock_request_permits_restock(dlock_arg key, int64_t pieces, const char *change);

/* ---- responses ---- */

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
 * Of release, abandon, leave, renew and cancel: dlock_read_integer(). */
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
