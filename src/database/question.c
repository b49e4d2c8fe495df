#include "question.h"

void dlock_db_question_begin(dlock_db_question *own, dlock_db_session *session, dlock_db_call *call)
{
	dlock_db_question_end(own);
	*own = (dlock_db_question) { .session = session, .call = call };
}

static void send_call(dlock_db_question *own)
{
	dlock_db_call_begin(own->call);
	dlock_db_send(own->session, own->call);
	own->first_sent_at = own->repeated ? own->first_sent_at : own->call->sent_at;
}

/* Returns true if the call must be sent once more. If it has slept in the database, a second sleep would end after the
 * time until which the waiter wanted to sleep: the repeated call returns at once. */
static bool begin_repeat(dlock_db_question *own)
{
	dlock_db_call *call = own->call;

	own->lost |= call->state == DLOCK_DB_FAILED && call->sent && !call->refused;
	if (own->repeated || call->state != DLOCK_DB_FAILED
		|| !(call->refused ? call->transient : call->sent && call->used)) {
		return false;
	}
	own->repeated = true;
	if (call->sleeps > 0) {
		call->sleeps = call->numbers[3] = 0;
	}
	return true;
}

dlock_status dlock_db_question_step(void *question, dlock_loop *loop, dlock_nanos now)
{
	dlock_db_question *own = question;

	(void) loop;
	(void) now;
	if (!own->call) {
		return DLOCK_FAILED;
	}
	DLOCK_BEGIN(&own->task);
	do {
		send_call(own);
		DLOCK_AWAIT(&own->task, own->call->state != DLOCK_DB_PENDING);
		own->first_sent_at = own->repeated ? own->first_sent_at : own->call->sent_at;
	} while (begin_repeat(own));
	DLOCK_END(&own->task);
	return own->call->state == DLOCK_DB_ANSWERED ? DLOCK_OK : DLOCK_CONNECTION;
}

void dlock_db_question_explain(const dlock_db_question *own, dlock_error *error)
{
	if (own->call) {
		*error = own->call->error;
	} else {
		dlock_out_of_memory(error);
	}
}

bool dlock_db_question_may_run_later(const dlock_db_question *own)
{
	return own->call
		&& (own->repeated || (own->call->sent && own->call->state != DLOCK_DB_ANSWERED && !own->call->refused));
}

void dlock_db_question_end(dlock_db_question *own)
{
	dlock_db_call_release(own->call);
	own->call = NULL;
}
