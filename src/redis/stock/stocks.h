#ifndef DLOCK_REDIS_STOCKS_H
#define DLOCK_REDIS_STOCKS_H

#include "../../lock/backend.h"
#include "../lock/wait.h"
#include "../request/stock_requests.h"
#include "question.h"

/* Stocks of products: units are reserved for a time, then sold or available again. What is decided is decided by the
 * scripts in lua/stock_*.lua. This file sends a question once more whose answer was lost: each of them counts once, by
 * the name that the caller gives it. */

enum {
	DLOCK_STOCK_NAME_MAX = 255, /* the longest name of a product, a buyer, an order or a change, in bytes */
	DLOCK_STOCK_MOST_UNITS = 999999999
};

/* Of one service. */
typedef struct dlock_stock dlock_stock;

/* NULL when out of memory. */
dlock_stock *dlock_stock_new(dlock_pool *pool, dlock_endpoint *service, const char *prefix, size_t prefix_len);
void dlock_stock_free(dlock_stock *stock);

/* NULL, or why there is no stock of that product: what follows the name of the argument. */
const char *dlock_stock_refuse(const dlock_stock *stock, dlock_arg sku);

/* Can these be reserved together? In a cluster only where they share a hash slot. */
bool dlock_stock_is_together(dlock_stock *stock, const dlock_arg *skus, int count);

/* ---- orders ---- */

dlock_order_id dlock_stock_order_id(dlock_arg buyer, dlock_arg order);

/* The name that is encoded from `text` on: its bytes; returns their number. */
size_t dlock_stock_decode(const char *text, size_t len, char *out);

typedef enum {
	DLOCK_STOCK_DONE,  /* it is reserved, or was done by this call */
	DLOCK_STOCK_SOLD,  /* of reserve(): it was sold before. Of confirm(), cancel(), refund(): it had been done before */
	DLOCK_STOCK_SHORT, /* not enough units; or it was cancelled while it waited */
	DLOCK_STOCK_LIMITED,  /* the buyer would have too many */
	DLOCK_STOCK_CONFLICT, /* there is an order of this name, and it is another one */
	DLOCK_STOCK_CLOSED,   /* the sale is closed or has ended, or there is no such stock */
	DLOCK_STOCK_REFUSED   /* not in this state of the order: `reason` */
} dlock_stock_outcome;

typedef struct {
	dlock_stock_outcome outcome;
	dlock_order_reason reason;
	int item;              /* that it is about, unless it was done */
	int64_t
		units; /* of LIMITED: how many the buyer has; of CONFLICT: how many the order has; of a refund: that are left */
	bool other_products;   /* of CONFLICT */
	bool is_unknown;       /* of CLOSED: there is no such stock */
	dlock_sale sale;       /* of CLOSED */
	bool late;             /* of confirm(): its time was over */
	int generation;        /* of reserve(), where it is reserved or sold */
	int64_t fencing_token; /* the same */
	dlock_nanos deadline;  /* of what is reserved: until when nobody else gets the units */
	dlock_nanos since;     /* for how long the order has been as it is, of SOLD and REFUSED */
} dlock_stock_answer;

/* A question that may wait for units. The first members are the caller's; the rest is zeroed at first. */
typedef struct {
	dlock_stock *stock;
	const dlock_order *order;
	dlock_nanos ttl;
	int64_t limit; /* the most units of one product that the buyer may have; 0: any number */
	bool strict;   /* it is not passed by those that come later and want less */

	dlock_waiter waiter;
	bool may_wait;              /* there was time left for it when the call under way began */
	bool queued;                /* it may be in the queue */
	dlock_stock_answer *answer; /* of the call under way */
	dlock_task task;
	dlock_stock_question asked;
	dlock_reserve_response response;
	dlock_status said;
} dlock_stock_turn;

/* Reserves all of the order, or nothing. DLOCK_OK: it is answered. DLOCK_CONNECTION: it is not known. Waits until
 * wait->deadline for units that others have reserved, where the order is for one product; while it waits,
 * DLOCK_INTERRUPTED: to be called again, or left. */
dlock_status dlock_stock_reserve(
	dlock_stock_turn *turn, const dlock_wait *wait, dlock_stock_answer *answer, dlock_error *error);

/* After DLOCK_INTERRUPTED: gives up its turn, without waiting. */
void dlock_stock_leave(dlock_stock_turn *turn);

/* Each of these is DONE, SOLD where it had been done before, CONFLICT, LIMITED or REFUSED. */

/* At least so much time from now on; never less than before. */
dlock_status dlock_stock_extend(
	dlock_stock *stock, const dlock_order *order, dlock_nanos ttl, dlock_stock_answer *answer, dlock_error *error);

/* Buys. `limit` counts for an order whose time was over. */
dlock_status dlock_stock_confirm(
	dlock_stock *stock, const dlock_order *order, int64_t limit, dlock_stock_answer *answer, dlock_error *error);

/* Cancels what is reserved, or waits. */
dlock_status dlock_stock_cancel(
	dlock_stock *stock, const dlock_order *order, dlock_stock_answer *answer, dlock_error *error);

/* Takes back what was sold: all of it, or so many units of an order of one product, by a change that is made once.
 * `restock`: they are for sale again. */
dlock_status dlock_stock_refund(dlock_stock *stock, const dlock_order *order, bool restock, int64_t units,
	dlock_arg change, dlock_stock_answer *answer, dlock_error *error);

/* Other numbers of units, those of the order, for the time that is left. */
dlock_status dlock_stock_change(
	dlock_stock *stock, const dlock_order *order, int64_t limit, dlock_stock_answer *answer, dlock_error *error);

/* How it stands, for each of its products. `now`: when that was so, by this process' clock. */
dlock_status dlock_stock_look(
	dlock_stock *stock, const dlock_order *order, dlock_order_status *status, dlock_nanos *now, dlock_error *error);

/* ---- stocks ---- */

/* `change`: the name of a change, which is made once; empty: each call is one. `changed`: by how many units.
 * `remember`: as dlock_request_stock_restock(). */
dlock_status dlock_stock_restock(dlock_stock *stock, dlock_arg sku, int64_t units, dlock_arg change,
	dlock_nanos remember, int64_t *changed, dlock_error *error);

/* Those that share a slot are of one moment. `confirmed`: replicas have what is counted. */
dlock_status dlock_stock_count(dlock_stock *stock, const dlock_arg *skus, int count, bool confirmed,
	dlock_stock_counts *counts, dlock_error *error);

/* `is`: what it is then. False in `known`: there is no such stock. */
dlock_status dlock_stock_set_sale(
	dlock_stock *stock, dlock_arg sku, dlock_sale sale, dlock_sale *is, bool *known, dlock_error *error);

/* A page of a product's orders, in the order of their states. `from` and `after` are the last page's `next_number` and
 * `next_id`; NULL: the first one. */
typedef struct {
	dlock_order_state state; /* NONE: of all states */
	double since;            /* when they came to be so, in seconds of the server's clock; of one state only */
	const char *buyer;       /* encoded as in an id; empty: of all */
	const char *from, *after;
	int limit;
} dlock_stock_query;

/* The call has the orders (dlock_read_stock_order_at()), and is to be released. */
dlock_status dlock_stock_list(dlock_stock *stock, dlock_arg sku, const dlock_stock_query *query, dlock_call **page,
	int *count, const char **next_number, const char **next_id, dlock_error *error);

/* The state that such a number says, and the ms of the server's clock with it. */
dlock_order_state dlock_stock_state_of(double number, double *ms);

#endif
