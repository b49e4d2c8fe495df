#ifndef DLOCK_REDIS_INBOX_H
#define DLOCK_REDIS_INBOX_H

#include "../../base/token.h"
#include "../../net/loop.h"
#include "../script/permit_id.h"
#include "conn.h"

/* Notifications: the Pub/Sub channel on which a server tells this process that it is a waiter's turn. */

/* A lock that was handed over. */
typedef struct {
	int64_t number;        /* of the waiter's last request before it */
	int64_t fencing_token; /* 0: no grant, the waiter is only to try */
} dlock_grant;

/* A message that its waiter has not taken yet: several may be told in one packet, and take it one after the other. */
typedef struct dlock_notice {
	struct dlock_notice *next;
	dlock_grant grant;
	char waiter[];
} dlock_notice;

/* Where one server notifies this process that it is a waiter's turn: a subscription on a connection of its own. It is
 * made when the process first waits there, before it queues, and kept, so that no message is missed. */
typedef struct dlock_inbox {
	dlock_conn *conn;
	dlock_process process; /* the channel's: a forked child has another */
	unsigned long subscribed; /* the generation of the connection that is subscribed; 0: none */
	dlock_call *subscribing;  /* NULL: not under way */
	dlock_call *publishing;   /* a try whether scripts may publish; NULL: not under way */
	/* What a server refuses it refuses for good: it is asked once. */
	bool refused;   /* the user may not subscribe */
	bool published; /* it was tried, and they may or may not: */
	bool silent;    /* scripts may not publish */
	char channel[sizeof "dlock:inbox:" + DLOCK_TOKEN_PLAIN_LEN];
	dlock_notice *notices;              /* the last one first */
	int notice_count;
	unsigned long pushes;               /* of notices, until now */
	int listeners;                      /* as long as there are any, it is polled */
	bool expected; /* the last lock that was asked for here was not free: so the next one may not be, and is asked for
					  with the inbox at once */
	struct dlock_inbox *next;
} dlock_inbox;

dlock_inbox *dlock_inbox_new(dlock_endpoint *server);
void dlock_inbox_free(dlock_inbox *inbox);

/* Discards a subscription whose messages seem not to arrive: the next opening makes another connection. */
void dlock_inbox_discard(dlock_inbox *inbox);

/* Notes the replies to a subscription and to a try to publish, if they have come. */
void dlock_inbox_update(dlock_inbox *inbox);

/* Is it subscribed, as far as is known without asking? */
bool dlock_inbox_is_open(const dlock_inbox *inbox);

/* Can a waiter be notified by this server, as far as is known? Otherwise it has to look at intervals. */
bool dlock_inbox_can_notify(const dlock_inbox *inbox);

/* Finds out, once, whether scripts may publish: tries it ahead of what is sent over `conn` next, in the same round
 * trip. */
void dlock_inbox_try_publishing(dlock_inbox *inbox, dlock_conn *conn);

/* A task: subscribes on all inboxes that are not open, at once, until `enough` are open, and a moment longer for the
 * others, or until none of the others can be opened; bounded by the servers' timeouts and by `deadline`. In the end
 * `open` is how many are. The connection of another one has the error, unless it is refused or still under way. */
typedef struct {
	dlock_task task;
	dlock_inbox **inboxes;
	int count, enough, open;
	dlock_nanos deadline;
	dlock_nanos until; /* for the others */
	bool begun;
} dlock_opening;

dlock_status dlock_opening_step(dlock_opening *own, dlock_loop *loop, dlock_nanos now);

/* Takes this waiter's notification. False: there is none, or it was taken before. */
bool dlock_inbox_take(dlock_inbox *inbox, const char *waiter, dlock_grant *grant);

#endif
