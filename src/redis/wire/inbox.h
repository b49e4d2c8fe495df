#ifndef DLOCK_REDIS_INBOX_H
#define DLOCK_REDIS_INBOX_H

#include "../../base/token.h"
#include "../../net/loop.h"
#include "../script/permit_id.h"
#include "conn.h"

/* Notifications: the Pub/Sub channel on which a server tells this process that it is a waiter's turn. */

/* A notification, which may hand a lock over. */
typedef struct {
	int64_t number;        /* of the waiter's last request before it */
	int64_t fencing_token; /* 0: no grant, the waiter must try */
} dlock_grant;

/* A message that its waiter has not taken yet. One packet may bring messages for several waiters, which take them one
 * after the other. */
typedef struct dlock_notice {
	struct dlock_notice *next;
	dlock_grant grant;
	char waiter[];
} dlock_notice;

/* Where one server notifies this process that it is a waiter's turn: a subscription on a connection of its own. The
 * process subscribes when it first waits there, before it queues, and stays subscribed, so that it misses no
 * message. */
typedef struct dlock_inbox {
	dlock_conn *conn;
	dlock_process process;    /* the process that named the channel: a forked child names another */
	unsigned long subscribed; /* the generation of the connection that is subscribed; 0: none */
	dlock_call *subscribing;  /* NULL: not under way */
	dlock_call *publishing;   /* a test whether scripts may publish; NULL: not under way */
	/* A server's refusal is final, so it is asked once. */
	bool refused;   /* the user may not subscribe */
	bool published; /* the test is over: scripts may publish, or `silent` */
	bool silent;    /* scripts may not publish */
	char channel[sizeof "dlock:inbox:" + DLOCK_TOKEN_PLAIN_LEN];
	dlock_notice *notices; /* the newest first */
	int notice_count;
	unsigned long pushes; /* the number of notices so far */
	int listeners;        /* if there are any, the inbox is polled */
	bool expected;        /* the last lock requested here was not free, so the next request joins the queue at once */
	struct dlock_inbox *next;
} dlock_inbox;

dlock_inbox *dlock_inbox_new(dlock_endpoint *server);
void dlock_inbox_free(dlock_inbox *inbox);

/* Discards a subscription whose messages seem not to arrive. The next opening makes another connection. */
void dlock_inbox_discard(dlock_inbox *inbox);

/* Notes the replies to a subscription and to a test of publishing, if they have come. */
void dlock_inbox_update(dlock_inbox *inbox);

/* Is the inbox subscribed, as far as this process knows without asking? */
bool dlock_inbox_is_open(const dlock_inbox *inbox);

/* Can this server notify a waiter, as far as this process knows? If not, the waiter must look at intervals. */
bool dlock_inbox_can_notify(const dlock_inbox *inbox);

/* Finds out, once, whether scripts may publish. The test goes ahead of the next call over `conn`, in the same round
 * trip. */
void dlock_inbox_try_publishing(dlock_inbox *inbox, dlock_conn *conn);

/* A task: subscribes on all inboxes that are not open, at once. It ends a moment after `enough` are open, or when no
 * other inbox can be opened. The servers' timeouts and `deadline` bound it. In the end, `open` is the number of open
 * inboxes. The connection of each other inbox has the error, unless the inbox is refused or still under way. */
typedef struct {
	dlock_task task;
	dlock_inbox **inboxes;
	int count, enough, open;
	dlock_nanos deadline;
	dlock_nanos until; /* for the other inboxes */
	bool begun;
} dlock_opening;

dlock_status dlock_opening_step(dlock_opening *own, dlock_loop *loop, dlock_nanos now);

/* Takes this waiter's notification. False: there is none, or the waiter has already taken it. */
bool dlock_inbox_take(dlock_inbox *inbox, const char *waiter, dlock_grant *grant);

#endif
