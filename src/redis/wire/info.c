#include "info.h"

#include <stdio.h>
#include <string.h>

#define MOST_DIGITS 18

const char *dlock_info_find(const char *info, const char *field)
{
	size_t len = strlen(field);

	for (const char *at = strstr(info, field); at; at = strstr(at + 1, field)) {
		if ((at == info || at[-1] == '\n') && at[len] == ':') {
			return at + len + 1;
		}
	}
	return NULL;
}

int64_t dlock_info_number(const char *info, const char *field)
{
	const char *at = dlock_info_find(info, field);
	size_t digits = at ? strspn(at, "0123456789") : 0;
	int64_t number = 0;

	if (digits == 0 || digits > MOST_DIGITS || !strchr("\r\n", at[digits])) {
		return -1;
	}
	for (; digits > 0; digits--) {
		number = number * 10 + (*at++ - '0');
	}
	return number;
}

void dlock_info_text(const char *info, const char *field, char *out, size_t size)
{
	const char *at = dlock_info_find(info, field);
	size_t len = at ? strcspn(at, "\r\n") : 0;

	len = len < size ? len : 0;
	memcpy(out, at ? at : "", len);
	out[len] = '\0';
}

#define LONGEST_UPTIME 4000000000 /* more than a century, and far from an overflow */

/* Negative: there is no plausible uptime. */
static int64_t find_uptime(const char *info)
{
	int64_t seconds = 0;
	const char *at = dlock_info_find(info, "uptime_in_seconds");

	if (!at) {
		return -1;
	}
	if (*at == '-') { /* the clock was set back after the start, so the server may be of any age */
		return 0;
	}
	if (*at < '0' || *at > '9') {
		return -1;
	}
	for (; *at >= '0' && *at <= '9'; at++) {
		seconds = seconds * 10 + (*at - '0');
		if (seconds > LONGEST_UPTIME) {
			return -1;
		}
	}
	return *at == '\r' || *at == '\n' || *at == '\0' ? seconds : -1;
}

void dlock_uptime_read(dlock_uptime *uptime, const redisReply *reply, dlock_nanos asked, dlock_nanos now,
	const dlock_endpoint *server)
{
	const char *info = reply->type == REDIS_REPLY_STRING ? reply->str : "", *id = dlock_info_find(info, "run_id");
	size_t len = id ? strcspn(id, "\r\n") : 0;
	int64_t seconds = find_uptime(info);

	snprintf(uptime->run_id, sizeof uptime->run_id, "%.*s", len < sizeof uptime->run_id ? (int) len : 0, id ? id : "");
	if (seconds >= 0) {
		/* The uptime is the difference of two times in whole seconds: it may exceed the time between them by up to one
		 * second. */
		dlock_nanos least = (seconds > 0 ? seconds - 1 : 0) * DLOCK_SECOND;
		uptime->started = now - least;
		uptime->started_from = asked - least;
		return;
	}
	uptime->started = DLOCK_START_UNKNOWN;
	if (reply->type == REDIS_REPLY_ERROR) {
		dlock_endpoint_quote(server, reply->str, uptime->problem, sizeof uptime->problem);
	} else {
		snprintf(uptime->problem, sizeof uptime->problem, "INFO has no uptime_in_seconds");
	}
}
