#include "inspect_requests.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../wire/reply.h"

static bool text_at(const redisReply *reply, size_t index, dlock_arg *out)
{
	if (reply->type != REDIS_REPLY_ARRAY || index >= reply->elements
		|| reply->element[index]->type != REDIS_REPLY_STRING) {
		return false;
	}
	*out = (dlock_arg) { reply->element[index]->str, reply->element[index]->len };
	return true;
}

static dlock_status check_reply(const dlock_call *call, const dlock_conn *conn, dlock_error *error)
{
	if (call && call->state == DLOCK_CALL_ANSWERED && call->reply->type == REDIS_REPLY_ERROR
		&& strstr(call->reply->str, "WRONGTYPE")) {
		return DLOCK_LOST;
	}
	return dlock_check_reply(call, conn, error);
}

/* ---- locks ---- */

static bool starts_with(dlock_arg text, const char *with)
{
	return text.len >= strlen(with) && !memcmp(text.text, with, strlen(with));
}

#define BROKEN "broken "

static void take_said(dlock_party *holder, dlock_arg said)
{
	if (starts_with(said, BROKEN)) {
		dlock_party_break(holder, said.text + strlen(BROKEN), said.len - strlen(BROKEN));
	} else {
		dlock_party_describe_holder(holder, said.text, said.len);
	}
}

/* {us, id, ms left, said, waiters, and for each waiter: id, said} */
dlock_status dlock_read_inspection(
	const dlock_call *call, const dlock_conn *conn, dlock_inspection *out, dlock_error *error)
{
	dlock_status status = check_reply(call, conn, error);
	dlock_arg time, id, said;
	int64_t left;

	if (status != DLOCK_OK) {
		return status;
	}
	const redisReply *reply = call->reply;
	if (!text_at(reply, 0, &time) || !text_at(reply, 1, &id) || !dlock_integer_at(reply, 2, &left)
		|| !text_at(reply, 3, &said) || !dlock_integer_at(reply, 4, &out->waiting) || reply->elements % 2 == 0) {
		return dlock_unexpected_reply(conn, error);
	}
	out->at = strtoll(time.text, NULL, 10);
	out->at = out->at > 0 ? out->at : dlock_time_of_day();
	if (id.len > 0) {
		dlock_party *holder = dlock_inspection_add(out, true, id.text, id.len);
		if (!holder) {
			return dlock_out_of_memory(error);
		}
		holder->remaining = left >= 0 ? dlock_lease_left(left) : -1;
		take_said(holder, said);
	}
	out->holding = out->holders;
	for (size_t i = 5; i < reply->elements; i += 2) {
		if (!text_at(reply, i, &id) || !text_at(reply, i + 1, &said)) {
			return dlock_unexpected_reply(conn, error);
		}
		dlock_party *waiter = dlock_inspection_add(out, false, id.text, id.len);
		if (!waiter) {
			return dlock_out_of_memory(error);
		}
		dlock_party_describe(waiter, said.text, said.len);
	}
	return DLOCK_OK;
}

/* ---- permits ---- */

/* The number of words for each holder or waiter. */
enum { PARTY_WORDS = 5 };

static dlock_status read_party(
	const redisReply *reply, size_t from, const dlock_conn *conn, dlock_inspection *out, dlock_error *error)
{
	dlock_arg kind, id, said;
	int64_t left, permits;

	if (!text_at(reply, from, &kind) || !text_at(reply, from + 1, &id) || !dlock_integer_at(reply, from + 2, &left)
		|| !dlock_integer_at(reply, from + 3, &permits) || !text_at(reply, from + 4, &said)) {
		return dlock_unexpected_reply(conn, error);
	}
	bool holds = *kind.text == 'h';
	if (holds && out->waiters > 0) {
		return dlock_unexpected_reply(conn, error);
	}
	dlock_party *party = dlock_inspection_add(out, holds, id.text, id.len);
	if (!party) {
		return dlock_out_of_memory(error);
	}
	party->permits = permits;
	if (holds) {
		party->remaining = left >= 0 ? dlock_lease_left(left) : -1;
		take_said(party, said);
	} else {
		dlock_party_describe(party, said.text, said.len);
	}
	return DLOCK_OK;
}

/* {us, holders, waiters, and for each of them: 'h' or 'q', id, ms left, permits, said} */
dlock_status dlock_read_permits_inspection(
	const dlock_call *call, const dlock_conn *conn, dlock_inspection *out, dlock_error *error)
{
	dlock_status status = check_reply(call, conn, error);
	dlock_arg time;

	if (status != DLOCK_OK) {
		return status;
	}
	const redisReply *reply = call->reply;
	if (!text_at(reply, 0, &time) || !dlock_integer_at(reply, 1, &out->holding)
		|| !dlock_integer_at(reply, 2, &out->waiting) || (reply->elements - 3) % PARTY_WORDS != 0) {
		return dlock_unexpected_reply(conn, error);
	}
	out->at = strtoll(time.text, NULL, 10);
	out->at = out->at > 0 ? out->at : dlock_time_of_day();
	for (size_t i = 3; status == DLOCK_OK && i < reply->elements; i += PARTY_WORDS) {
		status = read_party(reply, i, conn, out, error);
	}
	return status;
}

/* ---- lists ---- */

static dlock_status read_keys(
	const redisReply *keys, const dlock_conn *conn, dlock_arg prefix, dlock_listing *out, dlock_error *error)
{
	if (keys->type != REDIS_REPLY_ARRAY) {
		return dlock_unexpected_reply(conn, error);
	}
	for (size_t i = 0; i < keys->elements; i++) {
		dlock_arg key;
		if (!text_at(keys, i, &key)) {
			return dlock_unexpected_reply(conn, error);
		}
		size_t len = key.len - prefix.len;
		if (key.len <= prefix.len || len > DLOCK_RESOURCE_MAX || memcmp(key.text, prefix.text, prefix.len)
			|| dlock_listing_has(out, key.text + prefix.len, len)) {
			continue;
		}
		if (!dlock_listing_add(out, key.text + prefix.len, len)) {
			return dlock_out_of_memory(error);
		}
	}
	return DLOCK_OK;
}

dlock_status dlock_read_seen(
	const dlock_call *call, const dlock_conn *conn, dlock_arg prefix, dlock_listing *out, dlock_error *error)
{
	return dlock_check_reply(call, conn, error) == DLOCK_OK ? read_keys(call->reply, conn, prefix, out, error)
															: DLOCK_CONNECTION;
}

dlock_call *dlock_request_scan(const char *cursor, dlock_arg prefix)
{
	char *pattern = malloc(2 * prefix.len + 1), *out = pattern;

	if (!pattern) {
		return NULL;
	}
	for (size_t i = 0; i < prefix.len; i++) {
		if (strchr("*?[]\\^", prefix.text[i]) && prefix.text[i]) {
			*out++ = '\\';
		}
		*out++ = prefix.text[i];
	}
	*out++ = '*';
	dlock_arg words[] = { DLOCK_ARG("SCAN"), DLOCK_ARG(cursor), DLOCK_ARG("MATCH"),
		{ .text = pattern, .len = (size_t) (out - pattern) }, DLOCK_ARG("COUNT"), DLOCK_ARG("1000") };
	dlock_call *call = dlock_call_command(words, 6);
	free(pattern);
	return call;
}

dlock_status dlock_read_scan(const dlock_call *call, const dlock_conn *conn, dlock_arg prefix,
	char cursor[DLOCK_CURSOR_SIZE], dlock_listing *out, dlock_error *error)
{
	dlock_arg next;

	if (dlock_check_reply(call, conn, error) != DLOCK_OK) {
		return DLOCK_CONNECTION;
	}
	if (call->reply->type != REDIS_REPLY_ARRAY || call->reply->elements != 2 || !text_at(call->reply, 0, &next)
		|| next.len >= DLOCK_CURSOR_SIZE) {
		return dlock_unexpected_reply(conn, error);
	}
	memcpy(cursor, next.text, next.len);
	cursor[next.len] = '\0';
	return read_keys(call->reply->element[1], conn, prefix, out, error);
}

/* ---- breaking ---- */

enum { NOT_THE_HOLDER = -1, NEVER_ENDS = -2 };

dlock_status dlock_read_break(const dlock_call *call, const dlock_conn *conn, int64_t *left, dlock_error *error)
{
	if (dlock_check_reply(call, conn, error) != DLOCK_OK) {
		return DLOCK_CONNECTION;
	}
	if (call->reply->type != REDIS_REPLY_INTEGER) {
		return dlock_unexpected_reply(conn, error);
	}
	*left = call->reply->integer;
	if (*left == NEVER_ENDS) {
		return dlock_fail(error, DLOCK_FAILED,
			"Redis at %s: the lock has no lease time, so it would never be free; it can be given on at once",
			conn->server->label);
	}
	return *left == NOT_THE_HOLDER ? DLOCK_LOST : DLOCK_OK;
}

const char *dlock_write_holder_text(
	dlock_holder_text *out, int64_t since, int64_t fencing_token, const dlock_description *description)
{
	snprintf(out->text, sizeof out->text, "%" PRId64 " %" PRId64 " %s", since, fencing_token, description->text);
	return out->text;
}
