#ifndef DLOCK_REDIS_STOCKS_INTERNAL_H
#define DLOCK_REDIS_STOCKS_INTERNAL_H

#include "../request/permits_requests.h"
#include "../route/delivery.h"

/* What the files of stocks share. */

typedef struct dlock_stock dlock_stock;

struct dlock_stock {
	dlock_server *service;
	dlock_route route;
	size_t prefix_len;
	char *keys; /* room for those of one order; each begins with the prefix */
};

/* The key of an article, in the given place of that room; valid until the place is used again. */
dlock_arg dlock_stock_key(dlock_stock *stock, int place, dlock_arg article);

/* Its hash slot. */
int dlock_stock_slot(const dlock_stock *stock, dlock_arg key);

/* Sends the call, which counts once however often it is sent, and once more where its answer is lost. As dlock_deliver(). */
dlock_status dlock_stock_ask(const dlock_route *route, int slot, dlock_call *call, dlock_delivery *delivery, dlock_error *error);

/* Replicas have what the answer is about: `written` says that the script that was answered has written it. Otherwise somebody else has, or an earlier
 * sending, and WAIT would say nothing about that. */
dlock_status dlock_stock_confirm_answer(const dlock_route *route, dlock_delivery *delivery, dlock_arg key, bool written, dlock_error *error);

/* Until when a lease lasts that had `ms` left when its server answered the call. */
dlock_nanos dlock_stock_deadline(const dlock_call *call, int64_t ms);

#endif
