#include "holder_watch.h"

#ifndef _WIN32
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#define LOOK_EVERY (250 * 1000000L) /* ns */

static struct {
	_Atomic dlock_process watcher; /* where there is a thread; 0: nowhere */
	dlock_process holder;          /* the thread's, as the next */
	void (*ended)(void *context);
	void *context;
} watch;

/* A parent that has ended is a parent no more, even if nobody has asked for its status. */
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

static void *look(void *unused)
{
	const struct timespec pause = { 0, LOOK_EVERY };

	while (!has_ended(watch.holder)) {
		nanosleep(&pause, NULL);
	}
	void (*ended)(void *context) = watch.ended;
	void *context = watch.context;
	atomic_store(&watch.watcher, 0);
	ended(context);
	return unused;
}

void dlock_holder_watch(const dlock_claim *claim, void (*ended)(void *context), void *context)
{
	dlock_process here = dlock_process_current();
	sigset_t all, before;
	pthread_t thread;

	if (atomic_load(&watch.watcher) == here) {
		return;
	}
	watch.holder = claim->process;
	watch.ended = ended;
	watch.context = context;
	atomic_store(&watch.watcher, here);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before); /* the thread inherits it */
	if (pthread_create(&thread, NULL, look, NULL) == 0) {
		pthread_detach(thread);
	} else {
		atomic_store(&watch.watcher, 0);
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}
#endif
