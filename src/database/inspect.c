#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lock.h"

/* What an operator sees of locks, and how an operator breaks one. */

/* Decodes pairs of hexadecimal digits to at most `most` bytes. Returns how many there are. */
static size_t read_hex(char *out, size_t most, const char *hex)
{
	size_t len = 0;

	for (; len < most && isxdigit((unsigned char) hex[0]) && isxdigit((unsigned char) hex[1]); hex += 2) {
		out[len++] = (char) strtol((char[]) { hex[0], hex[1], '\0' }, NULL, 16);
	}
	return len;
}

/* Adds what a process tells of itself. */
static void describe(dlock_party *party, const char *hex)
{
	char text[DLOCK_DESCRIPTION_MAX];

	dlock_party_describe(party, text, read_hex(text, sizeof text, hex));
}

/* Reads "h ID LEFT FENCE SAID" or "b ID LEFT FENCE BY", with LEFT in us. A fencing token is the time of its grant in
 * us. Returns false if out of memory. */
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
	holder->remaining = dlock_db_time(left, DLOCK_US);
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

/* Reads "AT WAITING", the line of a holder, or "w ID SAID" of a waiter. Returns false if out of memory. */
static bool read_line(dlock_inspection *out, const char *line)
{
	long long at, waiting;

	if (*line == 'h' || *line == 'b') {
		return read_holder(out, line);
	}
	if (*line != 'w') {
		if (sscanf(line, "%lld %lld", &at, &waiting) == 2) {
			out->at = at;
			out->waiting = waiting;
		}
		return true;
	}
	if (strcspn(line, "\n") < 3) {
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

static const char *next_line(const char *line)
{
	const char *end = strchr(line, '\n');

	return end ? end + 1 : NULL;
}

dlock_status dlock_db_inspect(dlock_backend *base, const char *resource, size_t len, int most, dlock_inspection *out,
	dlock_error *error)
{
	const dlock_db_backend *backend = (const dlock_db_backend *) base;
	dlock_db_question question = { .call = NULL };
	dlock_db_call *call = dlock_db_resource_call(backend, DLOCK_DB_INSPECT, resource, len, "");

	if (call) {
		call->numbers[0] = most;
	}
	dlock_status status = dlock_db_ask(backend, &question, call, error);
	bool good = status == DLOCK_OK && call->text;
	for (const char *line = good ? call->text : NULL; good && line; line = next_line(line)) {
		good = read_line(out, line);
	}
	dlock_db_question_end(&question);
	return status == DLOCK_OK && !good ? dlock_out_of_memory(error) : status;
}

/* ---- the list ---- */

enum {
	MOST_LISTED = 1000,
	LOOKED_AT = 500, /* names in one call, so that each call is short */
	STORED_NAME_MAX = 255
};

/* Each answer comes in time, but a hostile database could give them without end. */
#define LONGEST_LIST (600 * DLOCK_SECOND)

/* Reads "l NAME" of each lock, and the lines about it that follow. Returns false if out of memory. */
static bool read_list(dlock_listing *out, const char *line, size_t prefix_len)
{
	char name[STORED_NAME_MAX];
	dlock_listed *listed = NULL;

	for (; line; line = next_line(line)) {
		if (line[0] == 'l' && line[1] == ' ') {
			size_t len = read_hex(name, sizeof name, line + 2);
			listed = len > prefix_len ? dlock_listing_add(out, name + prefix_len, len - prefix_len) : NULL;
			if (len > prefix_len && !listed) {
				return false;
			}
		} else if (listed && !read_line(&listed->inspection, line)) {
			return false;
		}
	}
	return true;
}

/* Names are listed in the order of their bytes. */
static bool is_after(const char *name, size_t len, const char *before, size_t before_len)
{
	int order = memcmp(name, before, len < before_len ? len : before_len);

	return order > 0 || (order == 0 && len > before_len);
}

/* Reads the name from which the list continues. Its length 0: the list has ended. `from` is the name before, and may be
 * in `last`. */
static dlock_status read_last(const dlock_db_session *session, const char *text, const char *from, char *last,
	size_t *len, dlock_nanos until, dlock_error *error)
{
	char name[STORED_NAME_MAX];
	size_t name_len = read_hex(name, sizeof name, text);
	const char *problem = name_len == 0 || is_after(name, name_len, from, *len) ? NULL
		: "does not list the locks in order: check who may change dlock's functions there";

	if (!problem && name_len > 0 && dlock_now() >= until) {
		problem = "has not listed all locks within 10 minutes: delete the rows of old ones";
	}
	memcpy(last, name, name_len);
	*len = name_len;
	return !problem ? DLOCK_OK : dlock_fail(error, DLOCK_CONNECTION, "%s at %s %s", session->client->name,
		session->base.server->label, problem);
}

dlock_status dlock_db_list(dlock_backend *base, int most, dlock_listing *out, dlock_error *error)
{
	const dlock_db_backend *backend = (const dlock_db_backend *) base;
	char last[STORED_NAME_MAX];
	const char *from = base->prefix.text;
	size_t len = base->prefix.len;
	dlock_nanos until = dlock_after(dlock_now(), LONGEST_LIST);
	dlock_status status;

	do {
		dlock_db_question question = { .call = NULL };
		dlock_db_call *call = dlock_db_call_new(DLOCK_DB_LIST, from, len, "");
		if (call) {
			call->numbers[0] = (int64_t) base->prefix.len;
			call->numbers[1] = LOOKED_AT;
		}
		status = dlock_db_ask(backend, &question, call, error);
		if (status == DLOCK_OK && !(call->text && read_list(out, next_line(call->text), base->prefix.len))) {
			status = dlock_out_of_memory(error);
		}
		if (status == DLOCK_OK) {
			status = read_last(backend->session, call->text, from, last, &len, until, error);
			from = last;
		}
		dlock_db_question_end(&question);
	} while (status == DLOCK_OK && len > 0 && out->count < MOST_LISTED);
	if (status == DLOCK_OK) {
		dlock_listing_sort(out, most);
	}
	return status;
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
		*left = dlock_db_time(call->answer[0], DLOCK_MS);
	}
	dlock_db_question_end(&question);
	return status;
}
