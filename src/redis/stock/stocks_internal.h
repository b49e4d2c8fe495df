#ifndef DLOCK_REDIS_STOCKS_INTERNAL_H
#define DLOCK_REDIS_STOCKS_INTERNAL_H

#include "../request/permits_requests.h"
#include "../route/route.h"
#include "stocks.h"

/* What the files of stocks share. */

struct dlock_stock {
	dlock_server *service;
	dlock_masters masters;
	size_t prefix_len;
	char *keys; /* room for those of one order; each begins with the prefix */
};

/* The key of an article, in the given place of that room; valid until the place is used again. */
dlock_arg dlock_stock_key(dlock_stock *stock, int place, dlock_arg article);

/* Its hash slot. */
int dlock_stock_slot(const dlock_stock *stock, dlock_arg key);

void dlock_stock_begin(dlock_stock_question *own, const dlock_stock *stock, int slot, dlock_call *call, dlock_error *error);

/* Sends the call, and once more where its answer is lost. As dlock_route_step(). */
dlock_status dlock_stock_ask_step(dlock_stock_question *own, dlock_loop *loop, dlock_nanos now);

/* Until replicas have what the answer is about: `written` says that the script that was answered has written it. Otherwise somebody else has, or an earlier
 * sending, and WAIT would say nothing about that. `key`: of what was asked about. */
dlock_status dlock_stock_confirm_step(dlock_stock_question *own, dlock_arg key, bool written, dlock_loop *loop, dlock_nanos now);

void dlock_stock_end(dlock_stock_question *own);

/* The first two; sleeps. */
dlock_status dlock_stock_ask(dlock_stock_question *own, const dlock_stock *stock, int slot, dlock_call *call, dlock_error *error);

/* The third; sleeps. */
dlock_status dlock_stock_confirm_answer(dlock_stock_question *own, dlock_arg key, bool written);

/* Until when a lease lasts that had `ms` left when its server answered the call. */
dlock_nanos dlock_stock_deadline(const dlock_call *call, int64_t ms);

#endif
