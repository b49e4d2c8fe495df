#ifndef DLOCK_REDIS_STOCK_REQUESTS_H
#define DLOCK_REDIS_STOCK_REQUESTS_H

#include "../script/permit_id.h"
#include "requests.h"

/* requests.h for stocks: orders, and the replies about the stocks of products. */

/* "buyer/order", with %XX for a slash, a space and other bytes that the scripts could not tell from their own. */
typedef struct {
	char text[DLOCK_PERMIT_ID_MAX + 1];
} dlock_order_id;

/* What is asked for, and how the name of it is said to the servers. */
typedef struct {
	dlock_order_id id;
	int generation; /* negative: the last, whichever that is */
	int count;      /* of the products, each once */
	dlock_arg skus[DLOCK_STOCKS_MAX];
	int64_t units[DLOCK_STOCKS_MAX];
} dlock_order;

typedef enum { DLOCK_SALE_OPEN, DLOCK_SALE_CLOSED, DLOCK_SALE_ENDED } dlock_sale;

/* Each script has its request in requests_lua.h, and this one, which takes nothing but keys, here. */
static inline dlock_call *dlock_request_stock_counts(const dlock_arg *stocks, int count)
{
	return dlock_call_script_on(DLOCK_SCRIPT_STOCK_COUNTS, stocks, count, &(dlock_arg) { "", 0 }, 0, 0);
}

/* ---- responses ---- */

/* There was more to do than one script does: the call is to be sent again. */
bool dlock_stock_is_unfinished(const dlock_call *call);

/* Why an order cannot be bought, cancelled and so on; as the scripts say it. */
typedef enum {
	DLOCK_ORDER_UNKNOWN,
	DLOCK_ORDER_ENDED,
	DLOCK_ORDER_CANCELLED,
	DLOCK_ORDER_REFUNDED,
	DLOCK_ORDER_SUPERSEDED,   /* the name was reserved anew */
	DLOCK_ORDER_OTHER,        /* it has other products */
	DLOCK_ORDER_LIMITED,
	DLOCK_ORDER_SOLD,
	DLOCK_ORDER_NOT_SOLD,
	DLOCK_ORDER_SMALLER,      /* it has fewer units */
	DLOCK_ORDER_SHORT         /* there are not enough units */
} dlock_order_reason;

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
	int64_t fencing_token;  /* of HELD and SOLD */
	int64_t units;          /* of LIMITED: the buyer's; of CONFLICT: the order's */
	int64_t ms;             /* of HELD: that are left; of SOLD: since it was */
	int generation;         /* of HELD and SOLD */
	int item;               /* of several, from 0: that it is about */
	bool other_products;    /* of CONFLICT */
	dlock_sale sale;        /* of CLOSED */
	bool is_unknown;        /* of CLOSED: there is no such stock */
	dlock_response refusal; /* of SHORT: pttl, the ms until a reservation ends (negative: there is none); position;
							   ticket; new_in_queue; of AGAIN: ticket */
} dlock_reserve_response;

/* DLOCK_OK: one of these. DLOCK_CONNECTION: there is no reply, or none that can be used. The same goes for all that
 * follow. */
dlock_status dlock_read_stock_reserve(
	const dlock_call *call, const dlock_conn *conn, dlock_reserve_response *response, dlock_error *error);
dlock_status dlock_read_stock_basket(
	const dlock_call *call, const dlock_conn *conn, dlock_reserve_response *response, dlock_error *error);

/* The reply of a script about an order: `result` 1, 2 or 3 with `number` behind it; 0: not done, for `reason`, and
 * `number` of it. */
typedef struct {
	int result;
	int64_t number;
	int item;
	dlock_order_reason reason;
} dlock_order_response;

dlock_status dlock_read_stock_order(
	const dlock_call *call, const dlock_conn *conn, dlock_order_response *response, dlock_error *error);

typedef enum {
	DLOCK_STATE_NONE,
	DLOCK_STATE_RESERVED,
	DLOCK_STATE_ENDED,
	DLOCK_STATE_SOLD,
	DLOCK_STATE_CANCELLED,
	DLOCK_STATE_REFUNDED
} dlock_order_state;

typedef struct {
	dlock_order_state state;
	int64_t units, ms;    /* left of a reservation; otherwise since it is so */
	int64_t at;           /* when it ends, or came to be so: ms by the server's clock */
	int generation;
	char products[16];
} dlock_order_status;

dlock_status dlock_read_stock_status(
	const dlock_call *call, const dlock_conn *conn, int count, dlock_order_status *status, dlock_error *error);

typedef struct {
	bool known;
	dlock_sale sale;
	int64_t available, reserved, sold, waiting;
} dlock_stock_counts;

/* `unfinished`: there is more to sweep, so that they are to be asked for again. */
dlock_status dlock_read_stock_counts(const dlock_call *call, const dlock_conn *conn, int count,
	dlock_stock_counts *counts, bool *unfinished, dlock_error *error);

/* By how many units the stock has changed. */
dlock_status dlock_read_stock_restock(
	const dlock_call *call, const dlock_conn *conn, int64_t *changed, dlock_error *error);

/* One order of a page, as `index` counts them; false: there is none at that place. The text lives as long as the
 * call. */
typedef struct {
	const char *id, *number;
	int64_t units, ms; /* left of a reservation */
} dlock_listed_order;

dlock_status dlock_read_stock_orders(const dlock_call *call, const dlock_conn *conn, int *count,
	const char **next_number, const char **next_id, dlock_error *error);
dlock_listed_order dlock_read_stock_order_at(const dlock_call *call, int index);

#endif
