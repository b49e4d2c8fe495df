#ifndef DLOCK_REDIS_QUESTION_H
#define DLOCK_REDIS_QUESTION_H

#include "../route/route.h"

/* How an answer came about: that decides what makes it count. */
typedef enum {
	DLOCK_ANSWER_WRITTEN, /* by the script that was answered: replicas confirm that */
	DLOCK_ANSWER_FOUND,   /* by somebody else, or an earlier sending: WAIT would say nothing about it */
	DLOCK_ANSWER_NOTHING  /* it is a refusal: it counts if this was the master a moment ago */
} dlock_answer_kind;

/* One question, which counts once however often it is sent. A task, and a part of those that wait for units. */
typedef struct {
	dlock_task task, confirming;
	dlock_route route;
	dlock_call *add, *remove; /* what is written so that replicas can confirm that nothing was */
	dlock_discovery discovery;
	dlock_nanos asked_at; /* replicas, for the last time */
	dlock_status said;
} dlock_stock_question;

void dlock_stock_begin(
	dlock_stock_question *own, const dlock_masters *masters, int slot, dlock_call *call, dlock_error *error);

/* Sends the call, and once more where its answer is lost, and again as long as there is more to do than one script
 * does; but for an order that may wait, which has a ticket by then, and asks again by itself. As dlock_route_step(). */
dlock_status dlock_stock_ask_step(dlock_stock_question *own, dlock_loop *loop, dlock_nanos now);

/* Until replicas have what the answer is about. `key`: of what was asked about. */
dlock_status dlock_stock_confirm_step(
	dlock_stock_question *own, dlock_arg key, dlock_answer_kind kind, dlock_loop *loop, dlock_nanos now);

/* There was more to do than was done in the time allowed. */
dlock_status dlock_stock_explain_unfinished(const dlock_conn *conn, dlock_error *error);

void dlock_stock_end(dlock_stock_question *own);

/* The first two; sleeps. */
dlock_status dlock_stock_ask(
	dlock_stock_question *own, const dlock_masters *masters, int slot, dlock_call *call, dlock_error *error);

/* The third; sleeps. */
dlock_status dlock_stock_confirm_answer(dlock_stock_question *own, dlock_arg key, dlock_answer_kind kind);

#endif
