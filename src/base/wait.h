#ifndef DLOCK_WAIT_H
#define DLOCK_WAIT_H

#include <poll.h>
#include <stdbool.h>

#include "clock.h"
#include "wakeup.h"

/* How long a caller is willing to wait, and what may end the wait earlier. */
typedef struct {
	dlock_nanos deadline; /* DLOCK_FOREVER: without limit */
	/* Asked before each sleep and after each signal. True ends the wait with DLOCK_INTERRUPTED, in a state from which
	 * it can be resumed. Runs with all signals blocked, so it must only look. NULL: nothing interrupts. */
	bool (*interrupted)(void *context);
	void *context;
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

/* Is the descriptor ready for one of these events at this moment? */
bool dlock_wait_is_ready(int fd, short events);

#endif
