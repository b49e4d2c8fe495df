#ifndef DLOCK_REDIS_QUESTION_H
#define DLOCK_REDIS_QUESTION_H

#include "../route/surveying.h"
#include "stocks_internal.h"

/* How an answer came about, which decides what makes it count. */
typedef enum {
	DLOCK_ANSWER_WRITTEN, /* the script that answered wrote it: replicas confirm that */
	DLOCK_ANSWER_FOUND,   /* another client or an earlier sending wrote it: WAIT would say nothing about it */
	DLOCK_ANSWER_NOTHING, /* a refusal, or no such order: it counts if this server was the master a moment ago */
	DLOCK_ANSWER_ANY      /* it counts from any server */
} dlock_answer_kind;

/* One question, which counts once however often it is sent. A task, and a part of tasks that wait for units. */
typedef struct {
	dlock_redis_stock *stock;
	dlock_task task, confirming, looking;
	dlock_route route;
	dlock_call *add, *remove; /* writes, so that replicas can confirm an answer that wrote nothing */
	dlock_discovery discovery;
	dlock_nanos asked_at; /* when replicas were last asked */
	dlock_status said, told;

	/* What may be missing; `uncertain` as in a dlock_stock_answer. */
	bool begins; /* there may have been no stock before */
	dlock_lineage_state lineage;
	int64_t uncertain;
	dlock_route telling;
	dlock_surveying surveying;
} dlock_stock_question;

/* Begins a question. `key`: what it is about. The call belongs to the question from now on. */
void dlock_stock_begin(
	dlock_stock_question *own, dlock_redis_stock *stock, dlock_arg key, dlock_call *call, dlock_error *error);

/* Sends the call. If its answer is lost, sends it once more. If there is more to do than one script does, sends it
 * again until that is done. An order that may wait is an exception: it has a ticket by then, and asks again by itself.
 * Returns what dlock_route_step() does. */
dlock_status dlock_stock_ask_step(dlock_stock_question *own, dlock_loop *loop, dlock_nanos now);

/* Waits until replicas have what the answer is about, and until it is known what the server may have forgotten.
 * DLOCK_OK at once if no replicas confirm. DLOCK_CONNECTION: too few of them in time, or it is not known. */
dlock_status dlock_stock_confirm_step(
	dlock_stock_question *own, dlock_arg key, dlock_answer_kind kind, dlock_loop *loop, dlock_nanos now);

/* Says that the server had more to do than the time allowed. Returns DLOCK_CONNECTION. */
dlock_status dlock_stock_explain_unfinished(const dlock_conn *conn, dlock_error *error);

void dlock_stock_end(dlock_stock_question *own);

/* dlock_stock_begin() and dlock_stock_ask_step(); sleeps. */
dlock_status dlock_stock_ask(
	dlock_stock_question *own, dlock_redis_stock *stock, dlock_arg key, dlock_call *call, dlock_error *error);

/* To be called before units are put in for the first time: from then on, it is known what a server has forgotten.
 * Sleeps. */
dlock_status dlock_stock_begin_lineage(dlock_redis_stock *stock, dlock_arg key, dlock_error *error);

/* dlock_stock_confirm_step(); sleeps. */
dlock_status dlock_stock_confirm_answer(dlock_stock_question *own, dlock_arg key, dlock_answer_kind kind);

#endif
