#ifndef DLOCK_REDIS_STOCKS_INTERNAL_H
#define DLOCK_REDIS_STOCKS_INTERNAL_H

#include "../request/stock_requests.h"
#include "../route/route.h"

/* What the files of stocks share. */

typedef struct {
	dlock_stock base;
	dlock_endpoint *service;
	dlock_masters masters;
	int enough; /* as many nodes share one with any answer that replicas have confirmed (wire/survey.h) */
	int lineage_slot; /* of the name that is kept; making one takes a while */
	dlock_lineage_key lineage;
	dlock_nanos surveyed_at; /* when nodes were asked last, if that came to nothing; 0: it did not */
	size_t prefix_len;
	char *keys; /* room for those of one order; each begins with the prefix */
} dlock_redis_stock;

static inline dlock_redis_stock *dlock_redis_stock_of(dlock_stock *stock)
{
	return (dlock_redis_stock *) stock;
}

/* An order as requests have it. */
typedef struct {
	dlock_arg keys[DLOCK_STOCKS_MAX];
	dlock_products products;
	int slot;
	int count;
	dlock_order_ref ref;
} dlock_order_place;

void dlock_stock_place(dlock_redis_stock *stock, const dlock_order *order, dlock_order_place *place);

/* The key of a product, in the given place of that room; valid until the place is used again. Turns have a place of
 * their own: their tasks may be stepped while something else is asked. */
enum { DLOCK_STOCK_TURNS_PLACE = DLOCK_STOCKS_MAX, DLOCK_STOCK_PLACES = 2 * DLOCK_STOCKS_MAX };
dlock_arg dlock_stock_key(dlock_redis_stock *stock, int place, dlock_arg sku);

/* Its hash slot. */
int dlock_stock_slot(const dlock_redis_stock *stock, dlock_arg key);

/* Until when a reservation lasts that had `ms` left when its server answered the call. */
dlock_nanos dlock_stock_deadline(const dlock_call *call, int64_t ms);

/* Of stocks_reserve.c. */
dlock_status dlock_stock_reserve(
	dlock_stock_turn *turn, const dlock_wait *wait, dlock_stock_answer *answer, dlock_error *error);
void dlock_stock_leave(dlock_stock_turn *turn);
void dlock_stock_give_back(const dlock_stock_turn *turn, const dlock_stock_answer *answer);

#endif
