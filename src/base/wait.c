#if defined(__linux__) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE /* ppoll() */
#endif

#include "wait.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

bool dlock_wait_is_ready(int fd, short events)
{
	struct pollfd one = { .fd = fd, .events = events };

	return poll(&one, 1, 0) > 0;
}

#include <pthread.h>
#include <signal.h>
#include <time.h>

/* Nothing interrupts this sleep, so it can miss no signal and changes no mask. */
static int poll_uninterrupted(struct pollfd *fds, int count, dlock_nanos until)
{
	int ready;

	do {
		ready = poll(fds, (nfds_t) count, dlock_poll_ms(until));
	} while (ready < 0 && errno == EINTR);
	return ready > 0 ? ready : DLOCK_WAIT_TIME;
}

#if (defined(__linux__) || defined(__FreeBSD__)) && !defined(DLOCK_PORTABLE)
#define HAS_PPOLL 1
#else
#define HAS_PPOLL 0

static bool has_pending_signal(const sigset_t *mask)
{
	sigset_t pending;

	sigpending(&pending);
	for (int number = 1; number < NSIG; number++) {
		if (sigismember(&pending, number) == 1 && !sigismember(mask, number)) {
			return true;
		}
	}
	return false;
}
#endif

/* Polls once, with `mask` as the signal mask during the sleep only. NULL: with the thread's own. */
static int poll_once(struct pollfd *fds, int count, dlock_nanos until, const sigset_t *mask)
{
#if HAS_PPOLL
	struct timespec left, *timeout = NULL;

	if (until != DLOCK_FOREVER) {
		dlock_nanos nanos = until - dlock_now();
		if (nanos < 0) {
			nanos = 0;
		}
		left.tv_sec = (time_t) (nanos / DLOCK_SECOND);
		left.tv_nsec = (long) (nanos % DLOCK_SECOND);
		timeout = &left;
	}
	return ppoll(fds, (nfds_t) count, timeout, mask);
#else
	/* The sleep misses a signal that arrives between the two calls, so it is short. */
	int ms = dlock_poll_ms(until);

	if (!mask) {
		return poll(fds, (nfds_t) count, ms);
	}
	bool handles = has_pending_signal(mask);
	pthread_sigmask(SIG_SETMASK, mask, NULL);
	int ready = handles ? -1 : poll(fds, (nfds_t) count, ms < 0 || ms > 50 ? 50 : ms);
	int cause = handles ? EINTR : errno;
	sigset_t all;
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, NULL);
	errno = cause;
	return ready;
#endif
}

int dlock_wait_poll(struct pollfd *fds, int count, dlock_nanos until, const dlock_wait *wait)
{
	struct pollfd polled[DLOCK_WAIT_MOST + 1];
	sigset_t all, before;
	int result;

	if (!wait || !wait->interrupted) {
		return poll_uninterrupted(fds, count, until);
	}
	int bells = wait->wakeup && count <= DLOCK_WAIT_MOST;
	if (bells) {
		memcpy(polled, fds, (size_t) count * sizeof *fds);
		polled[count] = (struct pollfd) { .fd = wait->wakeup->read_fd, .events = POLLIN };
	}
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	for (;;) {
		if (wait->interrupted(wait->context)) {
			result = DLOCK_WAIT_INTERRUPTED;
			break;
		}
		int ready = poll_once(bells ? polled : fds, count + bells, until, &before);
		if (ready > 0 && bells && polled[count].revents) {
			dlock_wakeup_clear(wait->wakeup);
			if (--ready == 0) {
				continue; /* to call interrupted() */
			}
		}
		if (ready > 0) {
			if (bells) {
				memcpy(fds, polled, (size_t) count * sizeof *fds);
			}
			result = ready;
			break;
		}
		if (ready < 0 && errno != EINTR) {
			result = DLOCK_WAIT_TIME; /* out of kernel memory: the caller's deadline decides */
			break;
		}
		if (ready == 0 && (until != DLOCK_FOREVER && dlock_now() >= until)) {
			result = DLOCK_WAIT_TIME;
			break;
		}
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return result;
}

int dlock_wait_briefly(struct pollfd *fds, int count, dlock_nanos until)
{
	int ready = poll_once(fds, count, until, NULL);

	return ready > 0 ? ready : 0;
}

/* Returns one descriptor for the bell and wait->wakeup. -1: there is none. */
static int watch_bell(dlock_watch *watch, const dlock_wakeup *bell, const dlock_wait *wait)
{
	if (!wait->wakeup) {
		return bell->read_fd;
	}
	dlock_watch_begin(watch);
	dlock_watch_add(watch, bell->read_fd, POLLIN);
	dlock_watch_add(watch, wait->wakeup->read_fd, POLLIN);
	return dlock_watch_finish(watch);
}

/* DLOCK_CANNOT_SUSPEND: the caller has to poll, and `result` does not count. */
static dlock_suspension suspend_for_bell(
	const dlock_wakeup *bell, dlock_nanos until, const dlock_wait *wait, dlock_watch *watch, int *result)
{
	dlock_process process = dlock_process_current();
	dlock_suspension suspension = DLOCK_SUSPENDED;

	for (*result = DLOCK_WAIT_TIME; suspension == DLOCK_SUSPENDED;) {
		if (wait->interrupted && wait->interrupted(wait->context)) {
			*result = DLOCK_WAIT_INTERRUPTED;
			break;
		}
		if (dlock_wait_is_ready(bell->read_fd, POLLIN)) {
			*result = 1;
			break;
		}
		if (until != DLOCK_FOREVER && dlock_now() >= until) {
			break;
		}
		int fd = watch_bell(watch, bell, wait);
		suspension = fd >= 0 ? wait->suspend(wait->context, bell, fd, until) : DLOCK_CANNOT_SUSPEND;
		if (process != dlock_process_current()) { /* the wait is the parent's */
			suspension = DLOCK_SUSPENSION_CANCELLED;
		} else if (wait->wakeup) {
			dlock_wakeup_clear(wait->wakeup); /* before interrupted() is called: it sees all that rang before */
		}
	}
	return suspension;
}

int dlock_wait_bell(const dlock_wakeup *bell, dlock_nanos until, const dlock_wait *wait, dlock_watch *watch)
{
	struct pollfd fd = { .fd = bell->read_fd, .events = POLLIN };
	dlock_suspension suspension = DLOCK_CANNOT_SUSPEND;
	int result = DLOCK_WAIT_INTERRUPTED;

	if (wait->suspend) {
		suspension = suspend_for_bell(bell, until, wait, watch, &result);
	}
	return suspension == DLOCK_CANNOT_SUSPEND ? dlock_wait_poll(&fd, 1, until, wait)
		: suspension == DLOCK_SUSPENDED       ? result
											  : DLOCK_WAIT_INTERRUPTED;
}
