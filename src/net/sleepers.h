#ifndef DLOCK_SLEEPERS_H
#define DLOCK_SLEEPERS_H

#include "../base/wait.h"
#include "../base/watch.h"

/* The sleepers of one thread: strands (fibers, coroutines) that wait suspended while the thread runs. One sleeper, the
 * watcher, polls for all; every other sleeper waits for its bell. The strand that runs handles what has come for a
 * sleeper, and rings that sleeper's bell. */

/* A strand that waits, on its stack. */
typedef struct dlock_sleeper {
	dlock_nanos wake;  /* when it wants to resume even if it is not rung */
	bool is_over;      /* its task has ended */
	bool has_set;      /* it polls the set: it is the watcher, or was replaced as the watcher */
	unsigned long number; /* in the order in which sleepers came first; 0 at first */
	dlock_process process;
	dlock_wakeup bell;
	struct dlock_sleeper *next;
} dlock_sleeper;

enum { DLOCK_IDLE_BELLS = 64 };

/* Zeroed: there are no sleepers. */
typedef struct {
	dlock_sleeper *first;   /* in the order of their numbers; some may be a parent's */
	unsigned long numbers;
	dlock_sleeper *watcher; /* NULL: none */
	dlock_nanos watched_until;
	unsigned long watches; /* how often a watcher has resumed */
	dlock_watch watch;
	const dlock_wakeup *wakeup; /* another thread rings it when a strand should call `interrupted`; NULL: none does */
	dlock_wakeup idle[DLOCK_IDLE_BELLS]; /* reused, because event loops may remember descriptors */
	int idle_count;
	dlock_process process; /* the owner of `wakeup` and `idle` */
} dlock_sleepers;

/* Suspends the strand until a polled descriptor is ready, its bell is rung, or own->wake or `others` has come. `others`
 * is the earliest time of all other tasks and sources. */
dlock_suspension dlock_sleepers_suspend(dlock_sleepers *sleepers, dlock_sleeper *own, const struct pollfd *fds,
	int count, dlock_nanos others, const dlock_wait *wait);

/* Does a sleeper of this process wait? */
bool dlock_sleepers_wait(const dlock_sleepers *sleepers);

/* Called when a strand that has run leaves the loop, with what to poll now and the earliest time of all. A sleeper
 * polls it. */
void dlock_sleepers_leave(dlock_sleepers *sleepers, const struct pollfd *fds, int count, dlock_nanos earliest);

/* Does it belong to this process, not to a parent? */
bool dlock_sleeper_is_here(const dlock_sleeper *sleeper);

/* Ends the sleeper's wait, and rings its bell. */
void dlock_sleeper_end(dlock_sleeper *sleeper);

/* Forgets all sleepers, which never resume. */
void dlock_sleepers_forget(dlock_sleepers *sleepers);

/* Closes the idle bells and the set. */
void dlock_sleepers_close(dlock_sleepers *sleepers);

#endif
