#ifndef DLOCK_REDIS_SLOT_H
#define DLOCK_REDIS_SLOT_H

#include <stddef.h>

/* The hash slots of Redis Cluster (https://redis.io/docs/latest/operate/oss_and_stack/reference/cluster-spec/): a node
 * has whole slots, and the keys of a script must be in one slot. */

enum { DLOCK_SLOTS = 16384, DLOCK_SLOT_TAG_LEN = 3 };

/* CRC16 (XMODEM) of the key, or of its hash tag if it has one, modulo DLOCK_SLOTS. */
int dlock_slot_of(const char *key, size_t len);

/* A hash tag for the slot: three of [A-Za-z0-9], the same in every process. A key with the tag in braces is in the
 * slot. So keys that are not a lock's own are needed once for each slot, not for each lock. */
void dlock_slot_tag(int slot, char tag[DLOCK_SLOT_TAG_LEN + 1]);

#endif
