#ifndef SIM_STOCK_RUN_H
#define SIM_STOCK_RUN_H

#include "run.h"

#include "redis/stock/stocks.h"

/* Buyers at the stocks of sales, and the rules for stocks. */

enum { SALES = 128, ORDERS = 4096, AT_ONCE = 2, BUYERS = 5 };

/* A sale lasts for a minute. Then another sale begins, with products of its own. */
#define SALE_LENGTH (60 * SECOND)

/* One product in one sale. */
typedef struct {
	bool open;
	int64_t units, sold; /* sold: as buyers were told */
	int64_t doubtful;     /* in orders that may be bought or not */
	int64_t refunded;     /* those of them that are refunded, as buyers were told */
	nanos sold_at;        /* when the last unit was sold */
} sale_product;

extern sale_product sale_products[SALES][RESOURCES];

/* What a buyer is told about its order, from reserve() on. */
typedef struct {
	const client *client;
	bool open;            /* the client is working on it */
	int buyer, sale, count;
	int products[AT_ONCE];
	int64_t units[AT_ONCE];
	dlock_order_id id;
	int generation;       /* negative: the last generation */
	/* the buyer was told that the units are reserved until `deadline`, by the client's clock, and has not asked to end
	 * that since */
	bool relies;
	dlock_nanos deadline;
	bool bought, doubtful;
	bool changed;         /* to unknown numbers */
} order;

extern order orders[ORDERS]; /* a place is used again when no buyer relies on its order */
extern int order_count;      /* how many places were ever used */
bool is_reserved(const order *order); /* the buyer believes so */

static inline int sale_now(void)
{
	return (int) (now / SALE_LENGTH) % SALES;
}

/* Does only one of two replicas confirm, so that a failover may forget sales? Then the stock must say that. */
bool stocks_forget(void);

int64_t stock_limit(int resource); /* for each buyer; 0: none */
void stock_name(int sale, int resource, char *name, size_t size); /* "{desk:1}drop:2:7" */
#define STOCK_PREFIX "Stock:"

/* ---- rules (stock_rules.c) ---- */

void stock_rules_begin(void);
void stock_rules_end(void);
void check_stocks(void); /* when more is promised */
void note_left(const order *order); /* the buyer no longer waits, and does not ask again */
void note_bought(order *order);  /* the buyer is told so */
void note_doubtful(order *order); /* the buyer has asked to buy, and no answer is to come */
void note_refunding(order *order, const int64_t units[AT_ONCE]); /* a refund is requested */
void note_refunded(order *order, const int64_t units[AT_ONCE]);  /* the buyer is told so */
/* Is an unexpected answer about a bought order wrong? Not if it says that sales may be missing. */
bool is_wrong(const dlock_stock_answer *answer);
/* `earlier`: the product before the question */
void note_available(
	const client *client, int sale, int resource, const dlock_stock_counts *counts, const sale_product *earlier);

#endif
