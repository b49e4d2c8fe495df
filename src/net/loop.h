#ifndef DLOCK_LOOP_H
#define DLOCK_LOOP_H

#include "../base/error.h"
#include "../base/process.h"
#include "../base/wait.h"
#include "sleepers.h"
#include "task.h"

/* A loop sleeps for tasks. Each thread that talks to servers has one; only its sleep is different in the renewal
 * thread.
 *
 * In each turn, the loop steps all tasks and writes what they have sent. Then the thread sleeps once for all of them:
 * until a source can be read or written, until the time of a source or a task, or until the end. Only the functions
 * that are said to sleep may do so; no function that a loop calls does. */

typedef struct dlock_loop dlock_loop;
typedef struct dlock_source dlock_source;

/* What can be polled: a connection or a bell. Members may be NULL, except the first. */
typedef struct {
	/* Sets what to poll; -1: only the timer counts. False: nothing is under way, and the next three are not called. */
	bool (*poll)(const dlock_source *source, struct pollfd *fd);

	/* The descriptor is ready: continues as far as it can. */
	void (*advance)(dlock_source *source);

	/* expire() gives up what lasts too long. timer() says when to call it; DLOCK_FOREVER: never. */
	void (*expire)(dlock_source *source);
	dlock_nanos (*timer)(const dlock_source *source);

	/* Called around the steps of a turn: what the tasks send is written at the end. */
	void (*begin_turn)(dlock_source *source);
	void (*end_turn)(dlock_source *source);
} dlock_source_ops;

/* The first member of each source's own struct, or a member of it. */
struct dlock_source {
	const dlock_source_ops *ops;
	dlock_source *next; /* the loop's, and so is the next member */
	bool polled;

	/* How many events have come for which tasks may wait, counted by the source's owner; and the number at the
	 * beginning of the turn. An event may come within a turn: sending fails, or a task that checks for the connection's
	 * end before it sends reads something. Then tasks that were stepped before need another turn. */
	unsigned long news, news_before;
};

/* The source by which other threads wake the loop. */
typedef struct {
	dlock_source source;
	const dlock_wakeup *wakeup;
	dlock_process process; /* in a child of fork(), only the parent hears it */
} dlock_bell;

/* Continues the task. Returns its status, or DLOCK_PENDING. `now` is the time at which the turn began. */
typedef dlock_status dlock_step(void *task, dlock_loop *loop, dlock_nanos now);

/* A task that no caller waits for; a member of its own struct. */
typedef struct dlock_adopted {
	dlock_step *step;
	void (*done)(
		void *task); /* the task has ended, or is a parent's, and may be freed; NULL: no owner is told */
	void *task;
	dlock_loop *loop; /* NULL: no loop steps it */
	dlock_process process;
	struct dlock_adopted *next;
} dlock_adopted;

/* A zeroed loop has no sources and no tasks. */
struct dlock_loop {
	dlock_source *sources;
	dlock_adopted *adopted; /* in the order in which they came */
	dlock_adopted *stepped; /* the next to be stepped in this turn; NULL: none */
	dlock_sleepers sleepers; /* the strand that runs the loop steps their tasks, too */

	/* Set by the tasks of this turn: when one of them wants to continue even if nothing comes; whether something has
	 * happened for which another task may wait; whether signals may interrupt the thread's sleep. */
	dlock_nanos wake;
	bool again, lent;

	struct pollfd *fds;
	int room;

	/* NULL: dlock_wait_poll(). */
	int (*sleep)(dlock_loop *loop, struct pollfd *fds, int count, dlock_nanos until, const dlock_wait *wait);
};

/* Frees the loop's own memory and descriptors. Tasks and sources belong to their owners. */
void dlock_loop_end(dlock_loop *loop);

void dlock_loop_add_source(dlock_loop *loop, dlock_source *source);
void dlock_loop_remove_source(dlock_loop *loop, dlock_source *source);

/* Handles what has come, or has failed, since the loop last ran. */
void dlock_source_catch_up(dlock_source *source);

void dlock_loop_add_bell(dlock_loop *loop, dlock_bell *bell, const dlock_wakeup *wakeup);

/* Adopts a task: the loop steps it in each turn, from the next one on, until it ends. A child of fork() forgets it. If
 * a loop has the task already, nothing changes. */
void dlock_loop_adopt(
	dlock_loop *loop, dlock_adopted *adopted, dlock_step *step, void (*done)(void *task), void *task);
/* No loop steps the task any more. `done` is not called. */
void dlock_loop_forget(dlock_adopted *adopted);

/* ---- for callers that wait: these may sleep ---- */

/* Runs the task until it ends, and returns its status. DLOCK_TIMEOUT: `until` has come, or nothing is under way that
 * the task could wait for. DLOCK_INTERRUPTED: wait->interrupted() is true while the task lends the thread, or its
 * suspension was canceled. After either, the caller may run the task again or drop it. If `wait` is NULL, nothing
 * interrupts the task. With wait->suspend, other strands run while the thread would sleep, and may run the loop
 * themselves. */
dlock_status dlock_loop_run(
	dlock_loop *loop, dlock_step *step, void *task, dlock_nanos until, const dlock_wait *wait);

/* Runs the loop until over(context) is true. False: it is not true by `until`, or nothing is under way. */
bool dlock_loop_await(dlock_loop *loop, bool (*over)(void *context), void *context, dlock_nanos until);

/* Lends the thread until `until`. Returns DLOCK_TIMEOUT or DLOCK_INTERRUPTED. */
dlock_status dlock_loop_pause(dlock_loop *loop, dlock_nanos until, const dlock_wait *wait);

/* Forgets the strands that are suspended in the loop, and steps their tasks no more: they never resume. */
void dlock_loop_forget_sleepers(dlock_loop *loop);

/* ---- for steps ---- */

/* The task wants to continue by then even if nothing comes. Each step that returns DLOCK_PENDING has to say so
 * again. */
static inline void dlock_loop_wake_by(dlock_loop *loop, dlock_nanos time)
{
	loop->wake = dlock_earlier(time, loop->wake);
}

/* Has `time` come? If not, the loop steps the task again by then. */
static inline bool dlock_loop_is_time(dlock_loop *loop, dlock_nanos time, dlock_nanos now)
{
	dlock_loop_wake_by(loop, time);
	return now >= time;
}

/* The task waits for another client or thread, not for a server, and that may last long. So signals interrupt the
 * sleep, and other strands run at once. */
static inline void dlock_loop_lend(dlock_loop *loop)
{
	loop->lent = true;
}

#endif
