#ifndef DLOCK_REDIS_WAITING_H
#define DLOCK_REDIS_WAITING_H

#include "../request/requests.h"
#include "../wire/inbox.h"

/* How a claim that was refused waits: when it asks again by itself, and the sleep until an inbox has a message for it.
 * docs/hand-over.md has the reasons. */

/* How long a grant lasts that is not taken up; GRACE in lua/handover.lua. */
#define DLOCK_GRANT_TTL (3 * DLOCK_SECOND)

/* When a waiter looks again by itself: as its sign of life, and when the holder's lease should be over, or one as long
 * as its own, `ttl`, that another waiter has had since. The further back in the queue, the later, so that not all look
 * at once. */
dlock_nanos dlock_next_look(const dlock_response *refusal, dlock_nanos ttl);

/* The same for locks that are shared with older code, which notifies nobody of a release. */
dlock_nanos dlock_next_look_legacy(const dlock_response *refusal, dlock_nanos ttl);

/* The same for a waiter that cannot be notified of anything; see dlock_inbox_can_notify(). */
dlock_nanos dlock_next_look_unnotified(const dlock_response *refusal, dlock_nanos ttl);

/* As dlock_opening; sleeps. Returns how many are open. */
int dlock_inboxes_open(dlock_loop *loop, dlock_inbox **inboxes, int count, int enough);

/* DLOCK_TIMEOUT, or DLOCK_INTERRUPTED. */
dlock_status dlock_pause(dlock_loop *loop, dlock_nanos until, const dlock_wait *wait);

/* Sleeps until one of these inboxes has a message or broke, until `until`, or until an interruption; returns as
 * dlock_wait_poll(). */
int dlock_inboxes_wait(dlock_loop *loop, dlock_inbox **inboxes, int count, dlock_nanos until, const dlock_wait *wait);

#endif
