#ifndef DLOCK_DATABASE_QUESTION_H
#define DLOCK_DATABASE_QUESTION_H

#include "../net/loop.h"
#include "session.h"

/* A task: one call and its answer. It sends the call once more if the session had broken unnoticed, or if something in
 * the database was in the way. */
typedef struct {
	dlock_task task;
	dlock_db_session *session;
	dlock_db_call *call; /* owned by the question */
	bool repeated;       /* the first call may be executed, too, even later */
	bool lost;           /* a request was not answered: the database may execute it at any time */
	dlock_nanos first_sent_at;
} dlock_db_question;

/* Begins a question, which is zeroed or was used before. It owns the call from now on; `call` NULL means out of
 * memory. */
void dlock_db_question_begin(dlock_db_question *question, dlock_db_session *session, dlock_db_call *call);

/* DLOCK_OK: the call has its answer. DLOCK_CONNECTION: it has failed. DLOCK_FAILED: out of memory. DLOCK_PENDING: it is
 * still under way. */
dlock_status dlock_db_question_step(void *question, dlock_loop *loop, dlock_nanos now);

/* Writes the reason, after any status except DLOCK_OK. */
void dlock_db_question_explain(const dlock_db_question *question, dlock_error *error);

/* True if the database may execute the call later than the caller's next call. */
bool dlock_db_question_may_run_later(const dlock_db_question *question);

/* Releases the call, with its answer. */
void dlock_db_question_end(dlock_db_question *question);

#endif
