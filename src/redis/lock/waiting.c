#include "waiting.h"

/* A waiter's sign of life; lua/handover.lua takes it for dead after 3 s without one. */
#define LOOK_AGAIN (1600 * DLOCK_MS)
#define LOOK_AGAIN_JITTER 700 /* ms */

/* What one step back in the queue adds, after the holder's lease is over. */
#define STAGGER (2 * DLOCK_MS)

/* However short its own leases are, a waiter asks no more often because of them. */
#define LEAST_LEASE (200 * DLOCK_MS)

static dlock_nanos earlier(dlock_nanos a, dlock_nanos b)
{
	return a < b ? a : b;
}

dlock_nanos dlock_next_look(const dlock_response *refusal, dlock_nanos ttl)
{
	int64_t ahead = refusal->position < 0 ? 0 : refusal->position < 1000 ? refusal->position : 1000;
	dlock_nanos now = dlock_now();
	dlock_nanos look = now + LOOK_AGAIN + dlock_jitter(LOOK_AGAIN_JITTER) * DLOCK_MS;
	/* Redis expires a key in the millisecond after its last. */
	dlock_nanos turn = now + 2 * DLOCK_MS + ahead * STAGGER;

	/* By then the lock may have been handed over to another waiter, and that one may have died. */
	if (ttl < LOOK_AGAIN) {
		look = earlier(look, turn + (ttl < LEAST_LEASE ? LEAST_LEASE : ttl));
	}
	if (refusal->pttl >= 0 && refusal->pttl < 1000 * 1000) {
		look = earlier(look, turn + refusal->pttl * DLOCK_MS);
	}
	return look;
}

/* How often the first in the queue looks where nobody notifies it of a release, and whoever is in no queue; the others
 * look less often. */
#define LOOK_UNNOTIFIED (80 * DLOCK_MS)
#define LOOK_UNNOTIFIED_JITTER 40 /* ms */

dlock_nanos dlock_next_look_unnotified(const dlock_response *refusal, dlock_nanos ttl)
{
	dlock_nanos look = dlock_next_look(refusal, ttl);

	if (refusal->position < 100) {
		int64_t ahead = refusal->position < 0 ? 0 : refusal->position;
		dlock_nanos soon = dlock_now()
			+ (LOOK_UNNOTIFIED + dlock_jitter(LOOK_UNNOTIFIED_JITTER) * DLOCK_MS) * (ahead + 1);
		look = earlier(look, soon);
	}
	return look;
}

dlock_nanos dlock_next_look_legacy(const dlock_response *refusal, dlock_nanos ttl)
{
	return refusal->pttl < 0 ? dlock_next_look_unnotified(refusal, ttl) : dlock_next_look(refusal, ttl);
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
