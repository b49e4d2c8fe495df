#ifndef DLOCK_ZK_RANK_H
#define DLOCK_ZK_RANK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../../lock/backend.h"

/* Who holds a resource, and who waits for what: read from the names of its nodes alone, in the order of their numbers.
 *
 * Each node asks for a number of permits and says how many there are in all. It holds them when it and the nodes before
 * it fit, and each of those holds its own. Numbers only rise, so what was once true of a node stays true as long as it
 * is there, and permits are given in the order in which they were asked for.
 *
 *     _c_<guid>-lock-<number>        a lock: the one permit that there is
 *     _c_<guid>-3-of-10-<number>     a semaphore's
 *     _c_<guid>-__READ__<number>     a reader, as Curator names it; <guid>__rlock__<number> as kazoo does
 *     _c_<guid>-__WRIT__<number>     a writer: all permits
 *
 * Any other name with a number is another client's lock: all permits. A name without one takes no part. */

typedef enum { DLOCK_ZK_LOCK, DLOCK_ZK_SEMAPHORE, DLOCK_ZK_READ_WRITE } dlock_zk_kind;

enum { DLOCK_ZK_LABEL_SIZE = 32 };

/* The part of a node's name between guid and number. Of readers and writers, a request for all is a writer's. */
void dlock_zk_label(dlock_zk_kind kind, int64_t permits, int64_t capacity, char label[DLOCK_ZK_LABEL_SIZE]);

/* Where a node stands. */
typedef struct {
	bool present; /* is it there at all? */
	bool granted; /* does it hold what it asks for? */
	/* If not: it will not before one of these nodes goes. There is no smaller set of which that is true, and of the
	 * sets of this size it is the one that comes last: what is next to go is not what comes first where holders end in
	 * any order. */
	const char **obstacles;
	int count;
} dlock_zk_rank;

/* Finds the node named `mine` among the children, by its whole name: numbers start again when the server has removed
 * the resource's node in between. The names in `rank` are those of `children`. False: out of memory. */
bool dlock_zk_rank_find(dlock_zk_rank *rank, dlock_zk_kind kind, char *const *children, int count, const char *mine);
void dlock_zk_rank_free(dlock_zk_rank *rank);

/* One of those that hold or wait, as its name says. */
typedef struct {
	const char *name;
	int64_t permits;
	bool granted;
	bool shown; /* the caller's */
} dlock_zk_in_line;

/* All of them in order; the names are those of `children`. To be freed; NULL: out of memory. */
dlock_zk_in_line *dlock_zk_line_up(dlock_zk_kind kind, char *const *children, int count, int *length);

/* Is a node of this name a lock's, not a semaphore's, a reader's or a writer's? */
bool dlock_zk_is_lock(const char *name);

/* The permits that are held. Negative: out of memory. */
int64_t dlock_zk_held_permits(dlock_zk_kind kind, char *const *children, int count);

#endif
