/* Waits that are suspended: half of the processes have a waiter. It polls the descriptor that it is given, comes back too early, or
 * says that it cannot wait. A process has one strand here; tests/c/sleepers_test.c has several. */
#include "run.h"

int __wrap_poll(struct pollfd *fds, nfds_t count, int ms);

static dlock_suspension suspend(void *context, const dlock_wakeup *bell, int fd, dlock_nanos until)
{
	static unsigned calls; /* no random number: seeds go on meaning what they have meant */
	struct pollfd one = { .fd = fd, .events = POLLIN };
	dlock_nanos left = until == DLOCK_FOREVER ? 60 * DLOCK_SECOND : until - dlock_now();

	(void) context;
	(void) bell;
	calls++;
	if (calls % 11 == 0) {
		return DLOCK_CANNOT_SUSPEND;
	}
	if (calls % 5 == 0) {
		left = left < 2 * DLOCK_MS ? left : 2 * DLOCK_MS;
	}
	__wrap_poll(&one, 1, left > 0 ? (int) (left / DLOCK_MS) + 1 : 0);
	return DLOCK_SUSPENDED;
}

dlock_suspend *strand_suspend(const process *process)
{
	return process->number % 2 ? suspend : NULL;
}
