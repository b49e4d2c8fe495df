#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lock.h"

/* What an operator sees of a lock, and how it is broken. */

/* "h ID LEFT FENCE[ BY]" */
static bool read_holder(dlock_inspection *out, const char *line)
{
	char id[DLOCK_TOKEN_ID_LEN + 1] = "";
	long long left = 0, fence = 0;
	int at = 0;

	if (sscanf(line, "h %24s %lld %lld%n", id, &left, &fence, &at) < 3) {
		return true;
	}
	dlock_party *holder = dlock_inspection_add(out, true, id, strlen(id));
	if (!holder) {
		return false;
	}
	out->holding = 1;
	holder->remaining = left * DLOCK_US;
	holder->fencing_token = fence;
	if (line[at] == ' ') {
		dlock_party_break(holder, line + at + 1, strcspn(line + at + 1, "\n"));
	}
	return true;
}

/* False: out of memory. */
static bool read_line(dlock_inspection *out, const char *line)
{
	size_t len = strcspn(line, "\n");

	if (*line == 'h') {
		return read_holder(out, line);
	}
	return *line != 'w' || len < 3 || dlock_inspection_add(out, false, line + 2, len - 2);
}

dlock_status dlock_db_inspect(dlock_backend *base, const char *resource, size_t len, int most, dlock_inspection *out,
	dlock_error *error)
{
	const dlock_db_backend *backend = (const dlock_db_backend *) base;
	dlock_db_question question = { .call = NULL };
	dlock_db_call *call = dlock_db_resource_call(backend, DLOCK_DB_INSPECT, resource, len, "");
	long long at = 0, waiting = 0;

	if (call) {
		call->numbers[0] = most;
	}
	dlock_status status = dlock_db_ask(backend, &question, call, error);
	bool good = status == DLOCK_OK && call->text;
	if (good) {
		sscanf(call->text, "%lld %lld", &at, &waiting);
		out->at = at;
		out->waiting = waiting;
	}
	for (const char *line = good ? strchr(call->text, '\n') : NULL; good && line; line = strchr(line + 1, '\n')) {
		good = read_line(out, line + 1);
	}
	dlock_db_question_end(&question);
	return status == DLOCK_OK && !good ? dlock_out_of_memory(error) : status;
}

dlock_status dlock_db_break(dlock_backend *base, const char *resource, size_t len, const dlock_break *how,
	dlock_nanos *left, dlock_error *error)
{
	const dlock_db_backend *backend = (const dlock_db_backend *) base;
	dlock_db_question question = { .call = NULL };
	bool is_id = strlen(how->id) == DLOCK_TOKEN_ID_LEN;
	dlock_db_call *call = is_id ? dlock_db_resource_call(backend, DLOCK_DB_BREAK, resource, len, how->id) : NULL;

	if (!is_id) {
		return DLOCK_LOST;
	}
	if (call) {
		snprintf(call->other, sizeof call->other, "%s", how->by);
		call->numbers[0] = how->now;
	}
	dlock_status status = dlock_db_ask(backend, &question, call, error);
	if (status == DLOCK_OK) {
		status = call->answer[0] < 0 ? DLOCK_LOST : DLOCK_OK;
		*left = call->answer[0] * DLOCK_MS;
	}
	dlock_db_question_end(&question);
	return status;
}
