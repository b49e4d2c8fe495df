#include "holder_watch.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/syscall.h>
#endif

#include "../../base/thread.h"

static struct {
	_Atomic dlock_process watcher; /* the process that has the thread; 0: none */
	int holder; /* a descriptor that is readable once the holder has ended; the thread owns it and the next two */
	void (*ended)(void *context);
	void *context;
} watch;

/* When a parent ends, the child has another parent at once, even while the old one is a zombie. */
static bool has_ended(dlock_process holder)
{
	pid_t pid = (pid_t) (uint32_t) holder;
	bool is_parent = (holder >> 32) + 1 == dlock_process_current() >> 32;

	return is_parent ? getppid() != pid : kill(pid, 0) < 0 && errno == ESRCH;
}

bool dlock_holder_has_ended(const dlock_claim *claim)
{
	return has_ended(claim->process);
}

static void *wait_for_end(void *unused)
{
	struct pollfd holder = { watch.holder, POLLIN, 0 };
	void (*ended)(void *context) = watch.ended;
	void *context = watch.context;

	while (poll(&holder, 1, -1) < 0 && errno == EINTR) {
	}
	close(holder.fd);
	atomic_store(&watch.watcher, 0);
	ended(context);
	return unused;
}

static int open_process(dlock_process process)
{
#if defined(SYS_pidfd_open) && !defined(DLOCK_PORTABLE)
	return (int) syscall(SYS_pidfd_open, (pid_t) (uint32_t) process, 0);
#else
	(void) process;
	errno = ENOSYS;
	return -1;
#endif
}

void dlock_holder_watch(const dlock_claim *claim, void (*ended)(void *context), void *context)
{
	dlock_process here = dlock_process_current();

	if (atomic_load(&watch.watcher) == here) {
		return;
	}
	watch.holder = open_process(claim->process);
	if (watch.holder < 0) {
		if (errno == ESRCH) { /* the holder has just ended */
			ended(context);
		}
		return;
	}
	watch.ended = ended;
	watch.context = context;
	atomic_store(&watch.watcher, here);
	if (dlock_thread_start(NULL, wait_for_end, NULL) != 0) {
		close(watch.holder);
		atomic_store(&watch.watcher, 0);
	}
}
