#ifndef DLOCK_WAIT_H
#define DLOCK_WAIT_H

#include <poll.h>
#include <stdbool.h>

#include "clock.h"
#include "wakeup.h"
#include "watch.h"

typedef enum {
	DLOCK_SUSPENDED,          /* and resumed: the strand may have a reason to look */
	DLOCK_CANNOT_SUSPEND,     /* the strand cannot be suspended now: the thread has to sleep */
	DLOCK_SUSPENSION_CANCELLED /* the program canceled the wait, or the wait is a parent's */
} dlock_suspension;

/* Suspends the caller's strand (a fiber or coroutine) until `fd` is readable or `until` has come, while the thread runs
 * other strands. It may return earlier, and reads nothing from `fd`. `fd` reports the bell, so ringing `bell` resumes
 * the strand, too. */
typedef dlock_suspension dlock_suspend(void *context, const dlock_wakeup *bell, int fd, dlock_nanos until);

/* How long a caller is willing to wait, and what may end the wait earlier. */
typedef struct {
	dlock_nanos deadline; /* DLOCK_FOREVER: no limit */
	/* Called before each sleep and after each signal. True ends the wait with DLOCK_INTERRUPTED; the caller can resume
	 * it. It runs with all signals blocked, so it must only read. NULL: nothing interrupts the wait. */
	bool (*interrupted)(void *context);
	void *context;
	dlock_suspend *suspend; /* called with the same context; NULL: the thread sleeps */
	const dlock_wakeup *wakeup; /* another thread rings it when `interrupted` should be called; NULL: none does */
	unsigned attempts; /* the most attempts, if the back end repeats them; 0: as many as there is time for */
	dlock_nanos pause; /* the longest pause between two attempts; 0: the back end's own */
} dlock_wait;

enum { DLOCK_WAIT_INTERRUPTED = -1, DLOCK_WAIT_TIME = 0 };

/* The most descriptors with which dlock_wait_poll() also polls wait->wakeup. */
enum { DLOCK_WAIT_MOST = 64 };

/* Sleeps until a descriptor is ready, and returns how many are. Returns DLOCK_WAIT_TIME at `until`, or if poll() fails,
 * and DLOCK_WAIT_INTERRUPTED if wait->interrupted() is true. No signal is missed between that call and the sleep. If
 * `wait` is NULL, signals do not end the sleep. wait->deadline is ignored. */
int dlock_wait_poll(struct pollfd *fds, int count, dlock_nanos until, const dlock_wait *wait);

/* The same for a bell alone, which it does not clear. If `wait` can suspend the strand, it does so instead of sleeping.
 * `watch` is closed at first. The caller ends it, because a strand that is suspended may never resume. */
int dlock_wait_bell(const dlock_wakeup *bell, dlock_nanos until, const dlock_wait *wait, dlock_watch *watch);

/* Sleeps until a descriptor is ready or until `until`, without suspending the strand. It is for events that mostly come
 * so soon that running other strands meanwhile is not worth it. Returns how many descriptors are ready. */
int dlock_wait_briefly(struct pollfd *fds, int count, dlock_nanos until);

/* Is the descriptor ready for one of these events now? */
bool dlock_wait_is_ready(int fd, short events);

#endif
