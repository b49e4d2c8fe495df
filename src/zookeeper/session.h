#ifndef DLOCK_ZK_SESSION_H
#define DLOCK_ZK_SESSION_H

#include "../base/clock.h"
#include "options.h"

/* The ZooKeeper sessions of one thread: one per ensemble, session timeout and credentials, kept over requests.
 *
 * What is promised about the life of a session, and so about every lock held in it:
 *
 * A session lives on the server until the negotiated timeout has passed since the server last heard of it. The client
 * library pings by itself but does not tell when it was answered, so each session has a thread of its own that asks for
 * a `sync` every quarter of the timeout. When such a probe is answered, the session is good until
 *
 *     send time of the probe BEFORE the answered one + negotiated timeout - drift (1 % + 2 ms)
 *
 * by a clock that goes on during suspend. So the bound needs no event to arrive: a process that was stopped, or whose
 * threads did not get to run, finds the deadline passed when it first looks.
 *
 * Why a sync: a plain read is answered by the server that the client is connected to, even while that server is cut off
 * from its leader, who alone decides about expiry. A sync is answered by the leader, and only for a session that lives.
 * Why the probe before: the leader hears of a follower's sessions with the next ping between the two (every half tick),
 * not with the request itself. Ping and sync go over the same ordered channel, and a probe is at least a quarter of the
 * timeout (by default at least half a tick) younger than the one before it. If that one failed, a reconnection lies
 * between the two, which the leader counts as a sign of life by itself. The creation of the session counts as a probe.
 *
 * Not promised: anything where minSessionTimeout was configured below two ticks, or where the clocks of client and
 * leader differ in speed by more than 1 %. For that there are fencing tokens. */
typedef struct dlock_zk_pool dlock_zk_pool;

/* NULL when out of memory. */
dlock_zk_pool *dlock_zk_pool_new(void);

/* Waits until what was abandoned is deleted on the servers, or until `deadline`. */
void dlock_zk_pool_drain(dlock_zk_pool *pool, dlock_nanos deadline);

/* Closes the sessions of this process; those inherited from a parent are left alone. The servers delete what is left of
 * a session at once then. Takes up to 8 s where a server or a resolver does not answer; a thread that has not come back
 * from the client library by then stays behind, so the code must stay loaded until the process ends.
 * Claims may be freed afterwards, but nothing else may be done with them. */
void dlock_zk_pool_free(dlock_zk_pool *pool);

/* How many sessions were opened so far, reopened ones included. */
unsigned long dlock_zk_pool_sessions_opened(const dlock_zk_pool *pool);

#endif
