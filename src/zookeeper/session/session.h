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
 * Threads: the owner is the PHP thread, which sleeps only in its loop. The session's own thread (session_thread.c)
 * opens the handle, probes, deletes unowned nodes and closes the handle; it sleeps in a loop of its own. The library's
 * two threads run watchers and completions. All share the session's mutex. No thread holds it while it calls the
 * library, because the library calls some completions with its own locks held.
 *
 * What is promised about the life of a session, and so about every lock held in it:
 *
 * A session lives on the server until the negotiated timeout has passed since the server last heard from it. The client
 * library pings by itself, but does not report when the server answered. So each session has a thread of its own, which
 * requests a `sync`, and the next one a quarter of the timeout after its answer. When such a probe is answered, the
 * session is good until
 *
 *     send time of the probe BEFORE the answered one + negotiated timeout - drift (1 % + 2 ms)
 *
 * by a clock that continues during suspend. So the bound needs no event to arrive. If a process was stopped, or its
 * threads did not run, it finds the deadline passed when it first looks.
 *
 * Why a sync: the client's server answers a plain read even while it is cut off from its leader, which alone decides
 * about expiry. The leader answers a sync, and only for a session that lives.
 *
 * Why the probe before: a request does not tell the leader of a follower's sessions. The next ping between the two
 * servers does (every half tick). Ping and sync use the same ordered channel. A probe follows the answer to the one
 * before it by at least a quarter of the timeout (at least half a tick), so a ping lies between the two, however late
 * the answer was. If the probe before failed, a reconnection lies between them, which the leader counts as a sign of
 * life by itself. The creation of the session counts as a probe.
 *
 * A leader that is partitioned from the majority still answers a sync if no transaction is under way. That is harmless
 * for a quarter of the timeout after the majority has a new leader, in which all sessions begin anew. If both sides
 * notice the partition by their own timeouts, the old leader steps down at most 0.85 ticks after that. If servers of
 * the majority restart meanwhile, it is syncLimit + 1 ticks.
 *
 * So nothing is promised during a partition of the leader if the timeout is below four ticks, or if servers of the
 * majority restart meanwhile. Nothing is promised either if minSessionTimeout is below two ticks, or if the clocks of
 * client and leader differ in speed by more than 1 %. Fencing tokens cover these cases. */

typedef struct dlock_zk_session dlock_zk_session;

typedef enum {
	DLOCK_ZK_OPENING,
	DLOCK_ZK_CONNECTED,
	DLOCK_ZK_DISCONNECTED,
	/* From here on the session is dead, and the next use opens another one. */
	DLOCK_ZK_EXPIRED,
	DLOCK_ZK_AUTH_FAILED,
	DLOCK_ZK_REFUSED /* the library did not even start: see `reason` */
} dlock_zk_state;

struct dlock_zk_session {
	/* For the owner alone. */
	dlock_zk_session *next;
	unsigned references; /* of the pool and of claims */
	dlock_loop *loop;    /* the loop in which the owner sleeps */
	dlock_bell bell;     /* a source of the loop while a caller waits */

	/* Fixed when the threads start. */
	char *hosts;    /* as the user wrote them; also for messages */
	char *expanded; /* in the form that the library needs */
	char *auth;     /* NULL: no credentials */
	dlock_nanos asked; /* the session timeout that the user asked for */
	dlock_process process;
	pthread_t thread;
	dlock_wakeup owner_wakeup, thread_wakeup;
	pthread_mutex_t mutex;

	dlock_loop thread_loop; /* for its thread alone; as a member it stays reachable in a child of fork() */
	char *given;             /* the hosts that the library uses; likewise */
	bool auth_given;        /* for the library's completion thread alone */

	/* The members below are under the mutex. */
	zhandle_t *handle; /* the owner may use it until it discards the session */
	dlock_zk_state state;
	bool stop, ended;       /* the owner wants the thread to end; the thread has ended */
	int64_t id;
	unsigned long connections; /* how often it was connected */
	dlock_nanos timeout;    /* negotiated; 0 before the first connection */
	dlock_nanos cut_off;    /* the time from which there is no connection, or none that answers */
	bool awaited;           /* a call has waited for a connection after that, without success */
	char reason[256];       /* why there is no connection, as far as known */

	bool probing;
	dlock_nanos probe_due;
	dlock_nanos probe_sent;  /* of the probe under way; otherwise of the last probe */
	dlock_nanos before_sent; /* of the probe before */
	dlock_nanos lived;       /* the bound counts from here */

	struct dlock_zk_rest *rests; /* the waits of the owner's strands */
	/* Counts changes of the state, probes answered after the bound had passed, own nodes found gone, and the end of the
	 * last unowned node. */
	unsigned long events;
	struct dlock_zk_watch *watches; /* the watches of the waits under way */
	struct dlock_zk_op *ops; /* the ops that the library still owes a response */
	struct dlock_zk_node *own_nodes, *unowned_nodes;
	struct dlock_zk_node *own_next; /* the next node to ask for in the round under way */
	bool own_lost;                  /* an own node was found gone */
};

/* Opens a session, with one reference. Returns NULL if that fails; *problem is an errno. */
dlock_zk_session *dlock_zk_session_new(
	dlock_loop *loop, const char *hosts, dlock_nanos timeout, const char *auth, int *problem);

void dlock_zk_session_release(dlock_zk_session *session); /* `session` may be NULL */

/* Waits for the connection, until `latest` at most. If the session was just opened or cut off, the wait may last for
 * the session timeout, whatever the caller's deadline. The library may have several servers to try. After such a wait
 * without success, a call waits only until the caller's deadline, and for the session timeout at most.
 *
 * `*left` is what an interrupted wait has left of its session timeout, or 0: a new wait begins. So interruptions do not
 * extend the wait, and what the caller does meanwhile does not use up the time.
 *
 * DLOCK_CONNECTION: with a message. DLOCK_INTERRUPTED: `wait` ended the wait. DLOCK_LOST, without a message: the
 * session is dead, and the caller needs another one. */
dlock_status dlock_zk_session_connect(dlock_zk_session *session, dlock_nanos latest, dlock_nanos *left,
	const dlock_wait *wait, dlock_error *error);

/* Returns what is left until then, at least 1. */
static inline dlock_nanos dlock_zk_left_until(dlock_nanos limit)
{
	dlock_nanos now = dlock_now();

	return now < limit ? limit - now : 1;
}

/* Says why there is no connection. Returns DLOCK_CONNECTION. */
dlock_status dlock_zk_session_no_connection(dlock_zk_session *session, dlock_error *error);

/* News for one waiter: a node that it watches has gone or changed. Zeroed at first. */
typedef struct {
	unsigned long events; /* under the mutex */
} dlock_zk_news;

/* A consistent picture of the session, which lives at least until `deadline`. */
typedef struct {
	dlock_zk_state state;
	dlock_nanos deadline;
	int64_t id;
	unsigned long events;
	bool has_unowned, ended;
} dlock_zk_view;

dlock_zk_view dlock_zk_session_view(dlock_zk_session *session);

/* Until when the session lives at least. The caller holds the mutex. */
dlock_nanos dlock_zk_session_deadline(const dlock_zk_session *session);

/* The number of events of the session and of the news. `news` may be NULL. */
unsigned long dlock_zk_session_events(dlock_zk_session *session, const dlock_zk_news *news);

/* What a strand waits for: *done, which is under the mutex. If `done` is NULL: events other than `seen`. */
typedef struct dlock_zk_rest {
	const bool *done;
	const dlock_zk_news *news; /* NULL: the session's events alone */
	unsigned long seen;
	/* Set during the wait. */
	dlock_zk_session *session;
	const dlock_wait *wait;
	const dlock_wakeup *bell; /* of the suspended strand; NULL: the owner's bell rings. Under the mutex, like `next` */
	struct dlock_zk_rest *next;
} dlock_zk_rest;

/* Waits for `rest` until `until`. Returns DLOCK_OK, DLOCK_TIMEOUT or DLOCK_INTERRUPTED. */
dlock_status dlock_zk_session_await(
	dlock_zk_session *session, dlock_zk_rest rest, dlock_nanos until, const dlock_wait *wait);

/* Forgets all waits: no waiting strand continues. */
void dlock_zk_session_forget_rests(dlock_zk_session *session);

/* Starts the session's thread, which closes the handle when session->stop is set. Returns 0 or an errno. */
int dlock_zk_session_start(dlock_zk_session *session);

/* Counts an event of the news, or of the session if `news` is NULL. Wakes the strands that wait for it. The caller
 * holds the mutex. */
void dlock_zk_session_event(dlock_zk_session *session, dlock_zk_news *news);

/* Wakes the strands that wait for *done. The caller holds the mutex. */
void dlock_zk_session_done(dlock_zk_session *session, const bool *done);

#endif
