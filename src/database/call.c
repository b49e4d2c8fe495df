#include "call.h"

#include <stdlib.h>
#include <string.h>

#include "../lock/backend.h"

const dlock_db_signature dlock_db_signatures[] = {
	[DLOCK_DB_ACQUIRE] = { "acquire_1", 2, 4, .says = true },
	[DLOCK_DB_RELEASE] = { "release_1", 1, 1, .says = false },
	[DLOCK_DB_EXTEND] = { "extend_1", 1, 2, .says = true },
	[DLOCK_DB_LEFT] = { "left_1", 1, 0, .says = false },
	[DLOCK_DB_EXCHANGE] = { "exchange_1", 2, 1, .says = false },
	[DLOCK_DB_INSPECT] = { "inspect_1", 1, 1, .tells = true },
	[DLOCK_DB_LIST] = { "list_1", 1, 2, .tells = true },
	[DLOCK_DB_BREAK] = { "break_1", 2, 1, .says = false },
};

dlock_db_call *dlock_db_call_new(dlock_db_function function, const char *name, size_t name_len, const char *token)
{
	dlock_db_call *call = calloc(1, sizeof *call + name_len + 1);

	if (call) {
		call->references = 1;
		call->function = function;
		call->name_len = name_len;
		memcpy(call->name, name, name_len);
		strcpy(call->token, token);
	}
	return call;
}

dlock_db_call *dlock_db_call_retain(dlock_db_call *call)
{
	call->references++;
	return call;
}

void dlock_db_call_release(dlock_db_call *call)
{
	if (call && --call->references == 0) {
		free(call->text);
		free(call);
	}
}

void dlock_db_call_begin(dlock_db_call *call)
{
	call->state = DLOCK_DB_PENDING;
	call->sent = call->seen = call->refused = call->transient = false;
}

void dlock_db_call_say(dlock_db_call *call, const dlock_description *description)
{
	strcpy(call->said, description ? description->text : "");
}

int64_t dlock_db_ms(dlock_nanos time)
{
	return (time + DLOCK_MS - 1) / DLOCK_MS;
}

dlock_nanos dlock_db_time(int64_t count, dlock_nanos unit)
{
	if (count <= 0) {
		return 0;
	}
	return count < DLOCK_TTL_MAX / unit ? count * unit : DLOCK_TTL_MAX;
}
