#ifndef DLOCK_REDIS_QUESTION_H
#define DLOCK_REDIS_QUESTION_H

#include "../route/route.h"

/* One question, which counts once however often it is sent. A task, and a part of those that wait for pieces. */
typedef struct {
	dlock_task task, confirming;
	dlock_route route;
	dlock_call *add, *remove; /* what is written so that replicas can confirm that nothing was */
	dlock_discovery discovery;
	dlock_status said;
} dlock_stock_question;

void dlock_stock_begin(
	dlock_stock_question *own, const dlock_masters *masters, int slot, dlock_call *call, dlock_error *error);

/* Sends the call, and once more where its answer is lost. As dlock_route_step(). */
dlock_status dlock_stock_ask_step(dlock_stock_question *own, dlock_loop *loop, dlock_nanos now);

/* Until replicas have what the answer is about: `written` says that the script that was answered has written it.
 * Otherwise somebody else has, or an earlier sending, and WAIT would say nothing about that. `key`: of what was asked
 * about. */
dlock_status dlock_stock_confirm_step(
	dlock_stock_question *own, dlock_arg key, bool written, dlock_loop *loop, dlock_nanos now);

void dlock_stock_end(dlock_stock_question *own);

/* The first two; sleeps. */
dlock_status dlock_stock_ask(
	dlock_stock_question *own, const dlock_masters *masters, int slot, dlock_call *call, dlock_error *error);

/* The third; sleeps. */
dlock_status dlock_stock_confirm_answer(dlock_stock_question *own, dlock_arg key, bool written);

#endif
