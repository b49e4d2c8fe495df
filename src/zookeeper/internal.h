#ifndef DLOCK_ZK_INTERNAL_H
#define DLOCK_ZK_INTERNAL_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#ifndef THREADED
#define THREADED
#endif
#include <zookeeper/zookeeper.h>

#include "../base/wakeup.h"
#include "../base/process.h"
#include "../base/wait.h"
#include "session.h"

/* What the files of this folder share with each other and with the backend.
 *
 * Threads: the owner (the PHP thread, which sleeps only in dlock_wait_poll()), the session's own thread (opens the
 * handle, probes, deletes what was left, closes the handle) and the library's two, which run watchers and completions.
 * All share the session's mutex. It is never held while the library is called: the library calls some completions with
 * its own locks held. */

typedef struct dlock_zk_session dlock_zk_session;
typedef struct dlock_zk_op dlock_zk_op;
typedef struct dlock_zk_orphan dlock_zk_orphan;

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

	/* Fixed when the threads start. */
	char *hosts;    /* as the user wrote them; for messages too */
	char *expanded; /* as the library wants them */
	char *auth;     /* or NULL */
	dlock_nanos asked;
	dlock_process process;
	pthread_t thread;
	dlock_wakeup owner_wakeup, thread_wakeup;
	pthread_mutex_t mutex;

	bool auth_given; /* the library's completion thread's alone */

	/* Below: under the mutex. */
	zhandle_t *handle; /* usable by the owner until it retires the session */
	dlock_zk_state state;
	bool stop, ended;       /* the owner wants the thread to end; it has */
	int64_t id;
	dlock_nanos timeout;    /* negotiated; 0 before the first connection */
	unsigned long connections;
	dlock_nanos cut_off;    /* since when there is no connection, or none that answers */
	bool awaited;           /* a call has waited for one since, in vain */
	char reason[256];       /* why there is none, as far as known */

	bool probing;
	dlock_nanos probe_due;
	dlock_nanos probe_sent;  /* of the probe under way or, if none is, of the last one */
	dlock_nanos before_sent; /* of the one before */
	dlock_nanos lived;       /* the bound counts from here */

	const void *sleeper;    /* what the owner sleeps for: an op, or the session itself for its events; NULL: awake */
	unsigned long events;   /* changes of state, of the node watched, a bound that had passed, the last orphan's end */
	char *watched;
	dlock_zk_op *ops;       /* those that the library still owes an answer */
	dlock_zk_orphan *orphans;
};

/* session.c. The pool's session for these options, opened if need be: does not wait. The caller gets a reference. */
dlock_zk_session *dlock_zk_session_get(dlock_zk_pool *pool, const char *hosts, dlock_nanos timeout, const char *auth,
	dlock_error *error);
void dlock_zk_session_release(dlock_zk_session *session);

/* Waits for the connection, until `latest` or until interrupted. One that has just been opened or cut off gets the session timeout
 * for it, whatever the caller's: there may be servers to go through. Where it has had that in vain, only who has time waits again.
 * DLOCK_LOST without a message: the session is dead, get another one. */
dlock_status dlock_zk_session_connect(dlock_zk_session *session, dlock_nanos latest, const dlock_wait *wait,
	dlock_error *error);

/* Tells the session's thread to close it; the pool forgets it. For sessions that are dead or no longer needed. */
void dlock_zk_session_retire(dlock_zk_pool *pool, dlock_zk_session *session);

/* A consistent picture of the session, and until when it can be relied upon to live. */
typedef struct {
	dlock_zk_state state;
	dlock_nanos deadline;
	int64_t id;
	unsigned long events;
} dlock_zk_view;

dlock_zk_view dlock_zk_session_view(dlock_zk_session *session);

/* Until when the session lives at least, with the mutex held. */
dlock_nanos dlock_zk_session_deadline(const dlock_zk_session *session);

/* Sleeps until session->events is not `seen` any more: DLOCK_OK, DLOCK_TIMEOUT or DLOCK_INTERRUPTED. */
dlock_status dlock_zk_session_await(dlock_zk_session *session, unsigned long seen, dlock_nanos until,
	const dlock_wait *wait);

/* With the mutex held: counts an event and wakes the owner if it sleeps for one. */
void dlock_zk_session_event(dlock_zk_session *session);

/* Says where hosts can be reached and why not, for session->reason; takes `budget` at most. */
void dlock_zk_diagnose(const char *expanded, dlock_nanos budget, char *reason, size_t size);

/* op.c. One request to the server. It belongs to the caller and to the library until the answer came, so the caller can
 * give up at any time. Fields other than `done` are fixed once it is done. */
struct dlock_zk_op {
	dlock_zk_op *previous, *next;
	dlock_zk_session *session;
	unsigned references; /* under the session's mutex, like done */
	bool done;
	int rc;
	struct Stat stat;
	char *path;     /* of the created node */
	char **children;
	int children_count;
};

/* Each sends its request and returns at once; a request that cannot be sent is done already. NULL: out of memory. */
dlock_zk_op *dlock_zk_create(dlock_zk_session *session, const char *path, const struct ACL_vector *acl, int mode);
dlock_zk_op *dlock_zk_list(dlock_zk_session *session, const char *path);
dlock_zk_op *dlock_zk_exists(dlock_zk_session *session, const char *path);
dlock_zk_op *dlock_zk_delete(dlock_zk_session *session, const char *path);
dlock_zk_op *dlock_zk_sync(dlock_zk_session *session, const char *path);
/* The session counts an event when the node goes, or when its children change (the op lists them). There is one watched
 * node at a time, the last one. */
dlock_zk_op *dlock_zk_watch(dlock_zk_session *session, const char *path);
dlock_zk_op *dlock_zk_watch_children(dlock_zk_session *session, const char *path);

/* DLOCK_OK: done. DLOCK_TIMEOUT, DLOCK_INTERRUPTED. */
dlock_status dlock_zk_op_wait(dlock_zk_op *op, dlock_nanos until, const dlock_wait *wait);
void dlock_zk_op_release(dlock_zk_op *op); /* NULL is fine */

/* After the handle is closed: nothing is owed any more. */
void dlock_zk_ops_forget(dlock_zk_session *session);

/* Did the library answer for the server because the connection broke? Then the request may have been executed. */
bool dlock_zk_is_loss(int rc);
/* ... because the session is over? */
bool dlock_zk_is_dead(int rc);

/* The watcher of the session and of all nodes. */
void dlock_zk_session_watch(zhandle_t *handle, int type, int state, const char *path, void *session);

/* orphan.c. Nodes that nobody waits for any more: deleted in the background, over and over until the server answered
 * or the session is over. The first attempt is made at once, before any later request of the caller. */
void dlock_zk_orphan_node(dlock_zk_session *session, const char *path);
/* The node of this guid, if there is one: its creation was not answered. */
void dlock_zk_orphan_guid(dlock_zk_session *session, const char *parent, const char *guid);
void dlock_zk_orphans_send(dlock_zk_session *session);
void dlock_zk_orphans_forget(dlock_zk_session *session);

#endif
