#ifndef DLOCK_REDIS_SLOT_H
#define DLOCK_REDIS_SLOT_H

#include <stddef.h>

/* The hash slots of Redis Cluster (https://redis.io/docs/latest/operate/oss_and_stack/reference/cluster-spec/): a node
 * has whole slots, and a script's keys must be in one. */

enum { DLOCK_SLOTS = 16384, DLOCK_SLOT_TAG_LEN = 3 };

/* CRC16 (XMODEM) of the key, or of its hash tag where it has one, modulo DLOCK_SLOTS. */
int dlock_slot_of(const char *key, size_t len);

/* A hash tag for the slot: three of [A-Za-z0-9], the same in every process. What has it in braces is in the slot, so
 * that keys that are not a lock's own need not be one for each lock. */
void dlock_slot_tag(int slot, char tag[DLOCK_SLOT_TAG_LEN + 1]);

#endif
