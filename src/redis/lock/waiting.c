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

/* ---- waiting ---- */

static dlock_status step_opening(void *task, dlock_loop *loop, dlock_nanos now)
{
	return dlock_opening_step(task, loop, now);
}

int dlock_inboxes_open(dlock_loop *loop, dlock_inbox **inboxes, int count, int enough)
{
	dlock_opening own = { .inboxes = inboxes, .count = count, .enough = enough };

	dlock_loop_run(loop, step_opening, &own, DLOCK_FOREVER, NULL);
	return own.open;
}

typedef struct {
	dlock_inbox **inboxes;
	int count;
	unsigned long news; /* that there were */
	int open;
} listening;

static void look(const listening *own, unsigned long *news, int *open)
{
	*news = 0;
	*open = 0;
	for (int i = 0; i < own->count; i++) {
		dlock_inbox_update(own->inboxes[i]);
		*news += own->inboxes[i]->news;
		*open += dlock_inbox_is_open(own->inboxes[i]);
	}
}

static dlock_status listen_step(void *task, dlock_loop *loop, dlock_nanos now)
{
	const listening *own = task;
	unsigned long news;
	int open;

	(void) now;
	look(own, &news, &open);
	dlock_loop_lend(loop);
	return news != own->news || open != own->open ? DLOCK_OK : DLOCK_PENDING;
}

int dlock_inboxes_wait(dlock_loop *loop, dlock_inbox **inboxes, int count, dlock_nanos until, const dlock_wait *wait)
{
	listening own = { .inboxes = inboxes, .count = count };

	for (int i = 0; i < count; i++) {
		inboxes[i]->listeners++;
	}
	look(&own, &own.news, &own.open);
	dlock_status status = dlock_loop_run(loop, listen_step, &own, until, wait);
	for (int i = 0; i < count; i++) {
		inboxes[i]->listeners--;
	}
	/* However fast messages come, they do not keep a waiter beyond its time. */
	bool over = status == DLOCK_TIMEOUT || (until != DLOCK_FOREVER && dlock_now() >= until);
	return status == DLOCK_INTERRUPTED ? DLOCK_WAIT_INTERRUPTED : over ? DLOCK_WAIT_TIME : 1;
}

static dlock_status pause_step(void *task, dlock_loop *loop, dlock_nanos now)
{
	(void) task;
	(void) now;
	dlock_loop_lend(loop);
	return DLOCK_PENDING;
}

dlock_status dlock_pause(dlock_loop *loop, dlock_nanos until, const dlock_wait *wait)
{
	return dlock_loop_run(loop, pause_step, NULL, until, wait);
}
