#ifndef DLOCK_SLEEPERS_H
#define DLOCK_SLEEPERS_H

#include "../base/wait.h"
#include "../base/watch.h"

/* Those of one thread that wait suspended, each in a strand of its own (a fiber, a coroutine), while the thread goes
 * on. One of them, the watcher, polls for all; the others wait for their bells. What has come for another one is taken
 * in by the strand that runs, and rings. */

/* On the waiter's stack. */
typedef struct dlock_sleeper {
	dlock_nanos wake;  /* when it wants to go on by itself */
	bool is_over;      /* it has nothing to wait for any more */
	bool has_set;      /* it polls the set: the watcher, or one whose place was taken */
	unsigned long number; /* in the order in which they came first; 0 at first */
	dlock_process process;
	dlock_wakeup bell;
	struct dlock_sleeper *next;
} dlock_sleeper;

enum { DLOCK_IDLE_BELLS = 64 };

/* Zeroed there are none. */
typedef struct {
	dlock_sleeper *first;   /* in the order of their numbers; some may be a parent's */
	unsigned long numbers;
	dlock_sleeper *watcher; /* NULL: none */
	dlock_nanos watched_until;
	unsigned long watches; /* how often a watcher has gone on */
	dlock_watch watch;
	const dlock_wakeup *wakeup; /* rung by another thread that has a reason to ask; NULL: none does */
	dlock_wakeup idle[DLOCK_IDLE_BELLS]; /* event loops may remember a number: few are used, again and again */
	int idle_count;
	dlock_process process; /* whose they are */
} dlock_sleepers;

/* Suspends it: until what is polled is ready, or its time or `others` has come, or it is rung. `others` is the earliest
 * time of all else. */
dlock_suspension dlock_sleepers_suspend(dlock_sleepers *sleepers, dlock_sleeper *own, const struct pollfd *fds,
	int count, dlock_nanos others, const dlock_wait *wait);

/* Is there one that waits, in this process? */
bool dlock_sleepers_wait(const dlock_sleepers *sleepers);

/* Another strand has run, and goes: what is to be polled now, and the earliest time of all. One of them polls it. */
void dlock_sleepers_leave(dlock_sleepers *sleepers, const struct pollfd *fds, int count, dlock_nanos earliest);

/* Is it this process's, not a parent's? */
bool dlock_sleeper_is_here(const dlock_sleeper *sleeper);

/* It need not wait any more. */
void dlock_sleeper_end(dlock_sleeper *sleeper);

/* None of them ever goes on. */
void dlock_sleepers_forget(dlock_sleepers *sleepers);

/* Closes what is kept for the next ones. */
void dlock_sleepers_close(dlock_sleepers *sleepers);

#endif
