#ifndef DLOCK_STOCK_H
#define DLOCK_STOCK_H

#include "../base/error.h"
#include "../base/wait.h"
#include "order.h"

/* Stocks of products: units are reserved for a time, then sold or available again. A back end says where they are; each
 * of its functions is one question, which counts once by the names that the caller gives it.
 *
 * A stock belongs to one thread. Nothing here allocates Zend memory or calls into PHP. */

typedef struct dlock_stock dlock_stock;

typedef enum {
	DLOCK_STOCK_DONE,     /* it is reserved, or was done by this call */
	/* of reserve(): it was sold before. Of confirm(), cancel(), refund(): it had been done before */
	DLOCK_STOCK_SOLD,
	DLOCK_STOCK_SHORT,    /* not enough units; or it was cancelled while it waited */
	DLOCK_STOCK_LIMITED,  /* the buyer would have too many */
	DLOCK_STOCK_CONFLICT, /* there is an order of this name, and it is another one */
	DLOCK_STOCK_CLOSED,   /* the sale is closed or has ended, or there is no such stock */
	DLOCK_STOCK_REFUSED   /* not in this state of the order: `reason` */
} dlock_stock_outcome;

typedef enum { DLOCK_SALE_OPEN, DLOCK_SALE_CLOSED, DLOCK_SALE_ENDED } dlock_sale;

typedef struct {
	dlock_stock_outcome outcome;
	dlock_order_reason reason;
	int item; /* that it is about, unless it was done */
	/* of LIMITED: how many the buyer has; of CONFLICT: how many the order has; of a refund: that are left */
	int64_t units;
	bool other_products;   /* of CONFLICT */
	bool is_unknown;       /* of CLOSED: there is no such stock */
	dlock_sale sale;       /* of CLOSED */
	bool late;             /* of confirm(): its time was over */
	int generation;        /* of reserve(), where it is reserved or sold */
	int64_t fencing_token; /* the same */
	dlock_nanos deadline;  /* of reserved units: until when no other order gets them */
	dlock_nanos since;     /* for how long the order has been as it is, of SOLD and REFUSED */
	/* a server may have forgotten sales that were confirmed until then, in ms of its clock; 0: none */
	int64_t uncertain;
} dlock_stock_answer;

/* A question that may wait for units. */
typedef struct {
	dlock_stock *stock;
	const dlock_order *order;
	dlock_nanos ttl;
	int64_t limit; /* the most units of one product that the buyer may have; 0: any number */
	bool strict;   /* it is not passed by those that come later and want less */
	bool waited;   /* the units were not available at once */
	void *state;   /* the back end's, while the turn is interrupted; NULL at first */
} dlock_stock_turn;

typedef struct {
	bool known;
	dlock_sale sale;
	int64_t available, reserved, sold, waiting;
	int64_t uncertain; /* as of an answer */
} dlock_stock_counts;

/* A page of a product's orders, in the order of their states. */
typedef struct {
	dlock_order_state state; /* NONE: of all states */
	double since;            /* when they came to be so, in seconds of the server's clock; of one state only */
	const char *buyer;       /* encoded as in an id; empty: of all */
	const char *from, *after; /* the last page's `number` and `id`; NULL: the first one */
	int limit;
} dlock_stock_query;

typedef struct {
	const char *id;
	dlock_order_state state;
	int64_t units, at; /* ms of the server's clock */
	int64_t left;      /* ms, of a reservation */
} dlock_listed_order;

/* Behind what the next page begins; an empty number: there is none. */
typedef struct {
	char number[40];
	char id[DLOCK_ORDER_ID_MAX + 1];
} dlock_stock_cursor;

typedef void dlock_stock_visit(void *context, const dlock_listed_order *order);

typedef struct {
	void (*free)(dlock_stock *stock);

	/* NULL, or why there is no stock of that product: what follows the name of the argument. */
	const char *(*refuse)(const dlock_stock *stock, dlock_arg sku);

	/* Can these be reserved together? */
	bool (*is_together)(dlock_stock *stock, const dlock_arg *skus, int count);

	/* Reserves all of the order, or nothing. DLOCK_OK: it is answered. DLOCK_CONNECTION: it is not known. Waits until
	 * wait->deadline for units that others have reserved, where the order is for one product; while it waits,
	 * DLOCK_INTERRUPTED: to be called again, or left. */
	dlock_status (*reserve)(
		dlock_stock_turn *turn, const dlock_wait *wait, dlock_stock_answer *answer, dlock_error *error);

	/* After DLOCK_INTERRUPTED: gives up its turn, without waiting. */
	void (*leave)(dlock_stock_turn *turn);

	/* The caller gives up what it got: cancels that, without waiting. */
	void (*give_back)(const dlock_stock_turn *turn, const dlock_stock_answer *answer);

	/* Each of these is DONE, SOLD where it had been done before, CONFLICT, LIMITED or REFUSED. */

	/* At least so much time from now on; never less than before. */
	dlock_status (*extend)(
		dlock_stock *stock, const dlock_order *order, dlock_nanos ttl, dlock_stock_answer *answer, dlock_error *error);

	/* Buys. `limit` counts for an order whose time was over. */
	dlock_status (*confirm)(
		dlock_stock *stock, const dlock_order *order, int64_t limit, dlock_stock_answer *answer, dlock_error *error);

	/* Cancels what is reserved, or waits. */
	dlock_status (*cancel)(
		dlock_stock *stock, const dlock_order *order, dlock_stock_answer *answer, dlock_error *error);

	/* Takes back what was sold: all of it, or `units` of an order of one product, by a change that is made once.
	 * `restock`: they are for sale again. */
	dlock_status (*refund)(dlock_stock *stock, const dlock_order *order, bool restock, int64_t units, dlock_arg change,
		dlock_stock_answer *answer, dlock_error *error);

	/* Other numbers of units, those of the order, for the time that is left. */
	dlock_status (*change)(
		dlock_stock *stock, const dlock_order *order, int64_t limit, dlock_stock_answer *answer, dlock_error *error);

	/* How it stands, for each of its products. `now`: when that was so, by this process' clock. */
	dlock_status (*look)(
		dlock_stock *stock, const dlock_order *order, dlock_order_status *status, dlock_nanos *now, dlock_error *error);

	/* `change`: the name of a change, which is made once; empty: each call is one. `changed`: by how many units.
	 * `remember`: for how long orders are that ended or were cancelled; 0: a day. */
	dlock_status (*restock)(dlock_stock *stock, dlock_arg sku, int64_t units, dlock_arg change, dlock_nanos remember,
		int64_t *changed, dlock_error *error);

	/* `confirmed`: what is counted is lasting. */
	dlock_status (*count)(dlock_stock *stock, const dlock_arg *skus, int count, bool confirmed,
		dlock_stock_counts *counts, dlock_error *error);

	/* `is`: what it is then. False in `known`: there is no such stock. */
	dlock_status (*set_sale)(
		dlock_stock *stock, dlock_arg sku, dlock_sale sale, dlock_sale *is, bool *known, dlock_error *error);

	/* Visits the orders of a page. */
	dlock_status (*list)(dlock_stock *stock, dlock_arg sku, const dlock_stock_query *query, dlock_stock_visit *visit,
		void *context, dlock_stock_cursor *next, dlock_error *error);
} dlock_stock_ops;

/* The first member of each back end's own struct. */
struct dlock_stock {
	const dlock_stock_ops *ops;
};

#endif
