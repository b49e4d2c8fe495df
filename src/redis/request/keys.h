#ifndef DLOCK_REDIS_KEYS_H
#define DLOCK_REDIS_KEYS_H

#include <stdbool.h>

#include "../../lock/backend.h"
#include "../script/slot.h"
#include "../wire/call.h"

/* The keys that dlock keeps on a server beside the locks: the last fencing token of all resources, and the epoch if
 * servers fail over (epoch.lua). One fence for all resources keeps the number of keys constant; a token may skip
 * numbers. In a cluster, each slot with locks has its own fence and epoch. */
#define DLOCK_FENCE_KEY "dlock:fence"
#define DLOCK_EPOCH_KEY "dlock:era"

/* The list of locks for inspecting clients (note_seen.lua), one beside each fence. */
#define DLOCK_SEEN_KEY "dlock:seen"

/* The keys of one resource. The lock's key is exactly prefix . resource. The queue and the waiters exist while clients
 * wait, in the lock's hash slot. */
typedef struct {
	dlock_arg lock, queue, waiters;
	dlock_arg fence, epoch; /* empty: DLOCK_FENCE_KEY and DLOCK_EPOCH_KEY */
	dlock_arg held;         /* what the holder says about itself; empty: see dlock_key_builder_held() */
	int slot;               /* the hash slot in a cluster; otherwise 0 */
	/* of several resources, while the other members are the first one's; NULL: there is one resource */
	const struct dlock_several_keys *several;
} dlock_keys;

/* The lock, the queue and the waiters of each resource, then the fence, then the epoch, all in one slot. The caller
 * frees it with free(). */
typedef struct dlock_several_keys {
	dlock_arg *locks, *held; /* for each resource: its lock, and what the holder says about itself */
	int lock_count;
	int count; /* of `keys`, including the fence, without the epoch */
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

/* Room for the key in which a cluster's master notes the epochs of all its slots. The key is in one of them
 * (epoch_of.lua). */
typedef struct {
	char text[sizeof DLOCK_EPOCH_KEY ":{}:slots" + DLOCK_SLOT_TAG_LEN];
} dlock_slots_key;

dlock_arg dlock_slots_of(dlock_keys keys, dlock_slots_key *out);

/* Room for the key in which a master notes which sales it may have forgotten (stock_lineage.lua). `slot` < 0: there is
 * no cluster. */
typedef struct {
	char text[sizeof DLOCK_EPOCH_KEY ":{}:stocks" + DLOCK_SLOT_TAG_LEN];
} dlock_lineage_key;

dlock_arg dlock_lineage_of(int slot, dlock_lineage_key *out);

typedef struct {
	char text[sizeof DLOCK_SEEN_KEY ":{}" + DLOCK_SLOT_TAG_LEN];
} dlock_seen_key;

dlock_arg dlock_seen_of(dlock_keys keys, dlock_seen_key *out);

/* NULL, or why prefix and resource must not form the key of a lock or a stock, to follow the argument's name: dlock
 * keeps such a key beside the locks, or it may be the queue or the waiters of another lock. */
const char *dlock_key_refuse(dlock_arg prefix, dlock_arg resource);

/* Builds keys with one prefix, for one resource at a time. */
typedef struct dlock_key_builder dlock_key_builder;

/* `longest`: bytes of the longest resource. NULL when out of memory. The caller frees the builder with free(). */
dlock_key_builder *dlock_key_builder_new(const char *prefix, size_t prefix_len, size_t longest);

/* From now on, builds keys for a cluster: all keys of a resource are in the lock's slot. */
void dlock_key_builder_use_slots(dlock_key_builder *builder);

/* The slot of a resource in a cluster. */
int dlock_key_builder_slot_of(dlock_key_builder *builder, dlock_name resource);

/* The fence and the epoch of a slot; the other keys are empty. Valid until the next call. */
dlock_keys dlock_key_builder_slot(dlock_key_builder *builder, int slot);

/* NULL, or the reason why the resource's key cannot be a lock; see refuse() in lock/backend.h. */
const char *dlock_key_builder_refuse(const dlock_key_builder *builder, const char *resource, size_t len);

/* The keys of a resource, valid until the next call. */
dlock_keys dlock_key_builder_keys(dlock_key_builder *builder, const char *resource, size_t len);

/* The keys of several resources, which later calls do not change. NULL when out of memory. */
dlock_several_keys *dlock_key_builder_several(dlock_key_builder *builder, const dlock_name *names, int count);

/* The key of what the holder says about itself. `keys` must be the builder's last ones; the result is valid as long as
 * they are. */
dlock_arg dlock_key_builder_held(dlock_key_builder *builder, dlock_keys keys);

#endif
