#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lock.h"

/* What an operator sees of a lock, and how it is broken. */

/* What a process has said of itself, in hexadecimal digits. */
static void describe(dlock_party *party, const char *hex)
{
	char text[DLOCK_DESCRIPTION_MAX + 1];
	size_t len = 0;
	unsigned byte;

	for (; len < DLOCK_DESCRIPTION_MAX && *hex && *hex != '\n' && sscanf(hex, "%2x", &byte) == 1; hex += 2) {
		text[len++] = (char) byte;
	}
	dlock_party_describe(party, text, len);
}

/* "h ID LEFT FENCE SAID", or "b ID LEFT FENCE BY". A fencing token is the time of its grant. */
static bool read_holder(dlock_inspection *out, const char *line)
{
	char id[DLOCK_TOKEN_ID_LEN + 1] = "";
	long long left = 0, fence = 0;
	int at = 0;

	if (sscanf(line + 1, " %24s %lld %lld%n", id, &left, &fence, &at) < 3) {
		return true;
	}
	dlock_party *holder = dlock_inspection_add(out, true, id, strlen(id));
	if (!holder) {
		return false;
	}
	out->holding = 1;
	holder->remaining = left * DLOCK_US;
	holder->fencing_token = fence;
	holder->held_since = fence;
	const char *rest = line + 1 + at;
	rest += *rest == ' ';
	if (*line == 'b') {
		dlock_party_break(holder, rest, strcspn(rest, "\n"));
	} else {
		describe(holder, rest);
	}
	return true;
}

/* "w ID SAID" of a waiter. False: out of memory. */
static bool read_line(dlock_inspection *out, const char *line)
{
	if (*line == 'h' || *line == 'b') {
		return read_holder(out, line);
	}
	if (*line != 'w' || strcspn(line, "\n") < 3) {
		return true;
	}
	const char *id = line + 2;
	size_t len = strcspn(id, " \n");
	dlock_party *waiter = dlock_inspection_add(out, false, id, len);
	if (waiter && id[len] == ' ') {
		describe(waiter, id + len + 1);
	}
	return waiter;
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
