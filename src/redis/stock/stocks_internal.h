#ifndef DLOCK_REDIS_STOCKS_INTERNAL_H
#define DLOCK_REDIS_STOCKS_INTERNAL_H

#include "../request/stock_requests.h"
#include "../route/route.h"

/* What the files of stocks share. */

typedef struct {
	dlock_stock base;
	dlock_endpoint *service;
	dlock_masters masters;
	int enough; /* any set of this many nodes has one with each answer that replicas have confirmed (wire/survey.h) */
	int lineage_slot; /* the slot of `lineage`, which is kept because making it takes a while */
	dlock_lineage_key lineage;
	dlock_nanos surveyed_at; /* when nodes were last asked, if that had no result; 0: it had, or none was asked */
	size_t prefix_len;
	char *keys; /* room for DLOCK_STOCK_PLACES keys, each of which begins with the prefix */
} dlock_redis_stock;

static inline dlock_redis_stock *dlock_redis_stock_of(dlock_stock *stock)
{
	return (dlock_redis_stock *) stock;
}

/* An order as requests need it. */
typedef struct {
	dlock_arg keys[DLOCK_STOCKS_MAX];
	dlock_products products;
	int slot;
	int count;
	dlock_order_ref ref;
} dlock_order_place;

void dlock_stock_place(dlock_redis_stock *stock, const dlock_order *order, dlock_order_place *place);

/* The key of a product, at this place of stock->keys; valid until the place is used again. Turns have places of their
 * own, because their tasks may be stepped while another question is asked. */
enum { DLOCK_STOCK_TURNS_PLACE = DLOCK_STOCKS_MAX, DLOCK_STOCK_PLACES = 2 * DLOCK_STOCKS_MAX };
dlock_arg dlock_stock_key(dlock_redis_stock *stock, int place, dlock_arg sku);

/* The key's hash slot; 0 outside of a cluster. */
int dlock_stock_slot(const dlock_redis_stock *stock, dlock_arg key);

/* Until when a buyer may rely on a reservation that had `ms` left when its server answered the call. */
dlock_nanos dlock_stock_deadline(const dlock_call *call, int64_t ms);

/* In stocks_reserve.c. */
dlock_status dlock_stock_reserve(
	dlock_stock_turn *turn, const dlock_wait *wait, dlock_stock_answer *answer, dlock_error *error);
void dlock_stock_leave(dlock_stock_turn *turn);
void dlock_stock_give_back(const dlock_stock_turn *turn, const dlock_stock_answer *answer);

#endif
