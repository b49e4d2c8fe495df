#ifndef DLOCK_REDIS_STOCKS_INTERNAL_H
#define DLOCK_REDIS_STOCKS_INTERNAL_H

#include "delivery.h"
#include "stock_requests.h"

/* What the files of stocks share. */

typedef struct dlock_stock dlock_stock;

struct dlock_stock {
	dlock_server *service;
	dlock_route route;
	size_t prefix_len;
	char *keys; /* room for those of one order; each begins with the prefix */
};

/* An order as requests have it. */
typedef struct {
	dlock_arg keys[DLOCK_STOCKS_MAX];
	char products[16];
	int slot;
	dlock_stock_order_ref ref;
} dlock_order_place;

void dlock_stock_place(dlock_stock *stock, const dlock_order *order, dlock_order_place *place);

/* The key of a product, in the given place of that room; valid until the place is used again. */
dlock_arg dlock_stock_key(dlock_stock *stock, int place, dlock_arg sku);

/* Its hash slot. */
int dlock_stock_slot(const dlock_stock *stock, dlock_arg key);

/* Sends the call, which counts once however often it is sent; once more where its answer is lost, and again as long as there is more to do than one script
 * does. As dlock_deliver(). */
dlock_status dlock_stock_ask(const dlock_route *route, int slot, dlock_call *call, dlock_delivery *delivery, dlock_error *error);

/* How an answer came about: that decides what makes it count. */
typedef enum {
	DLOCK_ANSWER_WRITTEN, /* by the script that was answered: replicas confirm that */
	DLOCK_ANSWER_FOUND,   /* by somebody else, or an earlier sending: WAIT would say nothing about it */
	DLOCK_ANSWER_NOTHING  /* it is a refusal: it counts if this was the master a moment ago */
} dlock_answer_kind;

/* Replicas have what the answer is about. */
dlock_status dlock_stock_confirm_answer(const dlock_route *route, dlock_delivery *delivery, dlock_arg key, dlock_answer_kind kind, dlock_error *error);

/* Until when a reservation lasts that had `ms` left when its server answered the call. */
dlock_nanos dlock_stock_deadline(const dlock_call *call, int64_t ms);

#endif
