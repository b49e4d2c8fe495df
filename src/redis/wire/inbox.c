#include "inbox.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef dlock_notice notice;

/* A waiter may leave before its notice comes. If there are more notices than LEAST_NOTICES and NOTICES_OF_EACH for each
 * listener, the oldest is forgotten. */
enum { LEAST_NOTICES = 64, NOTICES_OF_EACH = 4 };

/* NULL: there is none. */
static notice **find(dlock_inbox *inbox, const char *waiter, size_t len)
{
	notice **at = &inbox->notices;

	while (*at && (strncmp((*at)->waiter, waiter, len) != 0 || (*at)->waiter[len] != '\0')) {
		at = &(*at)->next;
	}
	return *at ? at : NULL;
}

static void forget(dlock_inbox *inbox, notice **at)
{
	notice *forgotten = *at;

	*at = forgotten->next;
	free(forgotten);
	inbox->notice_count--;
}

static void make_room(dlock_inbox *inbox)
{
	int most = LEAST_NOTICES + NOTICES_OF_EACH * inbox->listeners;

	if (inbox->notice_count > most) {
		notice **last = &inbox->notices;
		while ((*last)->next) {
			last = &(*last)->next;
		}
		forget(inbox, last);
	}
}

/* A message is ["message", channel, "waiter" or "waiter number fencing-token"]. */
static void on_push(void *context, const redisReply *reply)
{
	dlock_inbox *inbox = context;

	if (reply->type != REDIS_REPLY_ARRAY || reply->elements != 3 || reply->element[2]->type != REDIS_REPLY_STRING) {
		return;
	}
	char *text = reply->element[2]->str;
	size_t len = strcspn(text, " ");
	notice *added = len > 0 && len <= DLOCK_PERMIT_ID_MAX ? calloc(1, sizeof *added + len + 1) : NULL;
	if (added) {
		notice **before = find(inbox, text, len);
		char *rest = text + len;
		if (before) {
			forget(inbox, before);
		}
		memcpy(added->waiter, text, len);
		added->grant.number = strtoll(rest, &rest, 10);
		added->grant.fencing_token = strtoll(rest, NULL, 10);
		added->next = inbox->notices;
		inbox->notices = added;
		inbox->notice_count++;
		inbox->pushes++;
		make_room(inbox);
	}
}

static const dlock_source_ops source_ops;

dlock_inbox *dlock_inbox_new(dlock_endpoint *server)
{
	dlock_inbox *inbox = calloc(1, sizeof *inbox);

	if (inbox && !(inbox->conn = dlock_conn_new(server))) {
		free(inbox);
		return NULL;
	}
	if (inbox) {
		inbox->conn->on_push = on_push;
		inbox->conn->push_context = inbox;
		inbox->conn->source.ops = &source_ops;
	}
	return inbox;
}

void dlock_inbox_free(dlock_inbox *inbox)
{
	dlock_call_release(inbox->subscribing);
	dlock_call_release(inbox->publishing);
	dlock_conn_free(inbox->conn);
	while (inbox->notices) {
		forget(inbox, &inbox->notices);
	}
	free(inbox);
}

bool dlock_inbox_is_open(const dlock_inbox *inbox)
{
	return inbox->process == dlock_process_current() && inbox->conn->state == DLOCK_CONN_READY
		&& inbox->subscribed == inbox->conn->generation;
}

bool dlock_inbox_can_notify(const dlock_inbox *inbox)
{
	return !inbox->refused && !inbox->silent;
}

/* The channel's name is as hard to guess as a token. With that name and a waiter's token, any client could make the
 * waiter believe in a grant that was never made. */
static bool name_channel(dlock_inbox *inbox)
{
	char id[DLOCK_TOKEN_PLAIN_LEN + 1];

	if (inbox->process != dlock_process_current()) {
		if (!dlock_plain_token(id)) {
			return false;
		}
		snprintf(inbox->channel, sizeof inbox->channel, "dlock:inbox:%s", id);
		inbox->process = dlock_process_current();
		inbox->subscribed = 0;
		dlock_call_release(inbox->subscribing);
		inbox->subscribing = NULL;
		dlock_call_release(inbox->publishing);
		inbox->publishing = NULL;
	}
	return true;
}

static void subscribe(dlock_inbox *inbox)
{
	if (name_channel(inbox) && !inbox->subscribing && !inbox->refused) {
		dlock_arg args[] = { DLOCK_ARG("SUBSCRIBE"), DLOCK_ARG(inbox->channel) };
		inbox->subscribing = dlock_call_command(args, 2);
		if (inbox->subscribing) {
			dlock_conn_send(inbox->conn, inbox->subscribing);
		}
	}
}

void dlock_inbox_discard(dlock_inbox *inbox)
{
	dlock_conn_close(inbox->conn);
}

/* Does the server refuse the command or the channel, because the user lacks a right, or because it was renamed or
 * switched off? */
static bool is_refusal(const redisReply *reply)
{
	static const char *const words[] = { "NOPERM", "ACL failure", "user executing the script can't", "nknown command",
		"nknown Redis command", "not allowed", "not supported", "disabled" };

	for (size_t i = 0; reply->type == REDIS_REPLY_ERROR && i < sizeof words / sizeof *words; i++) {
		if (strstr(reply->str, words[i])) {
			return true;
		}
	}
	return false;
}

/* Publishes to a channel without subscribers. */
void dlock_inbox_try_publishing(dlock_inbox *inbox, dlock_conn *conn)
{
	char channel[sizeof inbox->channel + sizeof ":try"];

	if (inbox->published || !name_channel(inbox) || inbox->publishing) {
		return;
	}
	snprintf(channel, sizeof channel, "%s:try", inbox->channel);
	dlock_arg args[] = { DLOCK_ARG(channel) };
	inbox->publishing = dlock_call_script(DLOCK_SCRIPT_PUBLISH, 0, args, 1, 1);
	if (inbox->publishing) {
		dlock_call_use_source(inbox->publishing); /* otherwise it could come after the next call */
		dlock_conn_send(conn, inbox->publishing);
	}
}

/* If the server could not be asked, it is asked again. */
static void note_publishing(dlock_inbox *inbox)
{
	dlock_call *call = inbox->publishing;

	if (call && call->state != DLOCK_CALL_PENDING) {
		inbox->silent = call->state == DLOCK_CALL_ANSWERED && is_refusal(call->reply);
		inbox->published = inbox->silent
			|| (call->state == DLOCK_CALL_ANSWERED && call->reply->type == REDIS_REPLY_INTEGER);
		dlock_call_release(call);
		inbox->publishing = NULL;
	}
}

void dlock_inbox_update(dlock_inbox *inbox)
{
	dlock_call *call = inbox->subscribing;

	note_publishing(inbox);
	if (!call || call->state == DLOCK_CALL_PENDING) {
		return;
	}
	inbox->refused = call->state == DLOCK_CALL_ANSWERED && is_refusal(call->reply);
	if (call->state == DLOCK_CALL_ANSWERED && call->reply->type == REDIS_REPLY_ERROR) {
		char reason[200];
		dlock_endpoint_quote(inbox->conn->server, call->reply->str, reason, sizeof reason);
		dlock_fail(&inbox->conn->error, DLOCK_CONNECTION, "Redis at %s: %s; waiting needs the channels dlock:inbox:*",
			inbox->conn->server->label, reason);
	} else if (call->state == DLOCK_CALL_ANSWERED) {
		inbox->subscribed = inbox->conn->generation;
	}
	dlock_call_release(call);
	inbox->subscribing = NULL;
}

/* Notes the replies that have come. True: enough inboxes are open, or no subscription is under way any more. */
static bool are_open(dlock_opening *own)
{
	int pending = 0;

	own->open = 0;
	for (int i = 0; i < own->count; i++) {
		dlock_inbox_update(own->inboxes[i]);
		own->open += dlock_inbox_is_open(own->inboxes[i]);
		pending += own->inboxes[i]->subscribing != NULL;
	}
	return own->open >= own->enough || pending == 0;
}

static void begin_opening(dlock_opening *own)
{
	for (int i = 0; i < own->count; i++) {
		dlock_inbox *inbox = own->inboxes[i];
		dlock_conn_expire(inbox->conn); /* it may have begun to connect long ago, and not been polled since */
		dlock_inbox_update(inbox);
		if (!dlock_inbox_is_open(inbox)) {
			own->begun |= !inbox->subscribing;
			subscribe(inbox);
		}
	}
}

/* A refused inbox is of no use. */
static void close_refused(const dlock_opening *own)
{
	for (int i = 0; i < own->count; i++) {
		if (own->inboxes[i]->refused) {
			dlock_conn_close(own->inboxes[i]->conn);
		}
	}
}

/* The time from the first to the last answer, if a server answers at all. */
#define TOGETHER (20 * DLOCK_MS)

dlock_status dlock_opening_step(dlock_opening *own, dlock_loop *loop, dlock_nanos now)
{
	DLOCK_BEGIN(&own->task);
	are_open(own);
	if (own->open < own->count) {
		begin_opening(own);
		DLOCK_AWAIT(&own->task, are_open(own) || dlock_loop_is_time(loop, own->deadline, now));
		if (own->begun && own->open < own->count) {
			own->enough = own->count;
			own->until = now + TOGETHER;
			DLOCK_AWAIT(&own->task, are_open(own) || dlock_loop_is_time(loop, own->until, now));
		}
		close_refused(own);
	}
	DLOCK_END(&own->task);
	return DLOCK_OK;
}

bool dlock_inbox_take(dlock_inbox *inbox, const char *waiter, dlock_grant *grant)
{
	/* A waiter that has not queued yet has no name. */
	notice **notified = inbox->notices && *waiter ? find(inbox, waiter, strlen(waiter)) : NULL;

	if (notified) {
		*grant = (*notified)->grant;
		forget(inbox, notified);
	}
	return notified;
}

/* ---- as a source ---- */

static dlock_inbox *inbox_of(const dlock_source *source)
{
	return ((const dlock_conn *) ((const char *) source - offsetof(dlock_conn, source)))->push_context;
}

/* An inbox that is being opened is polled, too. */
static bool is_polled(const dlock_inbox *inbox)
{
	return dlock_conn_busy(inbox->conn) || (inbox->listeners > 0 && dlock_inbox_is_open(inbox));
}

static bool poll_source(const dlock_source *source, struct pollfd *fd)
{
	*fd = dlock_conn_poll(inbox_of(source)->conn);
	return is_polled(inbox_of(source));
}

static void advance_source(dlock_source *source)
{
	dlock_conn_advance(inbox_of(source)->conn);
	dlock_inbox_update(inbox_of(source));
}

static void expire_source(dlock_source *source)
{
	dlock_conn_expire(inbox_of(source)->conn);
	dlock_inbox_update(inbox_of(source));
}

static dlock_nanos source_timer(const dlock_source *source)
{
	return dlock_conn_timer(inbox_of(source)->conn);
}

static const dlock_source_ops source_ops = {
	.poll = poll_source, .advance = advance_source, .expire = expire_source, .timer = source_timer
};
