#ifndef DLOCK_REDIS_RESTART_GUARD_H
#define DLOCK_REDIS_RESTART_GUARD_H

#include "conn.h"

/* The restart guard of a quorum. A server that was restarted has forgotten the locks that it had given its vote, unless it
 * keeps them on disk, and could give another one within the same lease. So its yes does not count before it has been up for
 * as long as a lease may last: then whatever it has forgotten is over.
 *
 * It is judged as of the beginning of the attempt, when the fencing token was proposed. A server that comes of age between that
 * and its vote could else make a quorum with a proposal that is older than what it has forgotten (models/fencing.pml).
 *
 * Where all servers were started together and all of them say yes, all vote: somebody has just set them up, or they all went down,
 * and nobody is left who could tell. That they are all young is not enough: a lock may have been acquired between the restart of one
 * and those of the others. A server that is out of reach may be an old one. And a single no shows that a lock has been taken since:
 * one of those that say yes may have given its vote to it, and have been restarted once more. While all have to say yes, whoever
 * holds a lock is safe as long as one server of its majority remembers it. */
typedef struct {
	dlock_nanos begun;       /* the attempt: whether a server is old enough is judged as of then */
	dlock_nanos least;       /* what a server must have been up for; 0: nothing is asked */
	bool by_ttl;             /* it is the lease time asked for, not the setting */
	int known;               /* servers that have answered and said how long they have been up */
	dlock_nanos first, last; /* when the first and the last of these were started */
} dlock_guard;

/* The longer one of the setting and the lease time asked for counts; a setting of 0 switches it off. */
void dlock_guard_begin(dlock_guard *guard, dlock_nanos setting, dlock_nanos ttl);

/* Takes note of what an answered call says of its server. Returns when the server has, or had, been up for long enough;
 * DLOCK_FOREVER where it does not say. Its vote counts where that was before guard->begun. */
dlock_nanos dlock_guard_note(dlock_guard *guard, const dlock_call *call);

/* Are these `servers`, of which this many were noted, a set that was started together? */
bool dlock_guard_is_new_set(const dlock_guard *guard, int servers);

/* Why the vote of this server does not count. */
void dlock_guard_explain(const dlock_guard *guard, dlock_nanos of_age, const dlock_conn *conn, dlock_error *error);

#endif
