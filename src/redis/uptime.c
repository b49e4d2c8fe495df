#include "uptime.h"

#include <stdio.h>
#include <string.h>

dlock_call *dlock_age_ask(void)
{
	dlock_arg args[] = { DLOCK_ARG("INFO"), DLOCK_ARG("server") };
	dlock_call *call = dlock_call_command(args, 2);

	if (call) {
		call->about_age = true;
		dlock_call_cancel(call); /* it is not repeated: another connection has a question of its own */
	}
	return call;
}

#define FIELD "uptime_in_seconds:"
#define LONGEST_UPTIME 4000000000 /* more than a century, and far from an overflow */

/* The field's value; negative where there is none that can be right. */
static int64_t find_uptime(const char *info)
{
	int64_t seconds = 0;
	const char *at = strstr(info, FIELD);

	while (at && at != info && at[-1] != '\n') {
		at = strstr(at + 1, FIELD);
	}
	if (!at) {
		return -1;
	}
	at += strlen(FIELD);
	if (*at == '-') { /* its clock was set back since it was started, so it may be of any age */
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

dlock_nanos dlock_age_read(const redisReply *reply, dlock_nanos now, const dlock_server *server, char *problem, size_t size)
{
	int64_t uptime = reply->type == REDIS_REPLY_STRING ? find_uptime(reply->str) : -1;

	if (uptime < 0) {
		if (reply->type == REDIS_REPLY_ERROR) {
			dlock_server_quote(server, reply->str, problem, size);
		} else {
			snprintf(problem, size, "INFO has no uptime_in_seconds");
		}
		return DLOCK_START_UNKNOWN;
	}
	/* The difference of two times in whole seconds: it may be up to one second more than has passed between them. */
	return now - (uptime > 0 ? uptime - 1 : 0) * DLOCK_SECOND;
}
