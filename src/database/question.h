#ifndef DLOCK_DATABASE_QUESTION_H
#define DLOCK_DATABASE_QUESTION_H

#include "../net/loop.h"
#include "session.h"

/* One call and its answer; once more where the session had broken unseen, or something in the database was in the way.
 * A task. */
typedef struct {
	dlock_task task;
	dlock_db_session *session;
	dlock_db_call *call; /* its own */
	bool repeated;       /* the first may be executed, too, even later */
	dlock_nanos first_sent_at;
} dlock_db_question;

/* Takes the call over; NULL: out of memory. */
void dlock_db_question_begin(dlock_db_question *question, dlock_db_session *session, dlock_db_call *call);

/* DLOCK_OK: call->answer is there. Otherwise DLOCK_CONNECTION or DLOCK_FAILED. */
dlock_status dlock_db_question_step(void *question, dlock_loop *loop, dlock_nanos now);

/* Why, after that. */
void dlock_db_question_explain(const dlock_db_question *question, dlock_error *error);

/* May the database execute it later than what follows? */
bool dlock_db_question_may_run_later(const dlock_db_question *question);

void dlock_db_question_end(dlock_db_question *question);

#endif
