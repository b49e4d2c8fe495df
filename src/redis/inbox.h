#ifndef DLOCK_REDIS_INBOX_H
#define DLOCK_REDIS_INBOX_H

#include "../base/token.h"
#include "conn.h"

/* A lock that was handed over. */
typedef struct {
	int64_t number;        /* of the waiter's last request before it */
	int64_t fencing_token; /* 0: no grant, it was only told to try */
} dlock_grant;

/* Where this process hears from one server that it is a waiter's turn: a subscription on a connection of its own, made
 * when the process first waits there and kept, so that nothing can be missed between queueing and subscribing. */
typedef struct dlock_inbox {
	dlock_conn *conn;
	dlock_process process; /* the channel's: a forked child has another */
	unsigned long subscribed; /* on the connection that was opened as the so manieth; 0: never */
	dlock_call *subscribing;  /* NULL: not under way */
	char channel[sizeof "dlock:inbox:" + DLOCK_TOKEN_LEN];
	char told[DLOCK_TOKEN_MAX + 1]; /* the waiter that was told last */
	dlock_grant grant;              /* that came with it */
	struct dlock_inbox *next;
} dlock_inbox;

dlock_inbox *dlock_inbox_new(dlock_server *server);
void dlock_inbox_free(dlock_inbox *inbox);

/* Gives up a subscription that seems not to be heard: the next opening makes another connection. */
void dlock_inbox_distrust(dlock_inbox *inbox);

/* Takes note of a subscription's answer, if it has come. */
void dlock_inbox_update(dlock_inbox *inbox);

/* Does the subscription stand, as far as is known without asking? */
bool dlock_inbox_is_open(const dlock_inbox *inbox);

/* Subscribes on all that are not open, at once, until so many are open, and a moment longer for the others, or none can be
 * any more; bounded by the servers' timeouts. How many are open. Why another one is not, is its connection's error. */
int dlock_inboxes_open(dlock_inbox **inboxes, int count, int enough);

/* Has this waiter been told? Answers with true once. */
bool dlock_inbox_take(dlock_inbox *inbox, const char *waiter, dlock_grant *grant);

#endif
