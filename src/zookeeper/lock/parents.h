#ifndef DLOCK_ZK_PARENTS_H
#define DLOCK_ZK_PARENTS_H

#include "../session/pool.h"
#include "../session/session.h"

/* The nodes above a claim's own: the chroot, the root, and the resource's container. */

/* Makes what is missing of the chroot, of `root` and of the resource's node `parent`. DLOCK_OK: try again what failed,
 * once the session is connected. The chroot and the root are persistent and open to all. `parent` is a container where
 * the server knows them, and with credentials theirs alone: another user that may delete in it could take away a
 * lock. */
dlock_status dlock_zk_make_parents(dlock_zk_pool *pool, dlock_zk_session *session, const char *root, const char *parent,
	const dlock_wait *wait, dlock_error *error);

#endif
