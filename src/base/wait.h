#ifndef DLOCK_WAIT_H
#define DLOCK_WAIT_H

#include <poll.h>
#include <stdbool.h>

#include "clock.h"
#include "wakeup.h"
#include "watch.h"

typedef enum {
	DLOCK_SUSPENDED,          /* and gone on: there may be a reason to look */
	DLOCK_CANNOT_SUSPEND,     /* not here, and not now: the thread has to sleep */
	DLOCK_SUSPENSION_CANCELLED /* the strand does not want it any more */
} dlock_suspension;

/* Has the caller's strand (a fiber, a coroutine) wait until the descriptor can be read or the time has come, while the
 * thread does other things; it may come back earlier. Nothing is read from the descriptor. To ring the bell ends it,
 * too. */
typedef dlock_suspension dlock_suspend(void *context, const dlock_wakeup *bell, int fd, dlock_nanos until);

/* How long a caller is willing to wait, and what may end the wait earlier. */
typedef struct {
	dlock_nanos deadline; /* DLOCK_FOREVER: without limit */
	/* Asked before each sleep and after each signal. True ends the wait with DLOCK_INTERRUPTED, in a state from which
	 * it can be resumed. Runs with all signals blocked, so it must only look. NULL: nothing interrupts. */
	bool (*interrupted)(void *context);
	void *context;
	dlock_suspend *suspend; /* with the same context; NULL: the thread sleeps */
	const dlock_wakeup *wakeup; /* rung by another thread that has a reason to ask; NULL: none does */
	unsigned attempts; /* the most attempts, where the back end makes them; 0: as many as there is time for */
	dlock_nanos pause; /* the longest pause between two of them; 0: the back end's own */
} dlock_wait;

enum { DLOCK_WAIT_INTERRUPTED = -1, DLOCK_WAIT_TIME = 0 };

/* The most descriptors that an interruptible wait takes. */
enum { DLOCK_WAIT_MOST = 64 };

/* Sleeps until one of the descriptors is ready (returns how many), until `until` (DLOCK_WAIT_TIME), or until `wait`
 * says that it is interrupted (DLOCK_WAIT_INTERRUPTED). A signal that arrives between the question and the sleep is not
 * missed. `wait` may be NULL: then signals do not end the sleep. The deadline inside `wait` is not looked at. */
int dlock_wait_poll(struct pollfd *fds, int count, dlock_nanos until, const dlock_wait *wait);

/* The same for a bell alone, and where the wait can be suspended, suspended. It is not cleared. The watch is closed at
 * first, and the caller's to end: one that is suspended may never go on. */
int dlock_wait_bell(const dlock_wakeup *bell, dlock_nanos until, const dlock_wait *wait, dlock_watch *watch);

/* Polls for a moment, whatever else there is: for what is mostly ready before it would be worth to do something else
 * meanwhile. Returns how many descriptors are ready. */
int dlock_wait_briefly(struct pollfd *fds, int count, dlock_nanos until);

/* Is the descriptor ready for one of these events at this moment? */
bool dlock_wait_is_ready(int fd, short events);

#endif
