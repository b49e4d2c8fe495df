#include "requests.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool dlock_is_same_key(dlock_key_builder *ours, const dlock_claim *claim, dlock_key_builder *theirs, const char *resource, size_t len)
{
	if (ours == theirs) {
		return claim->resource_len == len && !memcmp(claim->resource, resource, len);
	}
	dlock_arg a = dlock_key_builder_keys(ours, claim->resource, claim->resource_len).lock;
	dlock_arg b = dlock_key_builder_keys(theirs, resource, len).lock;
	return a.len == b.len && !memcmp(a.text, b.text, a.len);
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

dlock_nanos dlock_lease_left(int64_t pttl)
{
	return pttl < DLOCK_TTL_MAX / DLOCK_MS ? pttl * DLOCK_MS : DLOCK_TTL_MAX;
}

static dlock_arg token_arg(const char *token)
{
	return DLOCK_ARG(token);
}

static dlock_arg flag_arg(bool flag)
{
	return (dlock_arg) { flag ? "1" : "0", 1 };
}

static const dlock_arg fence_key = { DLOCK_FENCE_KEY, sizeof DLOCK_FENCE_KEY - 1 };
static const dlock_arg nothing = { "", 0 };

dlock_call *dlock_call_acquire(dlock_keys keys, const dlock_request *request)
{
	number lease, least, ticket, own;
	dlock_arg args[] = { keys.lock, fence_key, keys.queue, keys.waiters, token_arg(request->token),
		number_arg(&lease, milliseconds(request->ttl)), number_arg(&least, request->least_fencing_token),
		flag_arg(request->grant), token_arg(request->waiter), request->inbox ? DLOCK_ARG(request->inbox->channel) : nothing,
		number_arg(&ticket, request->ticket), number_arg(&own, request->number), flag_arg(true) };

	return dlock_call_script(DLOCK_SCRIPT_ACQUIRE, args, request->legacy ? 13 : 12);
}

dlock_call *dlock_call_give_back(dlock_keys keys, const char *token, bool grant, const char *waiter, bool leaves)
{
	dlock_arg args[] = { keys.lock, fence_key, keys.queue, keys.waiters, token_arg(token), flag_arg(grant),
		waiter ? token_arg(waiter) : nothing, flag_arg(leaves) };

	return dlock_call_script(DLOCK_SCRIPT_RELEASE, args, 8);
}

dlock_call *dlock_call_leave(dlock_keys keys, const char *waiter, bool grant)
{
	dlock_arg args[] = { keys.lock, fence_key, keys.queue, keys.waiters, token_arg(waiter), flag_arg(grant) };

	return dlock_call_script(DLOCK_SCRIPT_LEAVE, args, 6);
}

static dlock_call *lease_time_call(dlock_script_id script, dlock_keys keys, const char *token, dlock_nanos ttl)
{
	number lease;
	dlock_arg args[] = { keys.lock, token_arg(token), number_arg(&lease, milliseconds(ttl)) };

	return dlock_call_script(script, args, 3);
}

dlock_call *dlock_call_extend(dlock_keys keys, const char *token, dlock_nanos ttl)
{
	return lease_time_call(DLOCK_SCRIPT_EXTEND, keys, token, ttl);
}

dlock_call *dlock_call_renew(dlock_keys keys, const char *token, dlock_nanos ttl)
{
	return lease_time_call(DLOCK_SCRIPT_RENEW, keys, token, ttl);
}

dlock_call *dlock_call_check(dlock_keys keys, const char *token)
{
	dlock_arg args[] = { keys.lock, token_arg(token) };

	return dlock_call_script(DLOCK_SCRIPT_CHECK, args, 2);
}

dlock_call *dlock_call_raise(dlock_keys keys, const char *token, int64_t fencing_token)
{
	number fence;
	dlock_arg args[] = { keys.lock, fence_key, token_arg(token), number_arg(&fence, fencing_token) };

	return dlock_call_script(DLOCK_SCRIPT_RAISE, args, 4);
}

dlock_call *dlock_call_repair(dlock_keys keys, const char *token, dlock_nanos ttl, int64_t fencing_token)
{
	number lease, fence;
	dlock_arg args[] = { keys.lock, fence_key, token_arg(token), number_arg(&lease, milliseconds(ttl)),
		number_arg(&fence, fencing_token) };

	return dlock_call_script(DLOCK_SCRIPT_REPAIR, args, 5);
}

dlock_call *dlock_call_holder(dlock_keys keys)
{
	dlock_arg args[] = { DLOCK_ARG("GET"), keys.lock };

	return dlock_call_command(args, 2);
}

static dlock_call *exchange_call(dlock_keys keys, const char *from, const char *to, dlock_arg least)
{
	dlock_arg args[] = { keys.lock, fence_key, token_arg(from), token_arg(to), least };

	return dlock_call_script(DLOCK_SCRIPT_EXCHANGE, args, 5);
}

dlock_call *dlock_call_exchange(dlock_keys keys, const char *old, const char *new_token, int64_t least_fencing_token)
{
	number least;

	return exchange_call(keys, old, new_token, number_arg(&least, least_fencing_token));
}

dlock_call *dlock_call_exchange_back(dlock_keys keys, const char *old, const char *new_token)
{
	return exchange_call(keys, new_token, old, nothing);
}

/* ---- replies ---- */

/* What Redis says to a long command of somebody who has not logged in. */
#define UNAUTHENTICATED "ERR Protocol error: unauthenticated"

bool dlock_call_may_count(const dlock_call *call)
{
	if (!call || (!call->sent && call->state != DLOCK_CALL_PENDING)) {
		return false;
	}
	return call->state != DLOCK_CALL_ANSWERED || call->reply->type != REDIS_REPLY_ERROR
		|| (strncmp(call->reply->str, "NOAUTH", 6) && strncmp(call->reply->str, UNAUTHENTICATED, strlen(UNAUTHENTICATED)));
}

#define NEEDED_PASSWORD "; give the password in the server's specification"
#define NEEDED_RIGHTS "; the user needs the commands, and the keys by their prefix, that the README lists"
#define NO_CLUSTER "; it is a node of a Redis Cluster: locks need one server, or RedLock"

/* What a user can do about the errors that are not about the lock itself. */
static const char *advice(const char *reply)
{
	static const struct {
		const char *code, *text;
	} known[] = {
		{ "NOAUTH", NEEDED_PASSWORD },
		{ UNAUTHENTICATED, NEEDED_PASSWORD },
		{ "NOPERM", NEEDED_RIGHTS }, { "ERR The user executing the script", NEEDED_RIGHTS },
		{ "ERR ACL failure in script", NEEDED_RIGHTS }, /* Redis 7.2 and later, Valkey */
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
		char reason[250];
		dlock_server_quote(conn->server, call->reply->str, reason, sizeof reason);
		dlock_fail(error, DLOCK_CONNECTION, "Redis at %s: %s%s", conn->server->label, reason, advice(call->reply->str));
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

static bool integer_at(const redisReply *reply, size_t index, int64_t *out)
{
	if (index >= reply->elements || reply->element[index]->type != REDIS_REPLY_INTEGER) {
		return false;
	}
	*out = reply->element[index]->integer;
	return true;
}

/* Of a lock that the server has given. */
static bool is_fenced(const dlock_answer *answer, const dlock_conn *conn, dlock_error *error)
{
	if (!dlock_is_fencing_token(answer->fencing_token)) {
		dlock_fail(error, DLOCK_CONNECTION, "Redis at %s: its fencing tokens cannot rise any more; the key " DLOCK_FENCE_KEY
			" must be a number from 1 to 9007199254740990, and normally is its time in us", conn->server->label);
		return false;
	}
	return true;
}

/* {1, fencing token} or {0, pttl, place, ticket, new}; the ticket is a sorted set's score, which comes as text. */
int dlock_call_acquired(const dlock_call *call, const dlock_conn *conn, dlock_answer *answer, dlock_error *error)
{
	int64_t acquired;

	if (failed(call, conn, error)) {
		return -1;
	}
	const redisReply *reply = call->reply;
	if (reply->type == REDIS_REPLY_ARRAY && integer_at(reply, 0, &acquired)) {
		if (acquired == 1 && integer_at(reply, 1, &answer->fencing_token)) {
			return is_fenced(answer, conn, error) ? 1 : -1;
		}
		if (acquired == 0 && integer_at(reply, 1, &answer->pttl) && integer_at(reply, 2, &answer->place)
				&& integer_at(reply, 4, &answer->new_in_queue) && reply->element[3]->type == REDIS_REPLY_STRING) {
			answer->ticket = strtoll(reply->element[3]->str, NULL, 10);
			return 0;
		}
	}
	unexpected(conn, error);
	return -1;
}

/* {1, fencing token, pttl} or {0}. */
int dlock_call_exchanged(const dlock_call *call, const dlock_conn *conn, dlock_answer *answer, dlock_error *error)
{
	int64_t exchanged;

	if (failed(call, conn, error)) {
		return -1;
	}
	if (call->reply->type == REDIS_REPLY_ARRAY && integer_at(call->reply, 0, &exchanged)) {
		if (exchanged == 1 && integer_at(call->reply, 1, &answer->fencing_token) && integer_at(call->reply, 2, &answer->pttl)
				&& answer->pttl > 0) {
			return is_fenced(answer, conn, error) ? 1 : -1;
		}
		if (exchanged == 0) {
			return 0;
		}
	}
	unexpected(conn, error);
	return -1;
}

/* ---- waiting ---- */

/* A waiter's sign of life; lua/handover.lua takes it for dead after 3 s without one. */
#define LOOK_AGAIN (1600 * DLOCK_MS)
#define LOOK_AGAIN_JITTER 700 /* ms */

/* What one step back in the queue adds, after the holder's lease is over. */
#define STAGGER (20 * DLOCK_MS)

dlock_nanos dlock_next_look(const dlock_answer *answer)
{
	dlock_nanos now = dlock_now();
	dlock_nanos look = now + LOOK_AGAIN + dlock_jitter(LOOK_AGAIN_JITTER) * DLOCK_MS;

	if (answer->pttl >= 0 && answer->pttl < 1000 * 1000) {
		/* Redis expires a key in the millisecond after its last. */
		int64_t ahead = answer->place < 0 ? 0 : answer->place < 1000 ? answer->place : 1000;
		dlock_nanos expiry = now + (answer->pttl + 2) * DLOCK_MS + ahead * STAGGER;
		look = expiry < look ? expiry : look;
	}
	return look;
}

/* How often the first in the queue looks where the holder tells nobody when it goes; those behind look less often. */
#define LOOK_LEGACY (80 * DLOCK_MS)
#define LOOK_LEGACY_JITTER 40 /* ms */

dlock_nanos dlock_next_look_legacy(const dlock_answer *answer)
{
	dlock_nanos look = dlock_next_look(answer);

	if (answer->pttl < 0 && answer->place < 100) {
		int64_t ahead = answer->place < 0 ? 0 : answer->place;
		dlock_nanos soon = dlock_now() + (LOOK_LEGACY + dlock_jitter(LOOK_LEGACY_JITTER) * DLOCK_MS) * (ahead + 1);
		look = soon < look ? soon : look;
	}
	return look;
}

/* Also those that are being opened: they may be so now. */
static bool is_worth_polling(const dlock_inbox *inbox)
{
	return dlock_inbox_is_open(inbox) || (inbox->subscribing && dlock_conn_busy(inbox->conn));
}

int dlock_inboxes_wait(dlock_inbox **inboxes, int count, dlock_nanos until, const dlock_wait *wait)
{
	struct pollfd fds[DLOCK_MOST_SERVERS];
	dlock_inbox *polled[DLOCK_MOST_SERVERS];
	dlock_nanos wake = until;
	int open = 0;

	for (int i = 0; i < count; i++) {
		if (is_worth_polling(inboxes[i])) {
			dlock_nanos timer = dlock_conn_timer(inboxes[i]->conn);
			wake = timer < wake ? timer : wake;
			polled[open] = inboxes[i];
			fds[open].fd = dlock_conn_fd(inboxes[i]->conn);
			fds[open].events = dlock_conn_events(inboxes[i]->conn);
			fds[open].revents = 0;
			open++;
		}
	}
	int ready = dlock_wait_poll(fds, open, wake, wait);
	for (int i = 0; ready >= 0 && i < open; i++) {
		if (ready > 0 && fds[i].revents) {
			dlock_conn_advance(polled[i]->conn);
		}
		dlock_conn_expire(polled[i]->conn);
		dlock_inbox_update(polled[i]);
	}
	if (ready == DLOCK_WAIT_TIME && wake < until) {
		ready = 1; /* what one of them had to do has been done */
	}
	/* However fast messages come, they do not keep a waiter beyond its time. */
	return ready > 0 && until != DLOCK_FOREVER && dlock_now() >= until ? DLOCK_WAIT_TIME : ready;
}
