#ifndef DLOCK_ZK_QUEUE_H
#define DLOCK_ZK_QUEUE_H

#include "claim.h"

/* A claim's position among the nodes of its resource (rank.h), and the wait for its turn, by watches. */

/* Finds out where a PRESENT claim stands, and waits where it is not granted yet. DLOCK_OK: look at the phase, and ask
 * again while it is PRESENT. DLOCK_TIMEOUT where it had to wait and the deadline has passed. */
dlock_status dlock_zk_queue_wait(dlock_zk_claim *claim, const dlock_wait *wait, dlock_error *error);

#endif
