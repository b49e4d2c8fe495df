#ifndef DLOCK_REDIS_STOCK_REQUESTS_H
#define DLOCK_REDIS_STOCK_REQUESTS_H

#include "../../stock/stock.h"
#include "requests.h"

/* requests.h for stocks: replies about orders and about the stocks of products. */

/* requests_lua.h has the request of each script except this one, which takes nothing but keys. */
static inline dlock_call *dlock_request_stock_counts(const dlock_arg *stocks, int count)
{
	return dlock_call_script_on(DLOCK_SCRIPT_STOCK_COUNTS, stocks, count, &(dlock_arg) { "", 0 }, 0, 0);
}

/* ---- responses ---- */

/* Was there more to do than one script does? Then the caller must send the call again. */
bool dlock_stock_is_unfinished(const dlock_call *call);

/* Does the reply say that there is no such stock, no order, or nothing of that order's name? */
bool dlock_stock_finds_nothing(const dlock_call *call);

/* Does the call reserve units? */
bool dlock_stock_reserves(const dlock_call *call);

/* The first number of a reply to reserve. */
typedef enum {
	DLOCK_RESERVE_CLOSED = -5,
	DLOCK_RESERVE_CONFLICT = -4,
	DLOCK_RESERVE_CANCELLED = -3,
	DLOCK_RESERVE_AGAIN = -2,
	DLOCK_RESERVE_LIMITED = -1,
	DLOCK_RESERVE_SHORT,
	DLOCK_RESERVE_HELD,
	DLOCK_RESERVE_SOLD
} dlock_reserve_result;

typedef struct {
	dlock_reserve_result result;
	int64_t fencing_token; /* of HELD and SOLD */
	int64_t units;         /* of LIMITED: the buyer's; of HELD, SOLD and CONFLICT: the order's */
	int64_t ms;            /* of HELD: ms left; of SOLD: ms since the sale */
	int generation;        /* of HELD and SOLD */
	int item;              /* of several products: the one that the reply is about, from 0 */
	bool other_products;   /* of CONFLICT */
	dlock_sale sale;       /* of CLOSED */
	bool is_unknown;       /* of CLOSED: there is no such stock */
	/* of SHORT: pttl, the ms until a reservation ends (negative: there is none); position; ticket; new_in_queue. Of
	 * AGAIN: ticket */
	dlock_response refusal;
} dlock_reserve_response;

/* DLOCK_OK: the result is one of these. DLOCK_CONNECTION: there is no reply, or no usable one. The functions below
 * return the same. */
dlock_status dlock_read_stock_reserve(
	const dlock_call *call, const dlock_conn *conn, dlock_reserve_response *response, dlock_error *error);
dlock_status dlock_read_stock_basket(
	const dlock_call *call, const dlock_conn *conn, dlock_reserve_response *response, dlock_error *error);

/* A script's reply about an order. `result` 1, 2 or 3: it is done, with `number` as the script says. 0: it is not done,
 * because of `reason`, with that reason's `number`. */
typedef struct {
	int result;
	int64_t number;
	int item;
	dlock_order_reason reason;
} dlock_order_response;

dlock_status dlock_read_stock_order(
	const dlock_call *call, const dlock_conn *conn, dlock_order_response *response, dlock_error *error);

dlock_status dlock_read_stock_status(
	const dlock_call *call, const dlock_conn *conn, int count, dlock_order_status *status, dlock_error *error);

/* `unfinished`: more reservations have to be swept, so the caller must ask again. */
dlock_status dlock_read_stock_counts(const dlock_call *call, const dlock_conn *conn, int count,
	dlock_stock_counts *counts, bool *unfinished, dlock_error *error);

/* `changed`: the number of units by which the stock has changed. */
dlock_status dlock_read_stock_restock(
	const dlock_call *call, const dlock_conn *conn, int64_t *changed, dlock_error *error);

/* From stock_lineage.lua. `since`: sales that were confirmed until then may be missing, in ms of the server's clock; 0:
 * none are. */
typedef enum { DLOCK_LINEAGE_OPEN, DLOCK_LINEAGE_DECIDED, DLOCK_LINEAGE_NONE } dlock_lineage_state;

dlock_status dlock_read_stock_lineage(const dlock_call *call, const dlock_conn *conn, dlock_lineage_state *state,
	int64_t *since, dlock_error *error);

/* Reads a page of orders. The texts live as long as the call. */
dlock_status dlock_read_stock_orders(const dlock_call *call, const dlock_conn *conn, int *count,
	const char **next_number, const char **next_id, dlock_error *error);
dlock_listed_order dlock_read_stock_order_at(const dlock_call *call, int index);

#endif
