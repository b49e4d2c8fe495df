#include "thread.h"

#include <signal.h>
#include <stddef.h>

#define STACK_SIZE (256 * 1024)

int dlock_thread_start(pthread_t *thread, void *(*run)(void *context), void *context)
{
	pthread_attr_t attributes;
	pthread_t unjoined;
	sigset_t all, before;
	int problem = pthread_attr_init(&attributes);

	if (problem != 0) {
		return problem;
	}
	pthread_attr_setstacksize(&attributes, STACK_SIZE);
	if (!thread) {
		pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	}
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before); /* the thread inherits the mask */
	problem = pthread_create(thread ? thread : &unjoined, &attributes, run, context);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attributes);
	return problem;
}
