#include "handshake.h"

#include <stdio.h>
#include <string.h>

#include "resp.h"

/* If an uptime was read later than this after the question, the next call that needs it asks again. */
#define PROMPT DLOCK_SECOND

void dlock_handshake_reset(dlock_handshake *handshake)
{
	handshake->logins = 0;
	handshake->asks_uptime = handshake->late = false;
	handshake->ahead = 0;
	*handshake->uptime.run_id = '\0';
	handshake->uptime.started = DLOCK_START_UNKNOWN; /* `problem` stays, because it may explain a vote */
}

static bool append(dlock_channel *channel, const char *verb, const char *first, const char *second)
{
	const char *words[] = { verb, first, second };

	return dlock_resp_append(channel, second ? 3 : 2, words, NULL);
}

bool dlock_handshake_begin(dlock_handshake *handshake, dlock_channel *channel, const dlock_endpoint *server)
{
	const char *first = server->user ? server->user : server->password;
	char database[16];

	if (server->password) {
		handshake->logins++;
		if (!append(channel, "AUTH", first, server->user ? server->password : NULL)) {
			return false;
		}
	}
	if (server->database != 0) {
		handshake->logins++;
		snprintf(database, sizeof database, "%d", server->database);
		if (!append(channel, "SELECT", database, NULL)) {
			return false;
		}
	}
	handshake->logins += server->node_id != NULL;
	return !server->node_id || append(channel, "CLUSTER", "MYID", NULL);
}

/* Addresses are reused: another node at this one would grant locks that the expected node's successor grants, too. If
 * the user may not ask for the id, the node is accepted. */
static dlock_status check_node(const redisReply *reply, const dlock_endpoint *server, dlock_error *error)
{
	bool is_node = reply->type == REDIS_REPLY_STRING ? !strcmp(reply->str, server->node_id)
		: reply->type != REDIS_REPLY_ERROR || !strstr(reply->str, "cluster support disabled");

	return is_node ? DLOCK_OK
				   : dlock_fail(error, DLOCK_LOST, "is not the node of the cluster any more that was at this address");
}

bool dlock_handshake_ask_uptime(dlock_handshake *handshake, dlock_channel *channel, size_t ahead)
{
	if (handshake->asks_uptime || (handshake->uptime.started != DLOCK_START_UNKNOWN && !handshake->late)) {
		return true;
	}
	handshake->asks_uptime = true;
	handshake->asked = dlock_now();
	handshake->ahead = ahead;
	return append(channel, "INFO", "server", NULL);
}

bool dlock_handshake_is_over(const dlock_handshake *handshake)
{
	return handshake->logins == 0;
}

bool dlock_handshake_is_next(const dlock_handshake *handshake)
{
	return handshake->logins > 0 || (handshake->asks_uptime && handshake->ahead == 0);
}

void dlock_handshake_pass(dlock_handshake *handshake)
{
	if (handshake->asks_uptime) {
		handshake->ahead--;
	}
}

/* All replies over this connection come from one start of the server. */
static void take_uptime(dlock_handshake *handshake, const redisReply *reply, const dlock_endpoint *server)
{
	dlock_uptime *uptime = &handshake->uptime;
	dlock_nanos now = dlock_now(), started = uptime->started, from = uptime->started_from;

	handshake->asks_uptime = false;
	handshake->late = now - handshake->asked > PROMPT;
	dlock_uptime_read(uptime, reply, handshake->asked, now, server);
	if (started != DLOCK_START_UNKNOWN && uptime->started != DLOCK_START_UNKNOWN) {
		uptime->started = dlock_earlier(started, uptime->started);
		uptime->started_from = from > uptime->started_from ? from : uptime->started_from;
	}
}

dlock_status dlock_handshake_take(
	dlock_handshake *handshake, const redisReply *reply, const dlock_endpoint *server, dlock_error *error)
{
	char reason[200];

	if (handshake->logins == 0) {
		take_uptime(handshake, reply, server);
		return DLOCK_OK;
	}
	handshake->logins--;
	if (handshake->logins == 0 && server->node_id) {
		return check_node(reply, server, error);
	}
	if (reply->type != REDIS_REPLY_ERROR) {
		return DLOCK_OK;
	}
	dlock_endpoint_quote(server, reply->str, reason, sizeof reason);
	return dlock_fail(error, DLOCK_CONNECTION, "%s%s", reason,
		!strncmp(reason, "NOAUTH", 6) ? "; it needs a password: redis://:password@host, or auth in an array"
			: !strncmp(reason, "NOPERM", 6) && strstr(reason, "'select'") ? "; a database other than 0 needs +select"
																		  : "");
}
