#ifndef DLOCK_LOOP_H
#define DLOCK_LOOP_H

#include "../base/error.h"
#include "../base/process.h"
#include "../base/wait.h"
#include "sleepers.h"
#include "task.h"

/* Sleeps for tasks. Each thread that talks has one; the renewal thread's differs in nothing but its sleep.
 *
 * In each turn all tasks go on, what they have sent is written, and then the thread sleeps once, for everything that is
 * under way: until something can be read or written, until a source or a task wants to go on, or until the end. Only
 * what is said to may sleep here; nothing that is called by a loop does. */

typedef struct dlock_loop dlock_loop;
typedef struct dlock_source dlock_source;

/* Whatever can be polled: a connection, a bell. Members may be NULL, except the first. */
typedef struct {
	/* Sets what is to be polled; -1 where there is only time to wait for. False: nothing is under way, and the next
	 * three are not called. */
	bool (*poll)(const dlock_source *source, struct pollfd *fd);

	/* That is ready: goes on as far as it can. */
	void (*advance)(dlock_source *source);

	/* Gives up what takes too long; and when it has to be looked at for that: DLOCK_FOREVER for never. */
	void (*expire)(dlock_source *source);
	dlock_nanos (*timer)(const dlock_source *source);

	/* Around what the tasks of a turn send: it goes out at the end. */
	void (*begin_turn)(dlock_source *source);
	void (*end_turn)(dlock_source *source);
} dlock_source_ops;

/* The first member of each source's own struct, or a member of it. */
struct dlock_source {
	const dlock_source_ops *ops;
	dlock_source *next; /* the loop's, as the next */
	bool polled;

	/* How often something has come for which tasks may wait, which its owner counts; and at the beginning of a turn.
	 * What comes within one, as an error of what is sent, or as what is read by a task that sends and looks for the
	 * connection's end first, has those that were stepped before go on in another turn. */
	unsigned long news, news_before;
};

/* The one by which other threads ring. */
typedef struct {
	dlock_source source;
	const dlock_wakeup *wakeup;
	dlock_process process; /* in a child of fork() it is the parent's to hear */
} dlock_bell;

/* Goes on with the task: a status, or DLOCK_PENDING. */
typedef dlock_status dlock_step(void *task, dlock_loop *loop, dlock_nanos now);

/* A task no caller waits for; a member of its own struct. */
typedef struct dlock_adopted {
	dlock_step *step;
	void (*done)(
		void *task); /* it has come to something, or was a parent's, and may be freed; NULL: no owner is told */
	void *task;
	dlock_loop *loop; /* NULL: none has it */
	dlock_process process;
	struct dlock_adopted *next;
} dlock_adopted;

/* Zeroed it has no sources and no tasks. */
struct dlock_loop {
	dlock_source *sources;
	dlock_adopted *adopted; /* in the order in which they came */
	dlock_adopted *stepped; /* the next of them in this turn; NULL: none */
	dlock_sleepers sleepers; /* whose tasks are stepped by the strand that runs the loop meanwhile */

	/* Of this turn, by its tasks: when one of them wants to go on though nothing has come; whether something has
	 * happened in it that others may have waited for; and whether the thread may be interrupted in its sleep. */
	dlock_nanos wake;
	bool again, lent;

	struct pollfd *fds;
	int room;

	/* NULL: dlock_wait_poll(). */
	int (*sleep)(dlock_loop *loop, struct pollfd *fds, int count, dlock_nanos until, const dlock_wait *wait);
};

/* Frees what it has for itself. Tasks and sources are their owners'. */
void dlock_loop_end(dlock_loop *loop);

void dlock_loop_add_source(dlock_loop *loop, dlock_source *source);
void dlock_loop_remove_source(dlock_loop *loop, dlock_source *source);

/* Takes in what has come to it, or has failed, since the loop ran last. */
void dlock_source_catch_up(dlock_source *source);

void dlock_loop_add_bell(dlock_loop *loop, dlock_bell *bell, const dlock_wakeup *wakeup);

/* Takes a task over, and steps it in each turn, from the next one on, until it comes to something. In a child of fork()
 * it is forgotten. Nothing where it has it already. */
void dlock_loop_adopt(
	dlock_loop *loop, dlock_adopted *adopted, dlock_step *step, void (*done)(void *task), void *task);
/* Does not step it any more. */
void dlock_loop_forget(dlock_adopted *adopted);

/* ---- for callers that wait: these may sleep ---- */

/* Runs the task until it comes to something. DLOCK_TIMEOUT at `until`, or when nothing is under way that it could wait
 * for; DLOCK_INTERRUPTED as wait->interrupted says, while the task has lent the thread, or where its suspension was
 * cancelled. Then it is as it was, and may be run again or dropped. `wait` NULL: nothing interrupts it. With
 * wait->suspend, wherever the thread would sleep for it, other strands go on, and may run the loop themselves. */
dlock_status dlock_loop_run(
	dlock_loop *loop, dlock_step *step, void *task, dlock_nanos until, const dlock_wait *wait);

/* The same for a task that only waits for that. False: not so, until then. */
bool dlock_loop_await(dlock_loop *loop, bool (*over)(void *context), void *context, dlock_nanos until);

/* Lends the thread until then. DLOCK_TIMEOUT, or DLOCK_INTERRUPTED. */
dlock_status dlock_loop_pause(dlock_loop *loop, dlock_nanos until, const dlock_wait *wait);

/* The strands that are suspended in it never go on: their tasks are stepped no more. */
void dlock_loop_forget_sleepers(dlock_loop *loop);

/* ---- for steps ---- */

/* It wants to go on by then, though nothing has come. To be said in each step that returns DLOCK_PENDING. */
static inline void dlock_loop_wake_by(dlock_loop *loop, dlock_nanos time)
{
	loop->wake = dlock_earlier(time, loop->wake);
}

/* Is it time? Otherwise wakes it by then. */
static inline bool dlock_loop_is_time(dlock_loop *loop, dlock_nanos time, dlock_nanos now)
{
	dlock_loop_wake_by(loop, time);
	return now >= time;
}

/* It waits for others than servers, however long that takes: signals, and other users of the thread, come through.
 */
static inline void dlock_loop_lend(dlock_loop *loop)
{
	loop->lent = true;
}

#endif
