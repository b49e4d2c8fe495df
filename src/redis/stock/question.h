#ifndef DLOCK_REDIS_QUESTION_H
#define DLOCK_REDIS_QUESTION_H

#include "../route/surveying.h"
#include "stocks_internal.h"

/* How an answer came about: that decides what makes it count. */
typedef enum {
	DLOCK_ANSWER_WRITTEN, /* by the script that was answered: replicas confirm that */
	DLOCK_ANSWER_FOUND,   /* by another client, or an earlier sending: WAIT would say nothing about it */
	DLOCK_ANSWER_NOTHING, /* it is a refusal: it counts if this was the master a moment ago */
	DLOCK_ANSWER_ANY      /* it counts from any server */
} dlock_answer_kind;

/* One question, which counts once however often it is sent. A task, and a part of those that wait for units. */
typedef struct {
	dlock_redis_stock *stock;
	dlock_task task, confirming, looking;
	dlock_route route;
	dlock_call *add, *remove; /* what is written so that replicas can confirm that nothing was */
	dlock_discovery discovery;
	dlock_nanos asked_at; /* replicas, for the last time */
	dlock_status said, told;

	/* What may be missing: `uncertain` as in a dlock_stock_answer. */
	bool begins; /* no stock may have been there before */
	dlock_lineage_state lineage;
	int64_t uncertain;
	dlock_route telling;
	dlock_surveying surveying;
} dlock_stock_question;

/* `key`: of what is asked about. */
void dlock_stock_begin(
	dlock_stock_question *own, dlock_redis_stock *stock, dlock_arg key, dlock_call *call, dlock_error *error);

/* Sends the call, and once more where its answer is lost, and again as long as there is more to do than one script
 * does; except an order that may wait, which has a ticket by then, and asks again. As dlock_route_step(). */
dlock_status dlock_stock_ask_step(dlock_stock_question *own, dlock_loop *loop, dlock_nanos now);

/* Until replicas have what the answer is about, and it is known what its server may have forgotten. */
dlock_status dlock_stock_confirm_step(
	dlock_stock_question *own, dlock_arg key, dlock_answer_kind kind, dlock_loop *loop, dlock_nanos now);

/* There was more to do than was done in the time allowed. */
dlock_status dlock_stock_explain_unfinished(const dlock_conn *conn, dlock_error *error);

void dlock_stock_end(dlock_stock_question *own);

/* The first two; sleeps. */
dlock_status dlock_stock_ask(
	dlock_stock_question *own, dlock_redis_stock *stock, dlock_arg key, dlock_call *call, dlock_error *error);

/* Before units are put in for the first time: from now on it is known what a server has forgotten. Sleeps. */
dlock_status dlock_stock_begin_lineage(dlock_redis_stock *stock, dlock_arg key, dlock_error *error);

/* The third; sleeps. */
dlock_status dlock_stock_confirm_answer(dlock_stock_question *own, dlock_arg key, dlock_answer_kind kind);

#endif
