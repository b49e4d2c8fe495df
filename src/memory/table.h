#ifndef DLOCK_MEMORY_TABLE_H
#define DLOCK_MEMORY_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../base/clock.h"
#include "../base/token.h"
#include "../base/wakeup.h"
#include "../lock/backend.h"

/* The pools of permits of this process, by table and key; a lock is a pool of one. One mutex guards them, so any thread
 * may call these functions. */

/* The name of a pool: a table, a zero byte, a key. */
typedef struct {
	const char *text;
	size_t len;
} dlock_memory_name;

/* One pool, or several that are locks. An operation succeeds in each of them or in none. */
typedef struct {
	const dlock_memory_name *name;
	int count;
} dlock_memory_names;

/* A request for `permits` of a pool of `capacity`.
 * - `in_phases`: a writer wants all of them. Readers that waited when the last writer released come before it.
 * - `upgrades`: a reader wants the rest, to become the writer ahead of all other waiters. */
typedef struct {
	int64_t permits, capacity;
	bool in_phases, upgrades;
} dlock_memory_demand;

/* A waiter, in the order of arrival; for several locks, an array of these with one in each queue. Its owner keeps it
 * from dlock_memory_queue() to dlock_memory_leave().
 *
 * A waiter for several locks sleeps, and other waiters pass it, until it is the first in all its queues. From then on
 * each of its locks that becomes free is kept for it. */
typedef struct dlock_memory_waiter {
	dlock_wakeup wakeup; /* sent when the waiter should look again */
	dlock_watch watch;   /* used while the waiter is suspended */
	dlock_memory_demand demand;
	uint64_t ticket;
	const char *token; /* of its claim, for inspections */
	bool away; /* it is interrupted: the next waiter has its turn */
	const struct dlock_memory_waiter *all; /* the array that it belongs to */
	int count;
	const void *pool;
	struct dlock_memory_waiter *next;
} dlock_memory_waiter;

typedef enum {
	DLOCK_MEMORY_TAKEN, /* the token holds the permits */
	DLOCK_MEMORY_REFUSED,
	DLOCK_MEMORY_NO_MEMORY
} dlock_memory_result;

/* Acquires the permits if they are free and it is the turn of `waiter`; NULL: the caller is in no queue. If refused,
 * `*next_try` is when the first lease expires, or, of several locks, the last lease in its way. */
dlock_memory_result dlock_memory_take(dlock_memory_names names, const char *token, dlock_nanos ttl,
	const dlock_memory_demand *demand, const dlock_memory_waiter *waiter, int64_t *fencing_token, dlock_nanos *deadline,
	dlock_nanos *next_try);

/* Joins the queues. Refused: another reader already waits to become the writer, and the two would wait for each
 * other. */
dlock_memory_result dlock_memory_queue(dlock_memory_names names, dlock_memory_waiter *waiter);
/* The waiter keeps its place in the queues. While it is away, other waiters pass it. */
void dlock_memory_step_aside(dlock_memory_names names, dlock_memory_waiter *waiter, bool away);
void dlock_memory_leave(dlock_memory_names names, dlock_memory_waiter *waiter);

/* Each returns false if the token does not hold permits of all these pools. dlock_memory_release() then releases what
 * it holds. */
bool dlock_memory_extend(
	dlock_memory_names names, const char *token, dlock_nanos ttl, bool may_shorten, dlock_nanos *deadline);
bool dlock_memory_find(dlock_memory_names names, const char *token, dlock_nanos *deadline);
bool dlock_memory_exchange(dlock_memory_names names, const char *token, const char *other, int64_t *fencing_token,
	int64_t *permits, dlock_nanos *deadline);
bool dlock_memory_release(dlock_memory_names names, const char *token, bool *handed_over);

/* The first makes a reader the writer; the permits of the token `rest`, if it is not NULL, become its own. Refused:
 * other claims read. `*held`: does the token hold anything? The second makes the writer a reader. */
dlock_memory_result dlock_memory_upgrade(dlock_memory_name name, const char *token, const char *rest, dlock_nanos ttl,
	bool *held, int64_t *fencing_token, dlock_nanos *deadline);
bool dlock_memory_downgrade(dlock_memory_name name, const char *token, dlock_nanos ttl, dlock_nanos *deadline);

/* The number of permits that are held. */
int64_t dlock_memory_used(dlock_memory_name name);

/* Adds the holders and at most `most` waiters. False: out of memory. */
bool dlock_memory_inspect(dlock_memory_name name, int most, dlock_inspection *out);
/* Adds all pools whose names begin with `begins`. False: out of memory. */
bool dlock_memory_list(dlock_memory_name begins, dlock_listing *out);

/* Breaks the holder with that id. Its permits are free after `*left`, when its lease expires, or at once with how->now.
 * False: it holds nothing any more. */
bool dlock_memory_break(dlock_memory_name name, const dlock_break *how, dlock_nanos *left);

#endif
