#include "sentinel.h"

#include <stdlib.h>
#include <string.h>

dlock_call *dlock_sentinel_question(const dlock_endpoint *service)
{
	dlock_arg words[] = { DLOCK_ARG("SENTINEL"), DLOCK_ARG("GET-MASTER-ADDR-BY-NAME"), DLOCK_ARG(service->service) };

	return dlock_call_command(words, 3);
}

static const char *text_at(const redisReply *reply, size_t index)
{
	return reply->element[index]->type == REDIS_REPLY_STRING ? reply->element[index]->str : "";
}

static dlock_status begin_map(
	const dlock_endpoint *service, const dlock_slot_map *known, const char *host, int port, dlock_slot_map *map)
{
	dlock_endpoint *found = dlock_slot_map_find(known, host, port);
	dlock_endpoint *master = found ? dlock_endpoint_retain(found) : dlock_endpoint_member(service, host, port);
	bool good = master && dlock_slot_map_begin(map, 1);

	if (good && !dlock_slot_map_set(map, 0, 0, master)) {
		dlock_slot_map_end(map);
		good = false;
	}
	if (master) {
		dlock_endpoint_release(master);
	}
	return good ? DLOCK_OK : DLOCK_FAILED;
}

dlock_status dlock_sentinel_read(const redisReply *reply, const dlock_endpoint *service, const dlock_endpoint *sentinel,
	const dlock_slot_map *known, dlock_slot_map *map, dlock_error *error)
{
	if (reply->type == REDIS_REPLY_NIL || (reply->type == REDIS_REPLY_ARRAY && reply->elements == 0)) {
		return dlock_fail(error, DLOCK_CONNECTION, "does not know it");
	}
	if (reply->type == REDIS_REPLY_ERROR) {
		char text[200];
		dlock_endpoint_quote(sentinel, reply->str, text, sizeof text);
		return dlock_fail(error, DLOCK_CONNECTION, "%s", text);
	}
	const char *host = reply->type == REDIS_REPLY_ARRAY && reply->elements == 2 ? text_at(reply, 0) : "";
	long port = *host ? strtol(text_at(reply, 1), NULL, 10) : 0;
	if (port < 1 || port > 65535) {
		return dlock_fail(error, DLOCK_CONNECTION, "sent no address");
	}
	if (begin_map(service, known, host, (int) port, map) != DLOCK_OK) {
		return dlock_fail(error, DLOCK_FAILED, "sent an address that cannot be used, or there is no memory");
	}
	return DLOCK_OK;
}
