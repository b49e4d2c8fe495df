#ifndef DLOCK_TASK_H
#define DLOCK_TASK_H

/* What is said to servers and heard from them, as code that goes straight down and never waits.
 *
 * A step function goes on as far as it can, and returns DLOCK_PENDING until it has come to something. It is called
 * again in each turn of its loop (loop.h); to call it more often does no harm. A task belongs to one loop, so to one
 * thread and one process. To drop one is its own business (..._drop()): what was sent and may be executed is cancelled,
 * sent once more as its opposite, or left to its lease time, never forgotten.
 *
 * What has to outlive an await is a member of the task's struct, never a local. No `switch` around an await. A task and
 * each of its parts have a status of their own: that of the whole is DLOCK_PENDING whenever a part waits. A step
 * does not sleep, does not read the clock (`now` is given), and does not loop for an answer: tests/inc/layers.inc looks
 * for that. */

typedef struct {
	int at; /* where it goes on: a line of its step function; 0: at the beginning */
} dlock_task;

#if defined(__GNUC__)
#define DLOCK_GOES_ON __attribute__((fallthrough))
#else
#define DLOCK_GOES_ON
#endif

/* Around all of a step function but what comes before and behind each call. Its locals are read by no await. */
#define DLOCK_BEGIN(task) \
	switch ((task)->at) { \
	case 0:

/* Goes on once the condition holds. */
#define DLOCK_AWAIT(task, condition) \
	(task)->at = __LINE__; \
	DLOCK_GOES_ON; \
	case __LINE__: \
		if (!(condition)) { \
			return DLOCK_PENDING; \
		}

/* Goes on once another task, that is a part of this one, has come to a status. */
#define DLOCK_JOIN(task, status, child) \
	(task)->at = __LINE__; \
	DLOCK_GOES_ON; \
	case __LINE__: \
		if (((status) = (child)) == DLOCK_PENDING) { \
			return DLOCK_PENDING; \
		}

#define DLOCK_END(task) \
	} \
	(task)->at = 0

#endif
