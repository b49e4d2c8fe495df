#include "redis.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

dlock_nanos dlock_drift(dlock_nanos ttl)
{
	return ttl / 100 + 2 * DLOCK_MS;
}

/* ---- calls ---- */

typedef struct {
	char text[24];
} number;

static dlock_arg number_arg(number *out, int64_t value)
{
	int len = snprintf(out->text, sizeof out->text, "%" PRId64, value);

	return (dlock_arg) { out->text, (size_t) len };
}

/* Redis counts whole milliseconds, and a lease of none is none at all. */
static int64_t milliseconds(dlock_nanos ttl)
{
	return ttl < DLOCK_MS ? 1 : ttl / DLOCK_MS;
}

static dlock_arg key_arg(dlock_key key)
{
	return (dlock_arg) { key.text, key.len };
}

static dlock_arg token_arg(const char *token)
{
	return (dlock_arg) { token, DLOCK_TOKEN_LEN };
}

dlock_call *dlock_call_acquire(dlock_key key, const char *token, dlock_nanos ttl, int64_t proposal)
{
	number lease, proposed;
	dlock_arg args[] = { key_arg(key), DLOCK_ARG(DLOCK_FENCE_KEY), token_arg(token), number_arg(&lease, milliseconds(ttl)),
		number_arg(&proposed, proposal) };

	return dlock_call_script(&dlock_script_acquire, 2, args, 5);
}

dlock_call *dlock_call_give_back(dlock_key key, const char *token)
{
	dlock_arg args[] = { key_arg(key), token_arg(token) };

	return dlock_call_script(&dlock_script_release, 1, args, 2);
}

dlock_call *dlock_call_extend(dlock_key key, const char *token, dlock_nanos ttl)
{
	number lease;
	dlock_arg args[] = { key_arg(key), token_arg(token), number_arg(&lease, milliseconds(ttl)) };

	return dlock_call_script(&dlock_script_extend, 1, args, 3);
}

dlock_call *dlock_call_check(dlock_key key, const char *token)
{
	dlock_arg args[] = { key_arg(key), token_arg(token) };

	return dlock_call_script(&dlock_script_check, 1, args, 2);
}

dlock_call *dlock_call_raise(dlock_key key, const char *token, int64_t fencing_token)
{
	number fence;
	dlock_arg args[] = { key_arg(key), DLOCK_ARG(DLOCK_FENCE_KEY), token_arg(token), number_arg(&fence, fencing_token) };

	return dlock_call_script(&dlock_script_raise, 2, args, 4);
}

dlock_call *dlock_call_holder(dlock_key key)
{
	dlock_arg args[] = { DLOCK_ARG("GET"), key_arg(key) };

	return dlock_call_command(args, 2);
}

/* ---- replies ---- */

#define NEEDED_RIGHTS "; the user needs the commands and keys that the README lists"
#define NO_CLUSTER "; it is a node of a Redis Cluster: locks need one server, or RedLock"

/* What a user can do about the errors that are not about the lock itself. */
static const char *advice(const char *reply)
{
	static const struct {
		const char *code, *text;
	} known[] = {
		{ "NOAUTH", "; give the password in the server's specification" },
		{ "NOPERM", NEEDED_RIGHTS }, { "ERR The user executing the script", NEEDED_RIGHTS },
		{ "READONLY", "; it is a replica: locks are taken on the master" },
		{ "MOVED", NO_CLUSTER }, { "CROSSSLOT", NO_CLUSTER },
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
	return "";
}

/* The error of a failed call or of an error reply; false when there is none. */
static bool failed(const dlock_call *call, const dlock_conn *conn, dlock_error *error)
{
	if (!call) {
		dlock_fail(error, DLOCK_CONNECTION, "Out of memory");
	} else if (call->state == DLOCK_CALL_FAILED) {
		*error = conn->error;
	} else if (call->state == DLOCK_CALL_PENDING) {
		dlock_fail(error, DLOCK_CONNECTION, "Redis at %s: no answer in the time allowed", conn->server->label);
	} else if (call->reply->type == REDIS_REPLY_ERROR) {
		/* From Redis 7 on, errors inside a script carry its name and line, of no use to the user. */
		const char *script = strstr(call->reply->str, " script: ");
		size_t len = script ? (size_t) (script - call->reply->str) : call->reply->len;
		dlock_fail(error, DLOCK_CONNECTION, "Redis at %s: %.*s%s", conn->server->label, (int) (len > 250 ? 250 : len),
			call->reply->str, advice(call->reply->str));
	} else {
		return false;
	}
	return true;
}

static bool unexpected(const dlock_conn *conn, dlock_error *error)
{
	dlock_fail(error, DLOCK_CONNECTION, "Redis at %s: an answer of an unexpected form", conn->server->label);
	return false;
}

int64_t dlock_call_integer(const dlock_call *call, const dlock_conn *conn, dlock_error *error)
{
	if (failed(call, conn, error)) {
		return -1;
	}
	if (call->reply->type != REDIS_REPLY_INTEGER || call->reply->integer < 0) {
		unexpected(conn, error);
		return -1;
	}
	return call->reply->integer;
}

int dlock_call_acquired(const dlock_call *call, const dlock_conn *conn, int64_t *detail, dlock_error *error)
{
	if (failed(call, conn, error)) {
		return -1;
	}
	const redisReply *reply = call->reply;
	if (reply->type != REDIS_REPLY_ARRAY || reply->elements != 2 || reply->element[0]->type != REDIS_REPLY_INTEGER
			|| reply->element[1]->type != REDIS_REPLY_INTEGER) {
		unexpected(conn, error);
		return -1;
	}
	*detail = reply->element[1]->integer;
	return reply->element[0]->integer == 1;
}

/* ---- waiting ---- */

dlock_nanos dlock_backoff(unsigned attempt, dlock_nanos longest, int64_t holder_pttl)
{
	dlock_nanos most = attempt < 5 ? (5 * DLOCK_MS) << attempt : 100 * DLOCK_MS;

	if (most > longest) {
		most = longest;
	}
	/* Between half and all of it. */
	dlock_nanos pause = most / 2 + dlock_jitter((uint32_t) (most / 2));
	if (holder_pttl >= 0 && pause > (holder_pttl + 1) * DLOCK_MS) {
		pause = (holder_pttl + 1) * DLOCK_MS;
	}
	return pause;
}
