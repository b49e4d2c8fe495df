#ifndef DLOCK_TASK_H
#define DLOCK_TASK_H

/* A task is a conversation with servers, as code that goes straight down and never sleeps.
 *
 * Its step function continues as far as it can, and returns DLOCK_PENDING until the task ends. The loop (loop.h) calls
 * it again in each turn; further calls do no harm. A task belongs to one loop, and so to one thread and one process.
 * Each task has its own way to be dropped (..._drop()). It never forgets a request that was sent and may be executed:
 * it cancels the request, sends the opposite, or leaves it to its lease time.
 *
 * A value that must outlive an await is a member of the task's struct, never a local. No `switch` stands around an
 * await. A task and each of its parts have their own status; the whole is DLOCK_PENDING while a part waits. A step does
 * not sleep, does not read the clock (the loop passes `now`), and does not loop for an answer. tests/inc/layers.inc
 * checks for sleeps, clocks, switches and locals. */

typedef struct {
	int at; /* where the task continues: a line of its step function; 0: at the beginning */
} dlock_task;

#if defined(__GNUC__)
#define DLOCK_GOES_ON __attribute__((fallthrough))
#else
#define DLOCK_GOES_ON
#endif

/* DLOCK_BEGIN and DLOCK_END enclose a step function, except code at its beginning and end that runs in each call. No
 * local outlives an await. */
#define DLOCK_BEGIN(task) \
	switch ((task)->at) { \
	case 0:

/* Continues once the condition is true. */
#define DLOCK_AWAIT(task, condition) \
	(task)->at = __LINE__; \
	DLOCK_GOES_ON; \
	case __LINE__: \
		if (!(condition)) { \
			return DLOCK_PENDING; \
		}

/* Continues once another task, which is a part of this one, has ended with a status. */
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
