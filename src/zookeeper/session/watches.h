#ifndef DLOCK_ZK_WATCHES_H
#define DLOCK_ZK_WATCHES_H

#include <stdbool.h>

/* A list of the nodes that the server has been asked to watch, and of which it has told nothing since. An event of any
 * other node is what is left of a wait that has ended. A wait that goes on asks only for the watches that it has not
 * got yet. */

typedef struct dlock_zk_watch *dlock_zk_watches; /* NULL: none */

/* False: out of memory. */
bool dlock_zk_watches_add(dlock_zk_watches *watches, const char *path);

bool dlock_zk_watches_has(dlock_zk_watches *watches, const char *path);

/* Forgets this one; false: it was none. */
bool dlock_zk_watches_take(dlock_zk_watches *watches, const char *path);

/* Forgets all but these. */
void dlock_zk_watches_keep(dlock_zk_watches *watches, char *const *paths, int count);

#endif
