#ifndef DLOCK_MEMORY_TABLE_H
#define DLOCK_MEMORY_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../base/clock.h"
#include "../base/token.h"
#include "../base/wakeup.h"
#include "../lock/backend.h"

/* The pools of permits of this process, by table and key; a lock is a pool of one. Under one mutex: each function may
 * be called by any thread. */

/* A pool's: a table, a zero byte, a key. */
typedef struct {
	const char *text;
	size_t len;
} dlock_memory_name;

/* Of one pool, or of several, which are locks and are had all at once: in each of them all is done, or nothing. */
typedef struct {
	const dlock_memory_name *name;
	int count;
} dlock_memory_names;

/* A request for `permits` of a pool of `capacity`. `in_phases`: a writer's, for all of them; the readers that waited
 * when the last writer released go before the next writer. `upgrades`: a reader's for the rest, to become the writer
 * ahead of all others. */
typedef struct {
	int64_t permits, capacity;
	bool in_phases, upgrades;
} dlock_memory_demand;

/* A waiter, in the order of arrival; for several locks, an array of these, one in each queue. Its owner's memory,
 * known to the table from dlock_memory_queue() to dlock_memory_leave().
 *
 * Who waits for several is asleep, and passed by others, until it is the first in all their queues: from then on each
 * of its locks that becomes free is kept for it. */
typedef struct dlock_memory_waiter {
	dlock_wakeup wakeup; /* sent when it should look again */
	dlock_watch watch;   /* while it is suspended */
	dlock_memory_demand demand;
	uint64_t ticket;
	const char *token; /* of its claim, for those who look */
	bool away; /* it is interrupted: its turn is the next one's */
	const struct dlock_memory_waiter *all; /* the array */
	int count;
	const void *pool;
	struct dlock_memory_waiter *next;
} dlock_memory_waiter;

typedef enum {
	DLOCK_MEMORY_TAKEN, /* the permits are the token's */
	DLOCK_MEMORY_REFUSED,
	DLOCK_MEMORY_NO_MEMORY
} dlock_memory_result;

/* Takes the permits where they are free and it is the turn of `waiter`, which is NULL for who has not queued. Refused:
 * `*next_try` is when the first lease ends, of several locks the last that is in its way. */
dlock_memory_result dlock_memory_take(dlock_memory_names names, const char *token, dlock_nanos ttl,
	const dlock_memory_demand *demand, const dlock_memory_waiter *waiter, int64_t *fencing_token, dlock_nanos *deadline,
	dlock_nanos *next_try);

/* Refused: another reader waits to be the writer, and they would wait for each other. */
dlock_memory_result dlock_memory_queue(dlock_memory_names names, dlock_memory_waiter *waiter);
/* Keeps its place in the queue; while it is away others pass it. */
void dlock_memory_step_aside(dlock_memory_names names, dlock_memory_waiter *waiter, bool away);
void dlock_memory_leave(dlock_memory_names names, dlock_memory_waiter *waiter);

/* Each is false where the token holds nothing there; of several locks, where it does not hold all.
 * dlock_memory_release() gives back what it holds. */
bool dlock_memory_extend(
	dlock_memory_names names, const char *token, dlock_nanos ttl, bool may_shorten, dlock_nanos *deadline);
bool dlock_memory_find(dlock_memory_names names, const char *token, dlock_nanos *deadline);
bool dlock_memory_exchange(dlock_memory_names names, const char *token, const char *other, int64_t *fencing_token,
	int64_t *permits, dlock_nanos *deadline);
bool dlock_memory_release(dlock_memory_names names, const char *token, bool *handed_over);

/* The reader becomes the writer, with what the token `rest` has, where there is one (or NULL), and the writer a reader.
 * Refused: others read. `*held` is false where the token holds nothing. */
dlock_memory_result dlock_memory_upgrade(dlock_memory_name name, const char *token, const char *rest, dlock_nanos ttl,
	bool *held, int64_t *fencing_token, dlock_nanos *deadline);
bool dlock_memory_downgrade(dlock_memory_name name, const char *token, dlock_nanos ttl, dlock_nanos *deadline);

/* The permits that are held. */
int64_t dlock_memory_used(dlock_memory_name name);

/* For inspect(): adds the holders and at most `most` waiters. False: out of memory. */
bool dlock_memory_inspect(dlock_memory_name name, int most, dlock_inspection *out);
/* Adds all pools whose names begin so. False: out of memory. */
bool dlock_memory_list(dlock_memory_name begins, dlock_listing *out);

/* Takes what the holder with that id has: it is free when its lease is over, or with `now` at once. False: it holds
 * nothing any more. */
bool dlock_memory_break(dlock_memory_name name, const dlock_break *how, dlock_nanos *left);

#endif
