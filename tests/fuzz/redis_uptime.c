/* src/redis/wire/info.c: the text that INFO answers with. The first byte: what kind of reply it is. */

#include "../../src/redis/wire/info.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const int types[] = { REDIS_REPLY_STRING, REDIS_REPLY_ERROR, REDIS_REPLY_STATUS, REDIS_REPLY_NIL };
	const dlock_nanos now = INT64_C(5000000000) * DLOCK_SECOND, longest = INT64_C(4000000000) * DLOCK_SECOND;
	dlock_uptime uptime = { .problem = "" };
	dlock_endpoint server = { .password = (char *) SECRET };

	if (size == 0) {
		return 0;
	}
	redisReply reply = { .type = types[data[0] % 4] };
	if (reply.type != REDIS_REPLY_NIL) { /* as hiredis makes it: with a NUL behind it, and perhaps others before that */
		reply.len = size - 1;
		reply.str = malloc(size);
		MUST(reply.str);
		memcpy(reply.str, data + 1, size - 1);
		reply.str[size - 1] = '\0';
	}
	dlock_uptime_read(&uptime, &reply, now - DLOCK_SECOND, now, &server);
	MUST(memchr(uptime.problem, '\0', sizeof uptime.problem));
	MUST(!strstr(uptime.problem, SECRET));
	if (uptime.started == DLOCK_START_UNKNOWN) {
		MUST(*uptime.problem || reply.type == REDIS_REPLY_ERROR);
	} else {
		MUST(reply.type == REDIS_REPLY_STRING && strstr(reply.str, "uptime_in_seconds:"));
		MUST(uptime.started <= now && uptime.started > now - longest && !*uptime.problem);
		MUST(uptime.started_from < uptime.started && uptime.started_from > INT64_MIN / 2);
	}
	free(reply.str);
	return 0;
}
