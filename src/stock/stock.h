#ifndef DLOCK_STOCK_H
#define DLOCK_STOCK_H

#include "../base/error.h"
#include "../base/wait.h"
#include "order.h"

/* Stocks of products: units are reserved for a time, then sold or available again. A back end knows where they are.
 * Each of its functions is one question, which counts once for the names that the caller passes, however often it is
 * asked.
 *
 * A stock belongs to one thread. No function here allocates Zend memory or calls into PHP. */

typedef struct dlock_stock dlock_stock;

typedef enum {
	DLOCK_STOCK_DONE,     /* the order is reserved, or this call did what was asked */
	/* reserve(): the order was sold before; confirm(), cancel(), refund(): an earlier call did it */
	DLOCK_STOCK_SOLD,
	DLOCK_STOCK_SHORT,    /* too few units, or the order was cancelled while it waited */
	DLOCK_STOCK_LIMITED,  /* the buyer would exceed the limit */
	DLOCK_STOCK_CONFLICT, /* an order of this name exists, with other products or units */
	DLOCK_STOCK_CLOSED,   /* the sale is closed or has ended, or there is no such stock */
	DLOCK_STOCK_REFUSED   /* the state of the order does not allow it: `reason` */
} dlock_stock_outcome;

typedef enum { DLOCK_SALE_OPEN, DLOCK_SALE_CLOSED, DLOCK_SALE_ENDED } dlock_sale;

typedef struct {
	dlock_stock_outcome outcome;
	dlock_order_reason reason;
	int item; /* the index of the product that it is about, unless it is DONE */
	/* LIMITED: the buyer's units; CONFLICT: the order's units; refund(): the order's units that are left */
	int64_t units;
	bool other_products;   /* CONFLICT: the order has other products */
	bool is_unknown;       /* CLOSED: there is no such stock */
	dlock_sale sale;       /* of CLOSED */
	bool late;             /* confirm(): the reservation had expired */
	int generation;        /* reserve(): of an order that is reserved or sold */
	int64_t fencing_token; /* likewise */
	dlock_nanos deadline;  /* of a reservation: until then no other order reserves its units */
	dlock_nanos since;     /* SOLD and REFUSED: for how long the order has been in its state */
	/* a server may have forgotten sales that were confirmed until then, in ms of its clock; 0: none */
	int64_t uncertain;
} dlock_stock_answer;

/* A request for units, which may wait for them. */
typedef struct {
	dlock_stock *stock;
	const dlock_order *order;
	dlock_nanos ttl;
	int64_t limit; /* the most units of one product that the buyer may have; 0: any number */
	bool strict;   /* no later turn that wants fewer units passes it */
	bool waited;   /* the units were not available at once */
	void *state;   /* the back end's, while the turn is interrupted; NULL at first */
} dlock_stock_turn;

typedef struct {
	bool known;
	dlock_sale sale;
	int64_t available, reserved, sold, waiting;
	int64_t uncertain; /* as in dlock_stock_answer */
} dlock_stock_counts;

/* Selects a page of a product's orders, which are sorted by state. */
typedef struct {
	dlock_order_state state; /* NONE: all states */
	/* Only orders that entered this one state since then, in seconds of the server's clock. */
	double since;
	const char *buyer;       /* encoded as in an id; "": all buyers */
	const char *from, *after; /* the last page's `number` and `id`; NULL: the first page */
	int limit;
} dlock_stock_query;

typedef struct {
	const char *id;
	dlock_order_state state;
	int64_t units, at; /* `at`: ms by the server's clock, as in dlock_order_status */
	int64_t left;      /* ms until a reservation expires */
} dlock_listed_order;

/* The next page begins after it; an empty number: there is none. */
typedef struct {
	char number[40];
	char id[DLOCK_ORDER_ID_MAX + 1];
} dlock_stock_cursor;

typedef void dlock_stock_visit(void *context, const dlock_listed_order *order);

typedef struct {
	void (*free)(dlock_stock *stock);

	/* Returns NULL, or the reason why there is no stock of that product, to follow the name of the argument. */
	const char *(*refuse)(const dlock_stock *stock, dlock_arg sku);

	/* Can one order reserve these products together? */
	bool (*is_together)(dlock_stock *stock, const dlock_arg *skus, int count);

	/* Reserves all units of the order, or none. Waits for units that other orders have reserved, until wait->deadline.
	 * Returns
	 * - DLOCK_OK: `answer` is set;
	 * - DLOCK_INTERRUPTED while it waits: call again to resume, or leave();
	 * - DLOCK_CONNECTION: the outcome is unknown, and the caller may ask again;
	 * - DLOCK_FAILED. */
	dlock_status (*reserve)(
		dlock_stock_turn *turn, const dlock_wait *wait, dlock_stock_answer *answer, dlock_error *error);

	/* Ends the turn after DLOCK_INTERRUPTED, without waiting. */
	void (*leave)(dlock_stock_turn *turn);

	/* Cancels what reserve() has reserved, without waiting, because the caller cannot use it. */
	void (*give_back)(const dlock_stock_turn *turn, const dlock_stock_answer *answer);

	/* These questions are answered with DONE, SOLD if an earlier call did it, SHORT, CONFLICT, LIMITED or REFUSED. A
	 * status other than DLOCK_OK means that `answer` is not set. */

	/* Extends the reservation to `ttl` from now on, and never shortens it. */
	dlock_status (*extend)(
		dlock_stock *stock, const dlock_order *order, dlock_nanos ttl, dlock_stock_answer *answer, dlock_error *error);

	/* Confirms the order: its units are sold. `limit` applies only if the reservation has expired. */
	dlock_status (*confirm)(
		dlock_stock *stock, const dlock_order *order, int64_t limit, dlock_stock_answer *answer, dlock_error *error);

	/* Cancels a reservation, or the wait for one. */
	dlock_status (*cancel)(
		dlock_stock *stock, const dlock_order *order, dlock_stock_answer *answer, dlock_error *error);

	/* Refunds a sold order: all of it, or `units` of an order of one product, as the change with this name, which
	 * counts once. `restock`: these units become available again. */
	dlock_status (*refund)(dlock_stock *stock, const dlock_order *order, bool restock, int64_t units, dlock_arg change,
		dlock_stock_answer *answer, dlock_error *error);

	/* Changes the numbers of units to those of `order`. The remaining time stays. */
	dlock_status (*change)(
		dlock_stock *stock, const dlock_order *order, int64_t limit, dlock_stock_answer *answer, dlock_error *error);

	/* Sets one `status` for each product. `now` is when they were true, by dlock_now(). */
	dlock_status (*look)(
		dlock_stock *stock, const dlock_order *order, dlock_order_status *status, dlock_nanos *now, dlock_error *error);

	/* Changes the stock by `units`. A change with this name counts once; an empty name: each call counts. `changed`:
	 * the difference that was made. `remember`: for how long ended and cancelled orders are remembered; 0: a day. */
	dlock_status (*restock)(dlock_stock *stock, dlock_arg sku, int64_t units, dlock_arg change, dlock_nanos remember,
		int64_t *changed, dlock_error *error);

	/* Sets one `counts` for each product. `confirmed`: replicas have what is counted, so it lasts. */
	dlock_status (*count)(dlock_stock *stock, const dlock_arg *skus, int count, bool confirmed,
		dlock_stock_counts *counts, dlock_error *error);

	/* Sets the state of the sale. `is`: its state afterwards. `known` is false if there is no such stock. */
	dlock_status (*set_sale)(
		dlock_stock *stock, dlock_arg sku, dlock_sale sale, dlock_sale *is, bool *known, dlock_error *error);

	/* Calls `visit` for each order of a page, and sets `next`. */
	dlock_status (*list)(dlock_stock *stock, dlock_arg sku, const dlock_stock_query *query, dlock_stock_visit *visit,
		void *context, dlock_stock_cursor *next, dlock_error *error);
} dlock_stock_ops;

/* The first member of each back end's own struct. */
struct dlock_stock {
	const dlock_stock_ops *ops;
};

#endif
