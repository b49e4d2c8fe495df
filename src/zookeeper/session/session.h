#ifndef DLOCK_ZK_SESSION_H
#define DLOCK_ZK_SESSION_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#ifndef THREADED
#define THREADED
#endif
#include <zookeeper/zookeeper.h>

#include "../../net/loop.h"

/* A ZooKeeper session: what its threads know of it, and how its owner waits for news.
 *
 * Threads: the owner (the PHP thread, which sleeps only in its loop), the session's own thread (session_thread.c: opens
 * the handle, probes, deletes unowned nodes, closes the handle; it sleeps in a loop of its own) and the library's two,
 * which run watchers and completions. All share the session's mutex. It is never held while the library is called: the
 * library calls some completions with its own locks held.
 *
 * What is promised about the life of a session, and so about every lock held in it:
 *
 * A session lives on the server until the negotiated timeout has passed since the server last heard of it. The client
 * library pings by itself but does not report when it was answered, so each session has a thread of its own that asks
 * for a `sync` every quarter of the timeout. When such a probe is answered, the session is good until
 *
 *     send time of the probe BEFORE the answered one + negotiated timeout - drift (1 % + 2 ms)
 *
 * by a clock that goes on during suspend. So the bound needs no event to arrive: a process that was stopped, or whose
 * threads did not get to run, finds the deadline passed when it first looks.
 *
 * Why a sync: a plain read is answered by the server that the client is connected to, even while that server is cut off
 * from its leader, which alone decides about expiry. A sync is answered by the leader, and only for a session that
 * lives. Why the probe before: the leader hears of a follower's sessions with the next ping between the two (every half
 * tick), not with the request itself. Ping and sync go over the same ordered channel, and a probe is at least a quarter
 * of the timeout (by default at least half a tick) younger than the one before it. If that one failed, a reconnection
 * lies between the two, which the leader counts as a sign of life by itself. The creation of the session counts as a
 * probe.
 *
 * Not promised: anything where minSessionTimeout was configured below two ticks, or where the clocks of client and
 * leader differ in speed by more than 1 %. For that there are fencing tokens. */

typedef struct dlock_zk_session dlock_zk_session;

typedef enum {
	DLOCK_ZK_OPENING,
	DLOCK_ZK_CONNECTED,
	DLOCK_ZK_DISCONNECTED,
	/* From here on the session is dead and the next use opens another one. */
	DLOCK_ZK_EXPIRED,
	DLOCK_ZK_AUTH_FAILED,
	DLOCK_ZK_REFUSED /* the library did not even start: see reason */
} dlock_zk_state;

struct dlock_zk_session {
	/* The owner's alone. */
	dlock_zk_session *next;
	unsigned references; /* of the pool and of claims */
	dlock_loop *loop;    /* in which it sleeps */
	dlock_bell bell;     /* a source of it while a caller waits */

	/* Fixed when the threads start. */
	char *hosts;    /* as the user wrote them; for messages too */
	char *expanded; /* as the library wants them */
	char *auth;     /* or NULL */
	dlock_nanos asked;
	dlock_process process;
	pthread_t thread;
	dlock_wakeup owner_wakeup, thread_wakeup;
	pthread_mutex_t mutex;

	dlock_loop thread_loop; /* its thread's alone; here it stays reachable in a child of fork() */
	char *given;             /* the hosts that the library has; likewise */
	bool auth_given;        /* the library's completion thread's alone */

	/* Below: under the mutex. */
	zhandle_t *handle; /* usable by the owner until it discards the session */
	dlock_zk_state state;
	bool stop, ended;       /* the owner wants the thread to end; it has */
	int64_t id;
	dlock_nanos timeout;    /* negotiated; 0 before the first connection */
	dlock_nanos cut_off;    /* since when there is no connection, or none that answers */
	bool awaited;           /* a call has waited for one since, without success */
	char reason[256];       /* why there is none, as far as known */

	bool probing;
	dlock_nanos probe_due;
	dlock_nanos probe_sent;  /* of the probe under way or, if none is, of the last one */
	dlock_nanos before_sent; /* of the one before */
	dlock_nanos lived;       /* the bound counts from here */

	struct dlock_zk_rest *rests; /* what the owner's strands wait for */
	/* Changes of state, a bound that had passed, the last unowned node's end. */
	unsigned long events;
	struct dlock_zk_watch *watches; /* what waits under way are for */
	struct dlock_zk_op *ops; /* those that the library still owes a response */
	struct dlock_zk_node *own_nodes, *unowned_nodes;
	struct dlock_zk_node *own_next; /* to be asked for in the round under way */
	bool own_lost;                  /* one was found gone */
};

/* Opens a session, with one reference. NULL: *problem is an errno. */
dlock_zk_session *dlock_zk_session_new(
	dlock_loop *loop, const char *hosts, dlock_nanos timeout, const char *auth, int *problem);

void dlock_zk_session_release(dlock_zk_session *session); /* NULL is fine */

/* Waits for the connection, until `latest` or until interrupted. One that has just been opened or cut off gets the
 * session timeout for it, whatever the caller's: there may be servers to go through. After that had no success, only a
 * caller that has time waits again. DLOCK_LOST without a message: the session is dead, get another one. */
dlock_status dlock_zk_session_connect(dlock_zk_session *session, dlock_nanos latest, const dlock_wait *wait,
	dlock_error *error);

/* What is told to one waiter alone: that a node has gone, or changed, which it has watched. Zeroed at first. */
typedef struct {
	unsigned long events; /* under the mutex */
} dlock_zk_news;

/* A consistent picture of the session, and until when it can be relied upon to live. */
typedef struct {
	dlock_zk_state state;
	dlock_nanos deadline;
	int64_t id;
	unsigned long events;
	bool has_unowned, ended;
} dlock_zk_view;

dlock_zk_view dlock_zk_session_view(dlock_zk_session *session);

/* Until when the session lives at least, with the mutex held. */
dlock_nanos dlock_zk_session_deadline(const dlock_zk_session *session);

/* How many events there were of the session, and of the news; NULL: none. */
unsigned long dlock_zk_session_events(dlock_zk_session *session, const dlock_zk_news *news);

/* What is waited for: *done, which is under the mutex; or, without a `done`, other events than `seen`. */
typedef struct dlock_zk_rest {
	const bool *done;
	const dlock_zk_news *news; /* NULL: the session's events alone */
	unsigned long seen;
	/* Set while it is waited for. */
	dlock_zk_session *session;
	const dlock_wait *wait;
	const dlock_wakeup *bell; /* of the suspended strand; NULL: the owner's is rung. Under the mutex, as the next */
	struct dlock_zk_rest *next;
} dlock_zk_rest;

/* Waits for it. DLOCK_OK, DLOCK_TIMEOUT or DLOCK_INTERRUPTED. */
dlock_status dlock_zk_session_await(
	dlock_zk_session *session, dlock_zk_rest rest, dlock_nanos until, const dlock_wait *wait);

/* No waiting strand goes on. */
void dlock_zk_session_forget_rests(dlock_zk_session *session);

/* Starts its thread, which closes the handle when session->stop is set. 0, or an errno. */
int dlock_zk_session_start(dlock_zk_session *session);

/* With the mutex held: counts an event, of the news, or where they are NULL of the session, and wakes the owner if it
 * waits for one. */
void dlock_zk_session_event(dlock_zk_session *session, dlock_zk_news *news);

/* The same for what is done. */
void dlock_zk_session_done(dlock_zk_session *session, const bool *done);

#endif
