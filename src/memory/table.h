#ifndef DLOCK_MEMORY_TABLE_H
#define DLOCK_MEMORY_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../base/clock.h"
#include "../base/token.h"
#include "../base/wakeup.h"
#include "../lock/backend.h"

/* The locks of this process, by table and key. Under one mutex: each function may be called by any thread. */

/* Whoever waits for a lock: first come, first served. Its owner's memory, known to the table from dlock_memory_queue()
 * to dlock_memory_leave(). */
typedef struct dlock_memory_waiter {
	dlock_wakeup wakeup; /* sent when it should look again */
	const char *token;   /* of its claim */
	bool away;           /* it is interrupted: its turn is the next one's */
	struct dlock_memory_waiter *next;
} dlock_memory_waiter;

typedef struct {
	const char *table;
	const char *key;
	size_t key_len;
} dlock_memory_name;

typedef enum {
	DLOCK_MEMORY_TAKEN,  /* the lock is the token's */
	DLOCK_MEMORY_REFUSED,
	DLOCK_MEMORY_NO_MEMORY
} dlock_memory_result;

/* Takes the lock where it is free and nobody who has queued is before `waiter`, which may be NULL. Refused: `*next_try` is
 * when its lease ends. */
dlock_memory_result dlock_memory_take(dlock_memory_name name, const char *token, dlock_nanos ttl,
	const dlock_memory_waiter *waiter, int64_t *fencing_token, dlock_nanos *deadline, dlock_nanos *next_try);

/* False: out of memory. */
bool dlock_memory_queue(dlock_memory_name name, dlock_memory_waiter *waiter);
/* Keeps its place in the queue; while it is away others pass it. */
void dlock_memory_step_aside(dlock_memory_name name, dlock_memory_waiter *waiter, bool away);
void dlock_memory_leave(dlock_memory_name name, dlock_memory_waiter *waiter);

/* Each is false where the lock is not the token's. */
bool dlock_memory_extend(
	dlock_memory_name name, const char *token, dlock_nanos ttl, bool may_shorten, dlock_nanos *deadline);
bool dlock_memory_find(dlock_memory_name name, const char *token, dlock_nanos *deadline);
bool dlock_memory_exchange(
	dlock_memory_name name, const char *token, const char *other, int64_t *fencing_token, dlock_nanos *deadline);
bool dlock_memory_release(dlock_memory_name name, const char *token, bool *handed_over);

bool dlock_memory_is_locked(dlock_memory_name name);

/* For those who look: adds the holder and at most so many waiters. False: out of memory. */
bool dlock_memory_inspect(dlock_memory_name name, int most, dlock_inspection *out);

/* Takes it from the holder with that id: it is free when its lease is over, or with `now` at once. False: that is not
 * the holder any more. */
bool dlock_memory_break(dlock_memory_name name, const dlock_break *how, dlock_nanos *left);

#endif
