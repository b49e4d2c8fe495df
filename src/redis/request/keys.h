#ifndef DLOCK_REDIS_KEYS_H
#define DLOCK_REDIS_KEYS_H

#include <stdbool.h>

#include "../../lock/backend.h"
#include "../script/slot.h"
#include "../wire/call.h"

/* The keys that dlock keeps on a server apart from the locks: the last fencing token given out, of all resources; and,
 * where servers fail over, the epoch (epoch.lua). One for all keeps the key space constant; a token may skip
 * numbers. In a cluster there is one for each slot with locks. */
#define DLOCK_FENCE_KEY "dlock:fence"
#define DLOCK_EPOCH_KEY "dlock:era"

/* And the locks that are listed for those who look (note_seen.lua), one beside each fence. */
#define DLOCK_SEEN_KEY "dlock:seen"

/* The keys of one resource. The lock's is exactly prefix . resource. The queue and the waiters exist while there are
 * waiters, in the lock's hash slot. */
typedef struct {
	dlock_arg lock, queue, waiters;
	dlock_arg fence, epoch; /* empty: DLOCK_FENCE_KEY and DLOCK_EPOCH_KEY */
	dlock_arg held;       /* what its holder has said about itself; empty: see dlock_key_builder_held() */
	int slot;             /* of a cluster; otherwise 0 */
	const struct dlock_several_keys *several; /* of several resources at once, whose first the others are of; or NULL */
} dlock_keys;

/* The lock, the queue and the waiters of each resource; behind them the fence, and behind that the epoch. All are in
 * one slot. To be freed with free(). */
typedef struct dlock_several_keys {
	dlock_arg *locks, *held; /* `locks` of each: the lock alone, and what its holder has said about itself */
	int lock_count;
	int count; /* of `keys`, up to the fence */
	dlock_arg keys[];
} dlock_several_keys;

static inline dlock_arg dlock_fence_of(dlock_keys keys)
{
	return keys.fence.len > 0 ? keys.fence : DLOCK_ARG(DLOCK_FENCE_KEY);
}

static inline dlock_arg dlock_epoch_key(dlock_keys keys)
{
	return keys.epoch.len > 0 ? keys.epoch : DLOCK_ARG(DLOCK_EPOCH_KEY);
}

/* Room for the key in which a master of a cluster notes, in one of its slots, the epochs of all (epoch_of.lua). */
typedef struct {
	char text[sizeof DLOCK_EPOCH_KEY ":{}:slots" + DLOCK_SLOT_TAG_LEN];
} dlock_slots_key;

dlock_arg dlock_slots_of(dlock_keys keys, dlock_slots_key *out);

/* Where a master notes what it may have forgotten of stocks (stock_lineage.lua). `slot` < 0: of no cluster. */
typedef struct {
	char text[sizeof DLOCK_EPOCH_KEY ":{}:stocks" + DLOCK_SLOT_TAG_LEN];
} dlock_lineage_key;

dlock_arg dlock_lineage_of(int slot, dlock_lineage_key *out);

typedef struct {
	char text[sizeof DLOCK_SEEN_KEY ":{}" + DLOCK_SLOT_TAG_LEN];
} dlock_seen_key;

dlock_arg dlock_seen_of(dlock_keys keys, dlock_seen_key *out);

/* Would the resource's lock be the fence, the epoch, or possibly the queue or the waiters of another? */
bool dlock_key_is_reserved(dlock_arg prefix, dlock_arg resource);

/* Builds the keys of one resource at a time, after one prefix. */
typedef struct dlock_key_builder dlock_key_builder;

/* `longest`: of the resources. NULL when out of memory; to be freed with free(). */
dlock_key_builder *dlock_key_builder_new(const char *prefix, size_t prefix_len, size_t longest);

/* The keys are for a cluster from now on: all of a resource in the lock's slot. */
void dlock_key_builder_use_slots(dlock_key_builder *builder);

/* Of a cluster: the slot of a resource. */
int dlock_key_builder_slot_of(dlock_key_builder *builder, dlock_name resource);

/* The fence and the epoch of any slot; the rest is empty. Valid until the next call. */
dlock_keys dlock_key_builder_slot(dlock_key_builder *builder, int slot);

/* NULL, or why the resource's key cannot be a lock; see refuse() in lock/backend.h. */
const char *dlock_key_builder_refuse(const dlock_key_builder *builder, const char *resource, size_t len);

/* The keys, valid until the next call. */
dlock_keys dlock_key_builder_keys(dlock_key_builder *builder, const char *resource, size_t len);

/* The keys of several resources at once, which do not change with the next call. NULL when out of memory. */
dlock_several_keys *dlock_key_builder_several(dlock_key_builder *builder, const dlock_name *names, int count);

/* The key of what the holder has said about itself; of keys that are the builder's last. Valid as long as those. */
dlock_arg dlock_key_builder_held(dlock_key_builder *builder, dlock_keys keys);

#endif
