#include "reply.h"

#include <string.h>

#define NEEDED_PASSWORD "; it needs a password: redis://:password@host, or auth in an array"
#define NEEDED_RIGHTS "; the user needs the commands, and the keys by their prefix, that docs/operations.md lists"
#define NO_CLUSTER "; it is a cluster node: use cluster://host:port, or for RedLock servers without cluster mode"

/* What a user can do about errors that are not about the lock itself. */
static const char *advice(const dlock_call *call, const char *reply)
{
	static const struct {
		const char *code, *text;
	} known[] = {
		{ "NOAUTH", NEEDED_PASSWORD },
		{ DLOCK_REPLY_UNAUTHENTICATED, NEEDED_PASSWORD },
		{ "ERR time is refused", NEEDED_RIGHTS },
		{ "NOPERM", NEEDED_RIGHTS },
		{ "ERR INFO: ", NEEDED_RIGHTS },
		{ "ERR The user executing the script", NEEDED_RIGHTS },
		{ "ERR ACL failure in script", NEEDED_RIGHTS }, /* Redis 7.2 and later, Valkey */
		{ "READONLY", "; it is a replica: locks are acquired on the master" },
		{ "MOVED", NO_CLUSTER },
		{ "CROSSSLOT", NO_CLUSTER },
		{ "ERR unknown command", "; if it is a Sentinel, use sentinel://host:port/service" },
		{ "OOM", "; maxmemory is reached" },
		{ "LOADING", "; try again when it has loaded its data" },
		{ "BUSY", "; a script has been running for too long there" },
		{ "WRONGTYPE", "; the key is used for something else than a lock" },
	};

	for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
		if (!strncmp(reply, known[i].code, strlen(known[i].code))) {
			return known[i].text;
		}
	}
	/* The scripts use ZMSCORE and ZADD LT, which came with Redis 6.2. */
	if (call->origin
		&& (!strncmp(call->origin->name, "permits_", strlen("permits_"))
			|| !strncmp(call->origin->name, "stock_", strlen("stock_")))
		&& strstr(reply, "nknown Redis command")) {
		return "; permits need Redis 6.2 or later, with all commands that docs/operations.md lists";
	}
	return "";
}

dlock_status dlock_check_reply(const dlock_call *call, const dlock_conn *conn, dlock_error *error)
{
	char reason[250];

	if (!call) {
		return dlock_fail(error, DLOCK_CONNECTION, "Out of memory");
	}
	if (call->state == DLOCK_CALL_FAILED) {
		*error = conn->error;
		return DLOCK_CONNECTION;
	}
	if (call->state == DLOCK_CALL_PENDING) {
		return dlock_fail(error, DLOCK_CONNECTION, "Redis at %s: no answer in the time allowed", conn->server->label);
	}
	if (call->reply->type == REDIS_REPLY_ERROR) {
		dlock_endpoint_quote(conn->server, call->reply->str, reason, sizeof reason);
		return dlock_fail(
			error, DLOCK_CONNECTION, "Redis at %s: %s%s", conn->server->label, reason, advice(call, call->reply->str));
	}
	return DLOCK_OK;
}

dlock_status dlock_unexpected_reply(const dlock_conn *conn, dlock_error *error)
{
	return dlock_fail(error, DLOCK_CONNECTION, "Redis at %s: an answer of an unexpected form", conn->server->label);
}

bool dlock_integer_at(const redisReply *reply, size_t index, int64_t *out)
{
	if (index >= reply->elements || reply->element[index]->type != REDIS_REPLY_INTEGER) {
		return false;
	}
	*out = reply->element[index]->integer;
	return true;
}
