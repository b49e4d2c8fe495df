#ifndef DLOCK_ZK_RANK_H
#define DLOCK_ZK_RANK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../../lock/backend.h"

/* Which nodes hold a resource, and which nodes a waiter waits for. Both follow from the names of the nodes alone, in
 * the order of their numbers.
 *
 * Each node asks for a number of permits and states how many there are in all. It holds its permits if it and the nodes
 * before it fit, and if each of those holds its own. Numbers only rise, so what was once true of a node stays true
 * while it exists. Clients are granted permits in the order in which they asked for them.
 *
 *     _c_<guid>-lock-<number>        a lock: the one permit that there is
 *     _c_<guid>-3-of-10-<number>     a semaphore: 3 of 10 permits
 *     _c_<guid>-__READ__<number>     a reader, as Curator names it; kazoo's name is <guid>__rlock__<number>
 *     _c_<guid>-__WRIT__<number>     a writer: all permits
 *
 * Any other name with a number is another client's lock: all permits. A node without a number does not count. */

typedef enum { DLOCK_ZK_LOCK, DLOCK_ZK_SEMAPHORE, DLOCK_ZK_READ_WRITE } dlock_zk_kind;

enum { DLOCK_ZK_LABEL_SIZE = 32 };

/* Writes the part of a node's name between guid and number, with a NUL. In a read/write lock, a request for all permits
 * is a writer's. */
void dlock_zk_label(dlock_zk_kind kind, int64_t permits, int64_t capacity, char label[DLOCK_ZK_LABEL_SIZE]);

/* The position of a node. */
typedef struct {
	bool present; /* it exists */
	bool granted; /* it holds what it asks for */
	/* If the node is not granted: it cannot be before one of these nodes goes. No smaller set has this property. Of the
	 * sets of this size, this one comes last: holders end in any order, so the first node need not go first. */
	const char **obstacles;
	int count;
} dlock_zk_rank;

/* Finds the node `mine` among the children by its whole name: numbers begin again if the server has removed the
 * resource's node in between. The names in `rank` are those of `children`; dlock_zk_rank_free() frees the rest. Returns
 * false if out of memory. */
bool dlock_zk_rank_find(dlock_zk_rank *rank, dlock_zk_kind kind, char *const *children, int count, const char *mine);
void dlock_zk_rank_free(dlock_zk_rank *rank);

/* A node that holds or waits, as its name states it. */
typedef struct {
	const char *name;
	int64_t permits;
	bool granted;
	bool shown; /* for the caller's use */
} dlock_zk_in_line;

/* Returns all nodes that hold or wait, in order; *length is their number. The names are those of `children`. The caller
 * frees the array. Returns NULL if out of memory. */
dlock_zk_in_line *dlock_zk_line_up(dlock_zk_kind kind, char *const *children, int count, int *length);

/* True if a node of this name is a lock's, not a semaphore's, a reader's or a writer's. */
bool dlock_zk_is_lock(const char *name);

/* Returns the number of permits that are held. Negative: out of memory. */
int64_t dlock_zk_held_permits(dlock_zk_kind kind, char *const *children, int count);

#endif
